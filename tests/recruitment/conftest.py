"""A stand-in for Prolific, and a study that is advertised on it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crowdrag.recruitment import listening
from crowdrag.recruitment.domain import drafts, running
from crowdrag.recruitment.domain.prolific import account
from crowdrag.recruitment.domain.prolific.account import account as read_account
from crowdrag.recruitment.domain.prolific.client import Client
from crowdrag.recruitment.models import PlatformStudy
from crowdrag.studies.models import Study
from tests.factories import NOW
from tests.studies.offered import offered_study

from .prolific_server import TOKEN, Prolific, Server

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
        monkeypatch.setenv(account.HOOK_SECRET, SECRET)
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
    before = listening._listeners.get(WAY)
    listening.register(WAY, listener, **more)
    try:
        yield
    finally:
        listening._listeners.pop(WAY)
        if before:
            listening._listeners[WAY] = before


@pytest.fixture
def heard() -> Iterator[list[listening.Heard]]:
    """Collect what is said of the way."""
    heard: list[listening.Heard] = []
    with listening_with(heard.append):
        yield heard


TERMS = drafts.Terms(
    name="Write about tides", description="You write.", reward=1250, places=3, minutes=25, screen_out_reward=100
)


def advertised(
    *, terms: drafts.Terms = TERMS, publish: bool = True, study: Study | None = None, purpose: str = WAY
) -> PlatformStudy:
    """Make a study, its draft there, and publish it."""
    study = study or offered_study()
    made = drafts.prepare(study=study, purpose=purpose, terms=terms, by=None, now=NOW)
    made = drafts.send(platform_study=made, base="https://crowd.example.org", now=NOW)
    if publish:
        made = running.take(platform_study=made, step=running.PUBLISH, now=NOW)
    return made
