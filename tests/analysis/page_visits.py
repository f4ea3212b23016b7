"""Visiting pages of results."""

from typing import Any

from django.test import Client

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory


def client_of(study: Study, role: Role = Role.VIEWER) -> Client:
    """The browser of a new member of a study."""
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def results(study: Study, page: str = "") -> str:
    """The address of a page of results."""
    return f"/studies/{study.slug}/results/{page}"


def visit(study: Study, page: str = "", role: Role = Role.VIEWER) -> Any:
    """A page of results as a new member sees it."""
    answer = client_of(study, role).get(results(study, page))
    assert answer.status_code == 200, page
    return answer
