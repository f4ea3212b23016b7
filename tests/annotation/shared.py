"""What most tests here begin with: rows that are made once for a file, and clients of members and participants."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from django.test import Client

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Participant, Study
from tests.factories import MembershipFactory
from tests.participants import as_participant


def made_once(build: Callable[[], Any]) -> tuple[Any, Any]:
    """Return two fixtures, to be named `stored` and as one likes: rows made once for a file, and each test's copy."""

    @pytest.fixture(scope="module")
    def stored(shared_rows: None) -> Any:
        return build()

    @pytest.fixture
    def copy(stored: Any, db: None) -> Any:
        return deepcopy(stored)

    return stored, copy


def signed_in(study: Study, role: Role = Role.EDITOR) -> Client:
    """Return the client of a new member."""
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def client_of(person: Participant) -> Client:
    """Return the client of somebody who takes part."""
    client = Client()
    as_participant(client, person)
    return client
