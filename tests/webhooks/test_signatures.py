"""A message is proved by its secret: as the specification says, and read by somebody else's few lines."""

import base64
import hashlib
import hmac
import json
from datetime import timedelta

import pytest

from crowdrag.webhooks import services, signatures
from crowdrag.webhooks.models import Webhook
from tests.factories import NOW
from tests.webhooks.conftest import deliver, sent_test, subscribed
from tests.webhooks.receiver import Came, Receiver


def proves(came: Came, secret: str) -> bool:
    """Check a request as its receiver does, with nothing of ours."""
    signed = f"{came.headers['webhook-id']}.{came.headers['webhook-timestamp']}.".encode() + came.body
    wanted = base64.b64encode(hmac.digest(base64.b64decode(secret.split("_")[1]), signed, "sha256")).decode()
    given = [each.split(",", 1) for each in came.headers["webhook-signature"].split(" ")]
    return any(version == "v1" and hmac.compare_digest(wanted, value) for version, value in given)


def test_the_signature_is_that_of_the_specifications_example() -> None:
    # From the examples of the specification's reference libraries.
    proof = signatures.sign(
        secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        message="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body='{"test": 2432232314}',
    )
    assert proof == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_each_secret_is_another_and_as_long_as_the_hash() -> None:
    drawn = {signatures.generate_secret() for _ in range(100)}
    assert len(drawn) == 100
    assert {len(base64.b64decode(secret.removeprefix("whsec_"))) for secret in drawn} == {hashlib.sha256().digest_size}


@pytest.mark.django_db
def test_a_message_comes_signed_over_the_very_bytes_that_come(there: Receiver) -> None:
    made = subscribed(there)
    delivery = sent_test(made.webhook)
    assert deliver() == 1
    (came,) = there.came
    assert came.path == "/hook?tenant=7"
    assert came.headers["webhook-id"] == delivery.message.name
    assert came.headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert came.headers["content-type"].startswith("application/json")
    assert came.headers["host"] == f"localhost:{there.port}"
    assert json.loads(came.body) == {
        "type": "webhook.test",
        "timestamp": "2026-01-01T12:00:00Z",
        "data": {"study": "mine", "webhook": str(made.webhook.key)},
    }
    assert proves(came, made.secret)
    assert not proves(Came(came.path, came.headers, came.body.replace(b"mine", b"thine")), made.secret)
    assert not proves(Came(came.path, {**came.headers, "webhook-timestamp": "1"}, came.body), made.secret)
    assert not proves(came, signatures.generate_secret())


@pytest.mark.django_db
def test_for_a_day_after_a_new_secret_both_prove_a_message(there: Receiver) -> None:
    made = subscribed(there)
    renewed = services.renew_secret(webhook=made.webhook, now=NOW)
    assert renewed.secret != made.secret
    sent_test(made.webhook)
    deliver()
    sent_test(made.webhook, NOW + timedelta(hours=24))
    deliver(NOW + timedelta(hours=24))
    within, after = there.came
    assert proves(within, made.secret)
    assert proves(within, renewed.secret)
    assert not proves(after, made.secret)
    assert proves(after, renewed.secret)


@pytest.mark.django_db
def test_the_database_holds_no_secret_that_can_be_read(there: Receiver) -> None:
    made = subscribed(there)
    kept = bytes(Webhook.objects.get().secret)
    assert made.secret.encode() not in kept
    assert base64.b64decode(made.secret.removeprefix("whsec_")) not in kept
    assert signatures.decrypt(kept) == made.secret


@pytest.mark.django_db
def test_a_secret_that_another_key_encrypted_is_said_and_nothing_is_sent(there: Receiver) -> None:
    made = subscribed(there)
    Webhook.objects.update(secret=b"from another system")
    delivery = sent_test(made.webhook)
    assert deliver() == 0
    delivery.refresh_from_db()
    assert delivery.problem
    assert there.came == []
