"""What tests of experiments share."""

import pytest

from tests.analysis.experiments import planted
from tests.analysis.experiments.question_study import furnish
from tests.factories import StudyFactory
from tests.llm.conftest import endpoint, paid, server  # noqa: F401 - fixtures of all tests here


@pytest.fixture
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)


@pytest.fixture
def experiment(monkeypatch):
    return planted.install(monkeypatch)


@pytest.fixture
def study():
    return furnish(StudyFactory(llm_budget=1_000_000))
