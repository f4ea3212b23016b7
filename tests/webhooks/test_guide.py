"""The guide's receiver reads what comes, and nothing else."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from crowdrag.webhooks import deliveries, signatures
from tests.webhooks.conftest import deliver, sent_test, subscribed
from tests.webhooks.receiver import Receiver

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "webhooks.md"


@pytest.fixture
def read() -> Any:
    """The function that the guide shows."""
    (source,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    found: dict[str, Any] = {}
    exec(source, found)
    return found["read"]


@pytest.mark.django_db
def test_the_guides_receiver_reads_what_is_sent(there: Receiver, read: Any) -> None:
    made = subscribed(there)
    sent_test(made.webhook, timezone.now())
    deliver(timezone.now())
    (came,) = there.came
    assert read(came.headers, came.body, made.secret)["type"] == "webhook.test"
    for headers, body, secret in (
        (came.headers, came.body + b" ", made.secret),
        (came.headers, came.body, signatures.generate_secret()),
        (came.headers | {"webhook-id": "msg_other"}, came.body, made.secret),
        (came.headers | {"webhook-timestamp": str(int(came.headers["webhook-timestamp"]) - 1)}, came.body, made.secret),
    ):
        with pytest.raises(ValueError, match="CrowdRAG"):
            read(headers, body, secret)


@pytest.mark.django_db
def test_the_guides_receiver_refuses_what_is_old(there: Receiver, read: Any) -> None:
    made = subscribed(there)
    old = timezone.now() - timedelta(minutes=6)
    sent_test(made.webhook, old)
    deliver(old)
    with pytest.raises(ValueError, match="too old"):
        read(there.came[0].headers, there.came[0].body, made.secret)


def test_the_guide_names_the_waits() -> None:
    text = GUIDE.read_text()
    units = {"s": 1, "min": 60, "h": 3600}
    said = re.search(r"tried again after (.*?): ten times", text, re.DOTALL)
    assert said
    waits = [int(n) * units[unit] for n, unit in re.findall(r"(\d+) (s|min|h)\b", said[1])]
    assert waits == [wait.total_seconds() for wait in deliveries.BACKOFF.waits]
