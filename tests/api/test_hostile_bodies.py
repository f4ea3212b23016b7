"""Values that nobody means, in every field of what every endpoint takes: refused, and never an error of ours."""

from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from crowdrag.studies.enums import Role
from tests.api import address_arguments
from tests.api.conftest import by_token
from tests.factories import MembershipFactory

pytestmark = [pytest.mark.django_db, pytest.mark.extended]
# As they stand in a body of JSON: each of these in each field ...
VALUES = [
    '"\\u0000"', '"a\\ud800"', '"9999-12-31T23:59:59-23:59"', "-1", str(10**30), "null", "[]",
    '{"\\u0000": [1e308]}',
]  # fmt: skip
# ... and each of these in the place of all.
WHOLE = ["[" * 2000 + "]" * 2000, '{"a": ' * 2000 + "1" + "}" * 2000, '{"\\ud800": 1}', "NaN", "1e400", '"x"', "[1]"]
BODIES = ("post", "put", "patch")


class Examples:
    """Bodies made from the description: each field with a value that fits, as far as it says what fits."""

    def __init__(self, schemas: dict[str, Any]) -> None:
        self._schemas = schemas

    def fields(self, schema: dict[str, Any]) -> dict[str, str]:
        """The fields of an object, each with a value that fits, as JSON."""
        return {name: self._fitting(one) for name, one in self._resolved(schema).get("properties", {}).items()}

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        for key in ("allOf", "oneOf", "anyOf"):
            if schema.get(key):
                schema = schema[key][0]
        if "$ref" in schema:
            return self._resolved(self._schemas[schema["$ref"].rpartition("/")[2]])
        return schema

    def _fitting(self, schema: dict[str, Any]) -> str:
        schema = self._resolved(schema)
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if "enum" in schema:
            value = schema["enum"][0]
            return f'"{value}"' if isinstance(value, str) else str(value).lower()
        if kind == "object":
            return "{" + ", ".join(f'"{name}": {value}' for name, value in self.fields(schema).items()) + "}"
        if kind == "array":
            return f"[{self._fitting(schema.get('items', {}))}]"
        return {"integer": str(schema.get("minimum", 1)), "number": "1", "boolean": "true"}.get(str(kind), '"x"')


def operations() -> list[tuple[str, str, dict[str, str]]]:
    """Every address and method that takes JSON, with the fields of the body."""
    description: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    examples = Examples(description["components"]["schemas"])
    found = []
    for path, methods in description["paths"].items():
        for method in set(BODIES) & set(methods):
            content = methods[method].get("requestBody", {}).get("content", {})
            if "application/json" in content:
                found.append((path, method, examples.fields(content["application/json"]["schema"])))
    return found


def sent(client: APIClient, method: str, address: str, body: str) -> int:
    return int(getattr(client, method)(address, body, content_type="application/json").status_code)


@pytest.mark.timeout(900)
def test_no_value_in_a_body_is_an_error_of_ours(settings: Any) -> None:
    settings.API_PER_MINUTE = 0
    study = address_arguments.furnished()
    client = by_token(MembershipFactory(study=study, role=Role.OWNER).user)
    client.raise_request_exception = False
    found, tried = [], 0
    for path, method, fields in operations():
        address = path.format(**address_arguments.names(path, study)) if "{" in path else path
        bodies = [*WHOLE]
        for name in fields:
            for value in VALUES:
                body = ", ".join(f'"{other}": {value if other == name else fit}' for other, fit in fields.items())
                bodies = [*bodies, "{" + body + "}"]
        tried += len(fields)
        found += [f"{method} {path} {body[:200]}" for body in bodies if sent(client, method, address, body) >= 500]
    assert tried > 100
    assert found == []
