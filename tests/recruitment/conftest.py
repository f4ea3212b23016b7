"""A stand-in for Prolific, and a study that is advertised on it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crowdrag.recruitment import listeners, platform_studies
from crowdrag.recruitment.models import PlatformStudy
from crowdrag.recruitment.prolific import account
from crowdrag.recruitment.prolific.account import get_account as read_account
from crowdrag.recruitment.prolific.client import Client
from crowdrag.studies.models import Study
from tests.factories import NOW
from tests.recruitment.prolific_server import TOKEN, Prolific, Server
from tests.studies.activity import offered_study

SECRET = "hook-secret"
WAY = "writing"


@pytest.fixture
def there(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prolific]:
    """Run Prolific's stand-in, with the operator's settings that lead to it."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        settings.PROLIFIC_URL, settings.PROLIFIC_LOOPBACK = server.url, True
        settings.PROLIFIC_WORKSPACE = "workspace"
        monkeypatch.setenv(account.TOKEN, TOKEN)
        monkeypatch.setenv(account.WEBHOOK_SECRET, SECRET)
        server.there.currency = "EUR"
        yield server.there
        server.shutdown()


@pytest.fixture
def client_there(there: Prolific) -> Iterator[Client]:
    """Talk to it, without waiting between tries."""
    with Client(read_account(), sleep=lambda _seconds: None) as client:
        yield client


@contextmanager
def listening_with(listener: Any, **more: Any) -> Iterator[None]:
    """Listen to what is said of the way, in place of its app."""
    before = listeners._listeners.get(WAY)
    listeners.register(WAY, listener, **more)
    try:
        yield
    finally:
        listeners._listeners.pop(WAY)
        if before:
            listeners._listeners[WAY] = before


@pytest.fixture
def heard() -> Iterator[list[listeners.StatusChanged]]:
    """Collect what is said of the way."""
    heard: list[listeners.StatusChanged] = []
    with listening_with(heard.append):
        yield heard


TERMS = platform_studies.Terms(
    name="Write about tides", description="You write.", reward=1250, places=3, minutes=25, screen_out_reward=100
)


def advertised(
    *, terms: platform_studies.Terms = TERMS, publish: bool = True, study: Study | None = None, purpose: str = WAY
) -> PlatformStudy:
    """Make a study, its draft there, and publish it."""
    study = study or offered_study()
    made = platform_studies.prepare_draft(study=study, purpose=purpose, terms=terms, by=None, now=NOW)
    made = platform_studies.send_draft(platform_study=made, base="https://crowd.example.org", now=NOW)
    if publish:
        made = platform_studies.take_step(platform_study=made, step=platform_studies.PUBLISH, now=NOW)
    return made
