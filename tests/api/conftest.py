"""Scripts that ask, as the API sees them."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from rest_framework.test import APIClient

from crowdrag.accounts import tokens
from crowdrag.accounts.enums import Scope
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study, User
from tests.factories import MembershipFactory, StudyFactory

ALL = list(Scope)


def by_token(user: User, *scopes: Scope, studies: list[Study] | None = None) -> APIClient:
    """A script with a token of this person: for all studies unless some are named."""
    _token, text = tokens.issue(by=user, name="script", scopes=scopes or ALL, studies=studies, lasts=timedelta(days=7))
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


@pytest.fixture
def study() -> Study:
    return StudyFactory(slug="mine")


@pytest.fixture
def script(study: Study) -> Callable[..., APIClient]:
    """Make a script of a new member of the study."""

    def make(role: Role = Role.OWNER, *scopes: Scope) -> APIClient:
        return by_token(MembershipFactory(study=study, role=role).user, *scopes)

    return make
