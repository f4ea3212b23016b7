"""A server that judges by a rule, its endpoint, and a campaign of people: for tests of models as judges."""

from functools import partial

import pytest

from crowdrag.llm import gateway
from crowdrag.llm.retry_policy import RetryPolicy
from tests.annotation.llm_judges import source_campaign
from tests.annotation.llm_judges.judge_server import judging as served


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    policy = RetryPolicy(first_pause=0.0, longest_wait=0.0, lease=2.0, poll=0.02)
    monkeypatch.setattr(gateway, "complete_many", partial(gateway.complete_many, policy=policy))


@pytest.fixture
def server():
    with served() as running_server:
        yield running_server


@pytest.fixture
def endpoint(db, server):
    return source_campaign.endpoint(server)


@pytest.fixture
def source(db):
    return source_campaign.campaign()
