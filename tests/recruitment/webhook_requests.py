"""What Prolific tells by itself: signed as it signs, delivered as it delivers: late, twice, in any order.

From docs.prolific.com/api-reference/webhooks: HMAC-SHA256 of timestamp and body in base64 (verifying); the same
X-Event-ID over redeliveries (idempotency-and-the-x-event-id-header); X-Timestamp, and no order promised
(handling-event-order-with-x-timestamp); up to eleven further tries after anything but 2xx (event-delivery-and-retry-
logic). Whether a redelivery is signed anew is not documented; taken to be so, since its timestamp must be fresh.
"""

import base64
import hashlib
import hmac
import json
import random
from dataclasses import dataclass

TRIES = 12


@dataclass(frozen=True)
class Event:
    """Something that happened on the platform, at a time."""

    event_id: str
    body: bytes
    happened: float


def headers(event_id: str, body: bytes, *, secret: str, sent: float, happened: float) -> dict[str, str]:
    """Sign a body as it is sent now."""
    stamp = str(int(sent))
    digest = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
    return {
        "x-prolific-request-signature": base64.b64encode(digest).decode(),
        "x-prolific-request-timestamp": stamp,
        "x-event-id": event_id,
        "x-timestamp": str(int(happened)),
    }


def events(told: list[dict[str, str]], *, start: float, every: float = 1.0) -> list[Event]:
    """Turn what the stand-in noted into events, one after the other in time."""
    return [
        Event(
            row["event_id"],
            json.dumps({name: value for name, value in row.items() if name != "event_id"}).encode(),
            start + number * every,
        )
        for number, row in enumerate(told)
    ]


def delivered(happened: list[Event], chance: random.Random, *, lost: float = 0.2, again: float = 0.3) -> list[Event]:
    """Return what arrives: shuffled, some twice, some not at all."""
    arrived = [event for event in happened if chance.random() >= lost]
    arrived += [event for event in arrived if chance.random() < again]
    chance.shuffle(arrived)
    return arrived
