"""Every endpoint and method, tried as everybody and with every scope: all from the URL configuration."""

from typing import Any

import pytest
from django.urls import URLPattern
from rest_framework.test import APIClient

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint
from crowdrag.api.permissions import Need
from crowdrag.api.views import UnknownAddress
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.api.endpoint_roles import LISTED
from tests.factories import MembershipFactory, StudyFactory, UserFactory
from tests.studies.rollbacks import rolled_back
from tests.studies.test_access import ROUTES, WALKS, filled, roles

pytestmark = pytest.mark.django_db
METHODS = ["get", "post", "put", "patch", "delete"]
# Refusals: for whoever may, none of them comes.
REFUSED = {401, 403, 405}


def endpoint(pattern: URLPattern) -> type[Endpoint]:
    found: type[Endpoint] = pattern.callback.cls
    return found


ENDPOINTS = [
    (route, pattern)
    for route, pattern in ROUTES
    if getattr(pattern.callback, "access", None) == "api" and endpoint(pattern) is not UnknownAddress
]
NAMES = [pattern.name for _, pattern in ENDPOINTS]


def path(route: str) -> str:
    return filled(route.replace("<slug:study>", "mine"), "mine")


def test_what_stands_under_the_api_is_an_endpoint() -> None:
    others = {pattern.name for route, pattern in ROUTES if route.startswith("api/v1/")} - {*NAMES, None, "api_schema"}
    assert others == set()
    assert all(route.startswith("api/v1/") for route, _ in ENDPOINTS)


def test_every_endpoint_is_listed_with_what_it_needs() -> None:
    found = {
        pattern.name: {
            method: f"{need.role.name if need.role else 'anybody'} {need.scope}"
            for method, need in endpoint(pattern).needs.items()
        }
        for _, pattern in ENDPOINTS
    }
    assert found == LISTED


def test_what_is_of_a_study_needs_a_role_in_it_and_changing_it_more_than_reading() -> None:
    for route, pattern in ENDPOINTS:
        for method, need in endpoint(pattern).needs.items():
            if route != "api/v1/studies/":
                assert "<slug:study>" in route, route
                assert need.role is not None, route
            assert (method == "GET") == (need.scope == Scope.READ), route


def scripts(study: Study) -> dict[str, APIClient]:
    """Everybody who might ask, by who they are: people by their role, the rest by what is special about them."""
    former = MembershipFactory(study=study, role=Role.OWNER).user
    owner = MembershipFactory(study=study, role=Role.OWNER).user
    elsewhere = MembershipFactory(role=Role.OWNER, user=owner).study
    found = {
        "NOBODY": APIClient(),
        "INACTIVE": by_token(former),
        "STRANGER": by_token(MembershipFactory(role=Role.OWNER).user),
        "OPERATOR": by_token(UserFactory(is_superuser=True)),
        "FOR ANOTHER STUDY": by_token(owner, studies=[elsewhere]),
    }
    found |= {role.name: by_token(MembershipFactory(study=study, role=role).user) for role in Role}
    found |= {f"TO {scope}": by_token(owner, Scope.READ, scope) for scope in Scope}
    former.is_active = False
    former.save()
    for client in found.values():
        client.raise_request_exception = False
    return found


def expected(need: Need | None, *, everybody: bool) -> dict[str, tuple[int, str] | None]:
    """What a method answers to whom: a refusal, or None where it opens.

    Not as `everybody`, those in whom something else than their role is special ask for what changes nothing: what they
    are answered follows from who they are, not from the method.
    """
    if need is None:
        return {"NOBODY": (401, "unauthenticated"), "OWNER": (405, "method")}
    refusals: dict[str, tuple[int, str] | None] = {
        "NOBODY": (401, "unauthenticated"),
    }
    if everybody or need.scope == Scope.READ:
        refusals |= {"INACTIVE": (401, "unauthenticated"), "OPERATOR": None}
    refusals |= {
        role.name: (403, "forbidden") if need.role and role < need.role else None
        for role in roles(need.role, everybody=everybody)
    }
    refusals |= {
        f"TO {scope}": None if need.scope in {Scope.READ, scope} else (403, "scope")
        for scope in scopes(need, everybody=everybody)
    }
    if need.role is not None and (everybody or need.scope == Scope.READ):
        refusals |= {"STRANGER": (404, "not-found"), "FOR ANOTHER STUDY": (404, "not-found")}
    return refusals


def scopes(need: Need, *, everybody: bool) -> list[Scope]:
    """The scope that a method needs and one that does not do, or every scope."""
    if everybody:
        return list(Scope)
    return [need.scope, next(scope for scope in reversed(Scope) if scope != need.scope)]


def answer(client: APIClient, method: str, address: str) -> tuple[int, str]:
    """The status, and of a problem its code."""
    body = {} if method == "get" else {"data": {}, "format": "json"}
    response = getattr(client, method)(address, **body)
    is_problem = response.get("Content-Type") == "application/problem+json"
    if is_problem != (response.status_code >= 400):
        return response.status_code, "not as problems are told"
    return response.status_code, response.json()["code"] if is_problem else ""


@pytest.mark.parametrize("everybody", WALKS)
def test_an_endpoint_opens_for_those_who_may_and_nobody_else(everybody: bool, settings: Any) -> None:
    settings.API_PER_MINUTE = 0
    clients = scripts(StudyFactory(slug="mine"))
    wrong = []
    for route, pattern in ENDPOINTS:
        unknown = [method for method in METHODS if method.upper() not in endpoint(pattern).needs]
        for method in METHODS if everybody else [each for each in METHODS if each not in unknown[1:]]:
            for who, refusal in expected(endpoint(pattern).needs.get(method.upper()), everybody=everybody).items():
                with rolled_back():
                    status, code = answer(clients[who], method, path(route))
                is_open = status not in REFUSED and status < 500 and code != "not as problems are told"
                if (status, code) != refusal if refusal else not is_open:
                    wrong.append(f"{method} {pattern.name} {who}: {status} {code}, not {refusal or 'open'}")
    assert not wrong, "\n".join(wrong)
