"""The API against its own description: what it says may be sent is sent, by everybody, and so is what may not."""

import difflib
import json
import os
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
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
from schemathesis.checks import load_all_checks
from schemathesis.generation.hypothesis.builder import HypothesisTestConfig, HypothesisTestMode, create_test
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api import address_arguments
from tests.api.conftest import by_token
from tests.api.endpoint_roles import LISTED
from tests.examples import examples
from tests.factories import MembershipFactory
from tests.studies.rollbacks import rolled_back

SNAPSHOT = Path(__file__).parent / "openapi.json"
# Set in the environment, the description as it is now becomes the accepted one.
ACCEPT = "CROWDRAG_ACCEPT_API"
# Few, and as an owner alone: what everybody else is answered is in test_matrix. `make soak` asks as everybody.
EXAMPLES = int(os.environ.get("CROWDRAG_API_EXAMPLES", examples(1)))
# Stand in addresses for what is there (`address_arguments.names`), which has its keys only when a test begins.
NUMBER, WORD, KEY = 424242, "there", "5d7e4f2c-0000-4000-8000-000000000001"
# A name that is taken is refused though it is well formed, and so is a cursor of another list.
LEFT_OUT = [positive_data_acceptance]


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


@pytest.fixture(scope="module")
def world(shared_rows: None) -> int:
    """A study with rows of everything, for all tests: whatever a request changes is undone after it."""
    return address_arguments.furnished(2).pk


@pytest.fixture
def study(world: int, db: None, settings: Any) -> Study:
    settings.API_PER_MINUTE = 0
    return Study.objects.get(pk=world)


@pytest.fixture
def _same_connection() -> Iterator[None]:
    """Let requests use the test's connection, as Django's own test client does: they would close it."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


EXAMPLES_OF = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
FEW = [HypothesisTestMode.EXAMPLES, HypothesisTestMode.FUZZING]
# What is at the bounds of a field, too, and just beyond: 8000 requests.
ALL = [*FEW, HypothesisTestMode.COVERAGE]


def headers(who: str, study: Study) -> dict[str, str]:
    """What somebody sends to say who they are."""
    if who == "nobody":
        return {}
    member = MembershipFactory(role=Role.OWNER) if who == "stranger" else MembershipFactory(study=study, role=Role[who])
    return {"Authorization": by_token(member.user)._credentials["HTTP_AUTHORIZATION"]}


@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("_same_connection")
@pytest.mark.parametrize(
    ("who", "modes"),
    [
        pytest.param(Role.OWNER.name, FEW, id="OWNER"),
        pytest.param(Role.OWNER.name, ALL, id="OWNER at the bounds", marks=pytest.mark.extended),
        *(
            pytest.param(who, ALL, id=f"{who} at the bounds", marks=pytest.mark.soak)
            for who in ("nobody", "stranger", *(role.name for role in Role if role != Role.OWNER))
        ),
    ],
)
def test_the_api_keeps_its_description(study: Study, who: str, modes: list[HypothesisTestMode]) -> None:
    # Read here: every process that collects tests would pay seconds for it.
    schema = schemathesis.openapi.from_dict(described())
    schema.app = get_wsgi_application()
    load_all_checks()
    sent, tried, wrong = headers(who, study), set(), []
    # That nothing opens without a token is walked in test_matrix: asking it here again doubles the requests.
    left_out = LEFT_OUT if modes is ALL else [*LEFT_OUT, ignored_auth]

    def check(case: schemathesis.Case) -> None:
        tried.add(case.operation.label)
        with rolled_back():
            given = case.path_parameters
            for name, value in address_arguments.names(case.path, study).items():
                if given.get(name) in (NUMBER, WORD, KEY):
                    given[name] = value
            answer = case.call(headers=sent)
            assert answer.status_code < 500
            case.validate_response(answer, excluded_checks=left_out, headers=sent)

    options = HypothesisTestConfig(project=schema.config, modes=modes, explicit_settings=EXAMPLES_OF)
    for found in schema.get_all_operations():
        operation = found.ok()
        try:
            create_test(operation=operation, test_func=check, config=options)()
        except Exception as error:  # noqa: BLE001 -- all that is wrong is told together
            wrong.append(f"{operation.label}: {''.join(traceback.format_exception(error))[-3000:]}")
    assert not wrong, "\n\n".join(wrong)
    assert len(tried) == sum(len(needs) for needs in LISTED.values())


def test_the_description_is_the_one_that_was_accepted() -> None:
    """A field that changes is a change for every script: it is seen as a line of the file."""
    made = SchemaGenerator().get_schema(request=None, public=True)
    # Each installation has its own.
    made["components"]["securitySchemes"]["cookieAuth"]["name"] = "crowdrag_session"
    now = json.dumps(made, indent=1, ensure_ascii=False).splitlines()
    if ACCEPT in os.environ:
        SNAPSHOT.write_text("\n".join(now) + "\n")
    changes = difflib.unified_diff(SNAPSHOT.read_text().splitlines(), now, "accepted", "now", lineterm="")
    if lines := list(changes):
        command = f"{ACCEPT}=1 .venv/bin/python -m pytest tests/api/test_schema.py -k accepted"
        pytest.fail(
            "\n".join(["The description has changed. If this is meant, run:", command, *lines[:300]]), pytrace=False
        )


@pytest.mark.extended
def test_the_accepted_description_is_valid() -> None:
    validate_schema(json.loads(SNAPSHOT.read_text()))


def test_the_description_names_every_endpoint_once(client: Client) -> None:
    made = client.get("/api/v1/schema/").json()
    operations = [operation for methods in made["paths"].values() for operation in methods.values()]
    assert len(operations) == sum(len(needs) for needs in LISTED.values())
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert all(operation["summary"].endswith(".") for operation in operations)
    assert all("Token scope: " in operation["description"] for operation in operations)


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


def test_addresses_name_what_is_there(study: Study) -> None:
    """Else all of the above would end at names that mean nothing."""
    client = by_token(MembershipFactory(study=study, role=Role.OWNER).user)
    lost = set()
    for path, operations in described()["paths"].items():
        address = path.format(**address_arguments.names(path, study)) if "{" in path else path
        if "get" in operations and client.get(address).status_code == 404:
            lost.add(path)
    assert {path for path in lost if not path.endswith(tuple(NOT_THERE))} == set()
