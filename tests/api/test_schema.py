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
from tests.api.conftest import by_token
from tests.api.listed import LISTED
from tests.api.rows import ROWS
from tests.factories import MembershipFactory, StudyFactory, UserFactory

# Few, and as an owner alone: what everybody else is answered is in test_matrix. `make soak` asks as everybody.
EXAMPLES = int(os.environ.get("CROWDRAG_API_EXAMPLES", "2"))
WHO = [
    pytest.param(who, marks=() if who == Role.OWNER.name else pytest.mark.soak)
    for who in ("nobody", "stranger", *Role.names)
]
RUN, USER, TOPIC, RESPONSE = "5d7e4f2c-0000-4000-8000-000000000001", 424242, "a-topic", "a-response"
# What stands in addresses: what is there, so that not every request ends at a name that means nothing.
THERE: dict[str, Any] = {"study": "mine", "key": RUN, "user": USER}


def described() -> dict[str, Any]:
    """The description, with names of what is there in the place of any."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    for path, operations in made["paths"].items():
        there = THERE | {"external_id": RESPONSE if "/responses/" in path else TOPIC, "name": "topics"}
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "path" and parameter["name"] in there:
                    parameter["schema"] = {**parameter["schema"], "enum": [there[parameter["name"]]]}
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
    made = StudyFactory(slug="mine")
    for make in ROWS.values():
        make(made, 2)
    MembershipFactory(study=made, role=Role.VIEWER, user=UserFactory(pk=USER))
    return made


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
def test_the_api_keeps_its_description(case: schemathesis.Case, headers: dict[str, str]) -> None:
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
