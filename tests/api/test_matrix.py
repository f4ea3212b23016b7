"""Every endpoint and method, tried as everybody and with every scope: all from the URL configuration."""

import pytest
from django.urls import URLPattern
from rest_framework.test import APIClient

from crowdrag.api.endpoints.endpoint import Endpoint
from crowdrag.api.enums import Scope
from crowdrag.api.views.description import Nothing
from crowdrag.studies.enums import Role
from tests.api.conftest import by_token
from tests.api.listed import LISTED
from tests.factories import MembershipFactory, StudyFactory, UserFactory
from tests.studies.test_access import ROUTES, filled

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
    if getattr(pattern.callback, "access", None) == "api" and endpoint(pattern) is not Nothing
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


@pytest.mark.parametrize(("route", "pattern"), ENDPOINTS, ids=NAMES)
@pytest.mark.parametrize("method", METHODS)
def test_an_endpoint_opens_for_those_who_may_and_nobody_else(route: str, pattern: URLPattern, method: str) -> None:
    study = StudyFactory(slug="mine")
    need = endpoint(pattern).needs.get(method.upper())

    def answer(client: APIClient) -> tuple[int, str]:
        given = getattr(client, method)(path(route), **({} if method == "get" else {"data": {}, "format": "json"}))
        assert given.status_code < 500
        is_problem = given.get("Content-Type") == "application/problem+json"
        assert is_problem == (given.status_code >= 400), given.content
        return given.status_code, given.json()["code"] if is_problem else ""

    assert answer(APIClient()) == (401, "unauthenticated")
    gone = MembershipFactory(study=study, role=Role.OWNER)
    script = by_token(gone.user)
    gone.user.is_active = False
    gone.user.save()
    assert answer(script) == (401, "unauthenticated")
    if need is None:
        assert answer(by_token(MembershipFactory(study=study, role=Role.OWNER).user)) == (405, "method")
        return
    if need.role is not None:
        assert answer(by_token(MembershipFactory(role=Role.OWNER).user)) == (404, "not-found")
    for role in Role:
        user = MembershipFactory(study=study, role=role).user
        status, code = answer(by_token(user))
        if need.role is not None and role < need.role:
            assert (status, code) == (403, "forbidden"), role
        else:
            assert status not in REFUSED, role
    operator = UserFactory(is_superuser=True)
    assert answer(by_token(operator))[0] not in REFUSED
    for scope in Scope:
        owner = MembershipFactory(study=study, role=Role.OWNER).user
        status, code = answer(by_token(owner, Scope.READ, scope))
        if need.scope in {Scope.READ, scope}:
            assert status not in REFUSED, scope
        else:
            assert (status, code) == (403, "scope"), scope
    elsewhere = MembershipFactory(role=Role.OWNER, user=owner).study
    if need.role is not None:
        assert answer(by_token(owner, studies=[elsewhere])) == (404, "not-found")
