"""Send requested actions: one worker at a time, under a lease, each effectively once.

Before anything is sent, the state on the platform is checked, so that nothing is done twice. The platform's state
decides: approving an approved submission is done, rejecting an approved one fails and waits for a person. Requests that
can be repeated safely are repeated until there is a response.

Paying a bonus is the only request that pays twice if sent twice, according to the platform. Setting a bonus up pays
nothing, so it may be repeated. Before payment, the bonuses paid so far are stored with the action, and only then the
payment is sent, once. If the response is lost, the platform's list of this participant's bonuses tells: if there is one
more of this amount than before, it was paid. If none has appeared after a while, a person must check; nothing here
sends it again automatically.
"""

import logging
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q

from crowdrag.jobs.delivery_queue import Backoff, DeliveryQueue
from crowdrag.studies import money
from crowdrag.studies.models import Participant

from . import polling, submission_sync
from .completion_codes import SCREENED_OUT
from .enums import ActionKind, ActionState, SubmissionStatus
from .models import PlatformAction
from .prolific import endpoints
from .prolific.client import Client
from .prolific.errors import (
    BusyError,
    MissingError,
    NotConfiguredError,
    OutcomeUnknownError,
    PlatformError,
    RefusedError,
    TokenError,
    UnreachableError,
)


class SendOutcome(Exception):  # noqa: N818
    """An outcome of sending an action."""


class Done(SendOutcome):
    """The platform is in the requested state."""


class NeedsPerson(SendOutcome):
    """A person must check this before it can continue; the message says what."""


class Postponed(SendOutcome):
    """No error: it is done later, when the platform is ready for it."""

    def __init__(self, message: str, wait: timedelta) -> None:
        super().__init__(message)
        self.wait = wait


class OutcomeUnclear(SendOutcome):
    """It was sent, and its outcome is not known yet; it is looked up, not sent again."""

    def __init__(self, message: str, wait: timedelta) -> None:
        super().__init__(message)
        self.wait = wait


_UNSETTLED: Final = (ActionState.WAITING, ActionState.SENDING, ActionState.UNKNOWN)


def _nothing_earlier(_now: datetime) -> Any:
    """Match actions without a submission, or whose submission has no earlier open action."""
    earlier = PlatformAction.objects.filter(
        submission=OuterRef("submission"), state__in=_UNSETTLED, pk__lt=OuterRef("pk")
    )
    return Q(submission__isnull=True) | ~Exists(earlier)


def _let_the_other_bonus_pass(pk: int, now: datetime) -> None:
    """Wait a little: another bonus for the same person has just been started."""
    PlatformAction.objects.filter(pk=pk, state=ActionState.WAITING).update(due_at=now + timedelta(seconds=30))


# The lease is longer than all tries of all requests of one action. `progress` records what may have been sent.
QUEUE: Final = DeliveryQueue(
    PlatformAction,
    lease=timedelta(minutes=5),
    related=("platform_study__study", "platform_study__link", "submission"),
    is_ready=_nothing_earlier,
    on_conflict=_let_the_other_bonus_pass,
)
BACKOFF: Final = Backoff.exponential(timedelta(seconds=30), timedelta(hours=1), tries=20)


# Payments are made "in the following minutes" (api-reference/bonuses/pay-bonus-payments).
LOOK_AGAIN: Final = timedelta(minutes=5)
LOOK_UP_FOR: Final = timedelta(hours=6)


def pay_bonus(client: Client, action: PlatformAction, row: dict[str, Any], *, now: datetime) -> None:
    """Pay a claimed bonus, or find out whether it was paid."""
    if "paying" in action.progress:
        _look_up(action, row, now)
        return
    amount = int(action.details["amount"])
    study = action.platform_study
    assert action.submission is not None
    set_up = endpoints.set_up_bonus(
        client,
        study_id=study.external_id,
        submission_id=action.submission.external_id,
        amount=str(money.to_major(amount, study.study.currency)),
    )
    paying = {"id": set_up, "before": _count_paid_before(action, row, amount), "at": now.isoformat()}
    action.progress = action.progress | {"paying": paying}
    # Stored and committed before it is sent, so that anybody who finds this action later knows that it may have been.
    if not QUEUE.held(action).update(progress=action.progress):
        raise OutcomeUnclear("Another process is handling this action.", LOOK_AGAIN)
    try:
        endpoints.pay_bonus(client, set_up)
    except (UnreachableError, BusyError, TokenError, RefusedError):
        # Certainly not paid: the prepared bonus is abandoned, and the next try starts again.
        action.progress = {name: value for name, value in action.progress.items() if name != "paying"}
        raise
    except OutcomeUnknownError as error:
        raise OutcomeUnclear(
            "Sent without an answer. Its status is checked before anything else happens.", LOOK_AGAIN
        ) from error
    raise Done


def _count_paid_before(action: PlatformAction, row: dict[str, Any], amount: int) -> int:
    """Count the bonuses of this amount paid before: those listed there, and ours that are not listed yet."""
    ours = PlatformAction.objects.filter(submission=action.submission_id, kind=ActionKind.BONUS, state=ActionState.DONE)
    return max(submission_sync.listed_bonuses(row).count(amount), ours.filter(details__amount=amount).count())


def _look_up(action: PlatformAction, row: dict[str, Any], now: datetime) -> None:
    paying, amount = action.progress["paying"], int(action.details["amount"])
    if submission_sync.listed_bonuses(row).count(amount) > int(paying["before"]):
        raise Done
    if now - datetime.fromisoformat(paying["at"]) < LOOK_UP_FOR:
        raise OutcomeUnclear("Sent without an answer, and not visible on Prolific yet.", LOOK_AGAIN)
    raise NeedsPerson(
        "Sent without an answer, and not visible on Prolific. Check the bonuses on Prolific. If it was not "
        "paid, send it again. If it was paid, discard it here."
    )


# A decision waits this long for the participant to submit there; then a person should check.
PATIENCE: Final = timedelta(days=2)
AT_ONCE: Final = 50
log = logging.getLogger(__name__)
_DECIDES: Final = {
    ActionKind.APPROVE: SubmissionStatus.APPROVED,
    ActionKind.REJECT: SubmissionStatus.REJECTED,
    ActionKind.SCREEN_OUT: SubmissionStatus.SCREENED_OUT,
}


def send_due(client: Client, *, now: datetime, at_once: int = AT_ONCE) -> int:
    """Send due actions; return how many were settled."""
    settled = 0
    for _number in range(at_once):
        action = QUEUE.claim(now)
        if action is None:
            break
        settled += send(client, action, now=now)
    return settled


def send(client: Client, action: PlatformAction, *, now: datetime) -> bool:
    """Send one claimed action, and record its outcome; return whether it is settled."""
    try:
        _send(client, action, now)
    except Done:
        return _settle(action, ActionState.DONE, "", now)
    except NeedsPerson as error:
        return _settle(action, ActionState.FAILED, str(error), now)
    except Postponed as error:
        return _wait(action, str(error), now + error.wait, counts=False)
    except OutcomeUnclear as error:
        return _mark_unknown(action, str(error), now + error.wait)
    except BusyError as error:
        return _wait(action, str(error), now + timedelta(seconds=max(error.seconds, 1.0)), counts=False)
    except (TokenError, NotConfiguredError) as error:
        return _wait(action, str(error), now + timedelta(minutes=10), counts=False)
    except RefusedError as error:
        return _settle(action, ActionState.FAILED, str(error), now)
    except PlatformError as error:
        return _retry_later(action, str(error), now)
    except Exception:
        # Whatever the error is, the action is not lost, and the others are sent.
        log.exception("Platform action %s could not be sent", action.pk)
        return _retry_later(action, "Internal error. The operator's log has the details.", now)
    return _settle(action, ActionState.DONE, "", now)


def _send(client: Client, action: PlatformAction, now: datetime) -> None:
    if action.kind == ActionKind.PLACES:
        _open_places(client, action, now)
        return
    assert action.submission is not None, "a check of the table"
    row = _fetch_submission(client, action, now)
    if action.kind == ActionKind.BONUS:
        pay_bonus(client, action, row, now=now)
    else:
        _decide(client, action, row, now)


def _fetch_submission(client: Client, action: PlatformAction, now: datetime) -> dict[str, Any]:
    """Fetch the state of the submission, and whose it is."""
    assert action.submission is not None
    try:
        row = endpoints.submission(client, action.submission.external_id)
    except MissingError as error:
        raise NeedsPerson("Prolific does not know this submission.") from error
    news = submission_sync.parse_submission(action.platform_study, row, now)
    study = str(row.get("study_id") or row.get("study") or action.platform_study.external_id)
    if study != action.platform_study.external_id:
        raise NeedsPerson("On Prolific, this submission belongs to another study.")
    if news is not None:
        _check_person(action, news)
        submission_sync.record(action.platform_study, news, now=now)
    return row


def _check_person(action: PlatformAction, news: submission_sync.SubmissionUpdate) -> None:
    """Refuse to decide about or pay another person: the session came in a URL that a participant can change."""
    expected = Participant.objects.filter(pk=action.details.get("participant") or 0).first()
    if expected is None or news.identity_hash is None or expected.identity_hash is None:
        return
    if bytes(expected.identity_hash) != news.identity_hash:
        raise NeedsPerson(
            "On Prolific, this submission belongs to someone else. The person who arrived changed the URL."
        )


def _decide(client: Client, action: PlatformAction, row: dict[str, Any], now: datetime) -> None:
    target, status = _DECIDES[ActionKind(action.kind)], submission_sync.parse_status(row.get("status"))
    if status == target:
        raise Done
    if status in submission_sync.FINAL:
        assert status is not None
        raise NeedsPerson(f"Already decided on Prolific: {status.label}. Prolific does not reverse decisions.")
    if status in submission_sync.UNDER_WAY:
        if now - action.created_at > PATIENCE:
            raise NeedsPerson(
                "The participant has not submitted on Prolific. Ask them to submit, or resolve it on Prolific."
            )
        raise Postponed("Waiting until the participant submits on Prolific.", timedelta(minutes=5))
    if status in submission_sync.RELEASED and action.kind == ActionKind.REJECT:
        raise NeedsPerson("The participant returned the place on Prolific. There is nothing to reject.")
    answer = endpoints.transition_submission(client, action.submission.external_id, _body(action))  # type: ignore[union-attr]
    news = submission_sync.parse_submission(action.platform_study, answer, now)
    if news is not None:
        submission_sync.record(action.platform_study, news, now=now)
    if news is None or news.status != target:
        # Accepted but not yet carried out: the state there in a moment decides.
        raise Postponed("Sent. Waiting until it is visible on Prolific.", timedelta(seconds=30))


def _body(action: PlatformAction) -> dict[str, Any]:
    if action.kind == ActionKind.APPROVE:
        return {"action": "APPROVE"}
    if action.kind == ActionKind.SCREEN_OUT:
        return {"action": "COMPLETE", "completion_code": action.platform_study.codes[SCREENED_OUT]}
    details = action.details
    return {"action": "REJECT", "rejection_category": details["category"], "message": details["message"]}


def _open_places(client: Client, action: PlatformAction, now: datetime) -> None:
    platform_study = action.platform_study
    if not platform_study.external_id:
        raise NeedsPerson("The study does not exist on Prolific yet.")
    to = int(action.details["to"])
    answer = polling.refresh(client, platform_study, now=now)
    if int(answer.get("total_available_places") or 0) < to:
        answer = endpoints.update_study(client, platform_study.external_id, {"total_available_places": to})
        polling.store_study(platform_study, answer, now)
    raise Done


def _settle(action: PlatformAction, state: ActionState, error: str, now: datetime) -> bool:
    done_at = now if state == ActionState.DONE else None
    QUEUE.settle(action, progress=action.progress, state=state, error=error, done_at=done_at)
    return True


def _wait(action: PlatformAction, error: str, due_at: datetime, *, counts: bool) -> bool:
    state = ActionState.UNKNOWN if action.may_be_paid else ActionState.WAITING
    let_go = QUEUE.settle if counts else QUEUE.put_back
    let_go(action, progress=action.progress, state=state, error=error, due_at=due_at)
    return False


def _retry_later(action: PlatformAction, error: str, now: datetime) -> bool:
    if action.may_be_paid:
        return _mark_unknown(action, error, now + LOOK_AGAIN)
    wait = BACKOFF.after(action.tries)
    if wait is None:
        return _settle(action, ActionState.FAILED, error, now)
    return _wait(action, error, now + wait, counts=True)


def _mark_unknown(action: PlatformAction, error: str, due_at: datetime) -> bool:
    QUEUE.settle(action, progress=action.progress, state=ActionState.UNKNOWN, error=error, due_at=due_at)
    return False
