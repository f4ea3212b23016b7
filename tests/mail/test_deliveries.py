"""Emails are sent until the mail server takes them; whatever becomes of a worker, there is one about an event."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from crowdrag.mail import deliveries, outbox, services, work_events
from crowdrag.mail.enums import Event, MailState
from crowdrag.mail.models import Mail, MailAddress
from crowdrag.studies.models import Participant
from crowdrag.studies.participants import withdrawal
from tests.factories import NOW, ParticipantFactory
from tests.mail.conftest import ADDRESS, BASE, wants_mail
from tests.mail.smtp_server import SmtpServer, serving

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture
def person() -> Participant:
    return wants_mail(ParticipantFactory(study__title="Headphones", study__currency="USD"))


@pytest.fixture
def there(settings: Any) -> Iterator[SmtpServer]:
    """A real mail server, that is used."""
    with serving() as server:
        settings.EMAIL_BACKEND, settings.EMAIL_TIMEOUT = SMTP, 60
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


def publish(person: Participant, event: Event = Event.ANSWERED, key: str = "one", **fields: Any) -> Mail | None:
    given = {"event_key": key, "subject_key": key, "now": NOW} | fields
    return outbox.publish(participant=person, event=event, **given)


def deliver(now: datetime = NOW) -> int:
    return deliveries.deliver_due(clock=lambda: now)


def until_settled() -> list[timedelta]:
    """Send whenever it is due, until it is settled; how long each wait was."""
    waits, now = [], NOW
    for _ in range(20):
        deliver(now)
        mail = Mail.objects.get()
        if mail.state != MailState.WAITING:
            return waits
        waits.append(mail.due_at - now)
        now = mail.due_at
    raise AssertionError("never settled")


def test_an_event_is_told_once_by_a_real_mail_server(person: Participant, there: SmtpServer) -> None:
    assert publish(person, Event.PAID, details={"amount": 1250}) is not None
    assert publish(person, Event.PAID, details={"amount": 1250}) is None
    assert (deliver(), deliver(NOW + HOUR)) == (1, 0), Mail.objects.get().problem
    (email,) = there.came
    assert (email["To"], email["From"]) == (ADDRESS, "Studies <studies@crowd.example.org>")
    plain, html = email.get_body(("plain",)), email.get_body(("html",))
    assert plain is not None
    assert html is not None
    for text in (plain.get_content(), html.get_content()):
        assert "12.50" in text
        assert "Headphones" in text
        assert f"{BASE}mail/stop/{MailAddress.objects.get().key}/" in text
    mail = Mail.objects.get()
    assert (mail.state, mail.sent_at, mail.tries) == (MailState.DONE, NOW, 1)


def test_what_the_server_does_not_take_now_comes_later_and_later(person: Participant, there: SmtpServer) -> None:
    publish(person)
    there.says = [451, 421]
    assert until_settled() == [timedelta(minutes=1), timedelta(minutes=5)]
    assert (Mail.objects.get().state, len(there.came)) == (MailState.DONE, 1)


def test_what_is_refused_for_good_is_given_up_and_no_address_is_written_down(
    person: Participant, there: SmtpServer
) -> None:
    publish(person)
    there.says = [550]
    assert until_settled() == []
    mail = Mail.objects.get()
    assert (mail.state, mail.problem) == (MailState.FAILED, "SMTPDataError 550")


def test_a_server_that_is_away_is_waited_for_for_days(person: Participant, settings: Any) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", 9
    publish(person)
    waits = until_settled()
    mail = Mail.objects.get()
    assert (mail.state, mail.tries) == (MailState.FAILED, 8)
    assert timedelta(days=1) < sum(waits, timedelta()) < timedelta(days=4)


class Killed(BaseException):
    """The process ends here: nothing after it is done."""


def killed(*_args: Any, **_named: Any) -> None:
    raise Killed


def test_a_worker_that_is_killed_before_it_sends_leaves_the_email_to_the_next(
    person: Participant, there: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(person)
    with monkeypatch.context() as patch:
        patch.setattr(deliveries.contents, "build", killed)
        with pytest.raises(Killed):
            deliver()
    assert deliver(NOW + timedelta(minutes=1)) == 0, "it may still be at work"
    assert deliver(NOW + HOUR) == 1
    assert len(there.came) == 1


def test_an_email_that_comes_again_after_a_kill_is_known_as_the_same(
    person: Participant, there: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the server took it in that moment nobody knows; mail systems drop a second one of the same id."""
    publish(person)
    with monkeypatch.context() as patch:
        patch.setattr(type(deliveries.QUEUE), "settle", killed)
        with pytest.raises(Killed):
            deliver()
    assert deliver(NOW + HOUR) == 1
    assert len({email["Message-ID"] for email in there.came}) == 1


def test_a_slow_worker_whose_lease_is_over_writes_nothing(person: Participant, mailoutbox: list[Any]) -> None:
    publish(person)
    slow = deliveries.QUEUE.claim(NOW)
    assert slow is not None
    assert deliver(NOW + HOUR) == 1
    deliveries.QUEUE.settle(slow, state=MailState.FAILED)
    assert Mail.objects.get().state == MailState.DONE


def test_nobody_is_told_without_an_address_or_a_mail_server(person: Participant, settings: Any) -> None:
    assert publish(ParticipantFactory()) is None
    settings.SENDS_MAIL = False
    assert publish(person) is None
    assert not Mail.objects.exists()


def test_a_removed_address_gets_nothing_more(person: Participant, mailoutbox: list[Any]) -> None:
    publish(person)
    assert services.remove_address(participant=person)
    assert not services.remove_address(participant=person)
    deliver()
    assert mailoutbox == []
    assert Mail.objects.get().state == MailState.DROPPED


def test_the_address_is_encrypted_and_erased_with_the_person(person: Participant) -> None:
    assert ADDRESS.encode() not in bytes(MailAddress.objects.get().address)
    publish(person)
    withdrawal.erase(participant=person, now=NOW)
    assert not MailAddress.objects.exists()
    assert not Mail.objects.exists()
    assert services.keep_address(participant=person, address=ADDRESS, base=BASE, now=NOW) is None


def test_later_news_of_a_subject_takes_the_place_of_what_was_not_sent(
    person: Participant, mailoutbox: list[Any]
) -> None:
    publish(person, Event.SUBMITTED, "a", subject_key="task-1")
    publish(person, Event.ACCEPTED, "b", subject_key="task-1")
    publish(person, Event.PAID, "c", details={"amount": 1})
    deliver()
    states = [Mail.objects.get(event_key=key).state for key in "abc"]
    assert states == [MailState.DROPPED, MailState.DONE, MailState.DONE]


def test_old_emails_are_removed_and_open_ones_stay(person: Participant, mailoutbox: list[Any]) -> None:
    publish(person)
    assert outbox.remove_old(NOW + timedelta(days=31)) == 0
    deliver()
    assert outbox.remove_old(NOW + timedelta(days=29)) == 0
    assert outbox.remove_old(NOW + timedelta(days=31)) == 1


def test_every_event_has_words_of_its_own(person: Participant, mailoutbox: list[Any]) -> None:
    for event in Event:
        publish(person, event, event, details={"amount": 300})
    assert deliver() == len(Event)
    assert len({email.subject for email in mailoutbox}) == len(Event)


def test_a_payment_is_told_once(person: Participant) -> None:
    for _ in range(2):
        work_events.publish_payment(participant=person, amount=900, payment_key="list-1-line-1", now=NOW)
    assert [(mail.event, mail.details) for mail in Mail.objects.all()] == [(Event.PAID, {"amount": 900})]
