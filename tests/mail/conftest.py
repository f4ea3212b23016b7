"""A system that sends emails, and somebody who wants them."""

from typing import Any

import pytest

from crowdrag.mail import services
from crowdrag.studies.models import Participant
from tests.factories import NOW

ADDRESS = "ana@example.org"
BASE = "https://crowd.example.org/"


def wants_mail(participant: Participant, address: str = ADDRESS) -> Participant:
    """Let somebody give their address."""
    assert services.keep_address(participant=participant, address=address, base=BASE, now=NOW)
    return participant


@pytest.fixture(autouse=True)
def _sends_mail(settings: Any) -> None:
    settings.SENDS_MAIL = True
    settings.DEFAULT_FROM_EMAIL = "Studies <studies@crowd.example.org>"
