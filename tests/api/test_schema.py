"""The API against its own description: what it says may be sent is sent, by everybody, and so is what may not."""

import os
import re
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from schemathesis.specs.openapi.checks import positive_data_acceptance

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api import there
from tests.api.conftest import by_token
from tests.api.listed import LISTED
from tests.factories import MembershipFactory

# Few, and as an owner alone: what everybody else is answered is in test_matrix. `make soak` asks as everybody.
EXAMPLES = int(os.environ.get("CROWDRAG_API_EXAMPLES", "2"))
WHO = [
    pytest.param(who, marks=() if who == Role.OWNER.name else pytest.mark.soak)
    for who in ("nobody", "stranger", *Role.names)
]
# Stand in addresses for what is there (`there.names`), which has its keys only when a test begins.
NUMBER, WORD, KEY = 424242, "there", "5d7e4f2c-0000-4000-8000-000000000001"


def placeholder(parameter: dict[str, Any]) -> int | str:
    schema = parameter["schema"]
    return NUMBER if schema["type"] == "integer" else KEY if schema.get("format") == "uuid" else WORD


def described() -> dict[str, Any]:
    """The description, with names of what is there in the place of any."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    for operations in made["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path" and "enum" not in parameter["schema"]:
                    parameter["schema"] = {**parameter["schema"], "enum": [placeholder(parameter)]}
    return made


SCHEMA = schemathesis.openapi.from_dict(described())
SCHEMA.app = get_wsgi_application()
# A name that is taken is refused though it is well formed, and so is a cursor of another list.
LEFT_OUT = [positive_data_acceptance]


@pytest.fixture(autouse=True)
def _same_connection() -> Iterator[None]:
    """Let requests use the test's connection, as Django's own test client does: they would close it."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def study(settings: Any) -> Study:
    settings.API_PER_MINUTE = 0
    return there.furnished(2)


@pytest.fixture(params=WHO)
def headers(request: pytest.FixtureRequest, study: Study) -> dict[str, str]:
    """What somebody sends to say who they are."""
    if request.param == "nobody":
        return {}
    if request.param == "stranger":
        user = MembershipFactory(role=Role.OWNER).user
    else:
        user = MembershipFactory(study=study, role=Role[request.param]).user
    return {"Authorization": by_token(user)._credentials["HTTP_AUTHORIZATION"]}


@pytest.mark.django_db
@SCHEMA.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_the_api_keeps_its_description(case: schemathesis.Case, study: Study, headers: dict[str, str]) -> None:
    given = case.path_parameters
    for name, value in there.names(case.path, study).items():
        if given.get(name) in (NUMBER, WORD, KEY):
            given[name] = value
    answer = case.call(headers=headers)
    assert answer.status_code < 500
    case.validate_response(answer, excluded_checks=LEFT_OUT, headers=headers)


def test_the_description_is_valid_and_names_every_endpoint_once(client: Client) -> None:
    made = client.get("/api/v1/schema/").json()
    validate_schema(made)
    operations = [operation for methods in made["paths"].values() for operation in methods.values()]
    assert len(operations) == sum(len(needs) for needs in LISTED.values())
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert all(operation["summary"].endswith(".") for operation in operations)
    assert all("Scope of a token: " in operation["description"] for operation in operations)


def test_every_endpoint_says_what_a_problem_looks_like(client: Client) -> None:
    made = client.get("/api/v1/schema/").json()
    for path, methods in made["paths"].items():
        for method, operation in methods.items():
            assert operation["responses"]["default"]["content"].keys() == {"application/problem+json"}, (path, method)
            assert {"token": []} in operation["security"], (path, method)


def test_bodies_name_all_their_fields(client: Client) -> None:
    schemas = client.get("/api/v1/schema/").json()["components"]["schemas"]
    bodies = [name for name in schemas if re.search("Request$", name)]
    assert bodies
    assert [name for name in bodies if schemas[name].get("additionalProperties") is not False] == []


# Whose files are only named by their rows; and what only some runs and responses have.
NOT_THERE = {"files/{path}", "artifacts/{name}", "measured/", "log/"}


@pytest.mark.django_db
def test_addresses_name_what_is_there(study: Study) -> None:
    """Else all of the above would end at names that mean nothing."""
    client = by_token(MembershipFactory(study=study, role=Role.OWNER).user)
    lost = set()
    for path, operations in described()["paths"].items():
        address = path.format(**there.names(path, study)) if "{" in path else path
        if "get" in operations and client.get(address).status_code == 404:
            lost.add(path)
    assert {path for path in lost if not path.endswith(tuple(NOT_THERE))} == set()
