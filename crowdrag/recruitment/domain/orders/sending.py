"""Sending what was ordered. Before anything is sent it is looked how things stand there, so that nothing is done twice.

What the platform says decides: an approval of somebody approved is done, a rejection of somebody approved fails and
waits for a person. What can be sent again without harm is sent again until it is answered. Paying a bonus cannot: it
is sent once, and where no answer came the list of bonuses there is the answer (bonuses.py).
"""

import logging
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils.translation import gettext as _

from crowdrag.studies.models import Participant

from ...enums import OrderKind, OrderState, SubmissionStatus
from ...models import PlatformOrder
from .. import hearing, listings, statuses
from ..codes import SCREENED_OUT
from ..prolific import api
from ..prolific.client import Client
from ..prolific.errors import (
    BusyError,
    MissingError,
    NotConfiguredError,
    PlatformError,
    RefusedError,
    TokenError,
)
from . import bonuses, claiming
from .outcomes import Asleep, Done, NeedsPerson, Unsure

MOST_TRIES: Final = 20
FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(hours=1)
# A decision waits so long for the person to hand in there; then somebody should look.
PATIENCE: Final = timedelta(days=2)
AT_ONCE: Final = 50
log = logging.getLogger(__name__)
_DECIDES: Final = {
    OrderKind.APPROVE: SubmissionStatus.APPROVED,
    OrderKind.REJECT: SubmissionStatus.REJECTED,
    OrderKind.SCREEN_OUT: SubmissionStatus.SCREENED_OUT,
}


def send_due(client: Client, *, now: datetime, at_once: int = AT_ONCE) -> int:
    """Send what is due; return how many orders were settled."""
    settled = 0
    for _number in range(at_once):
        order = claiming.claim(now=now)
        if order is None:
            break
        settled += send(client, order, now=now)
    return settled


def send(client: Client, order: PlatformOrder, *, now: datetime) -> bool:
    """Send one claimed order, and write down what came of it; say whether it is settled."""
    try:
        _send(client, order, now)
    except Done:
        return _settle(order, OrderState.DONE, "", now)
    except NeedsPerson as error:
        return _settle(order, OrderState.FAILED, str(error), now)
    except Asleep as error:
        return _wait(order, str(error), now + error.wait, counts=False)
    except Unsure as error:
        return _unknown(order, str(error), now + error.wait)
    except BusyError as error:
        return _wait(order, str(error), now + timedelta(seconds=max(error.seconds, 1.0)), counts=False)
    except (TokenError, NotConfiguredError) as error:
        return _wait(order, str(error), now + timedelta(minutes=10), counts=False)
    except RefusedError as error:
        return _settle(order, OrderState.FAILED, str(error), now)
    except PlatformError as error:
        return _again(order, str(error), now)
    except Exception:
        # Whatever it is, the order is not lost, and the others are sent.
        log.exception("Platform order %s could not be sent", order.pk)
        return _again(order, _("A fault of this system; its operator's log says more."), now)
    return _settle(order, OrderState.DONE, "", now)


def _send(client: Client, order: PlatformOrder, now: datetime) -> None:
    if order.kind == OrderKind.PLACES:
        _open_places(client, order, now)
        return
    assert order.submission is not None, "a check of the table"
    row = _look(client, order, now)
    if order.kind == OrderKind.BONUS:
        bonuses.pay(client, order, row, now=now)
    else:
        _decide(client, order, row, now)


def _look(client: Client, order: PlatformOrder, now: datetime) -> dict[str, Any]:
    """Ask how the visit stands there, and whose it is."""
    assert order.submission is not None
    try:
        row = api.submission(client, order.submission.external_id)
    except MissingError as error:
        raise NeedsPerson(_("Prolific knows no submission of this name.")) from error
    news = hearing.read(order.platform_study, row, now)
    study = str(row.get("study_id") or row.get("study") or order.platform_study.external_id)
    if study != order.platform_study.external_id:
        raise NeedsPerson(_("There, this submission is another study's."))
    if news is not None:
        _check_person(order, news)
        hearing.hear(order.platform_study, news, now=now)
    return row


def _check_person(order: PlatformOrder, news: hearing.News) -> None:
    """Refuse to decide about, or pay, somebody else: the session came in an address that a person can change."""
    expected = Participant.objects.filter(pk=order.details.get("participant") or 0).first()
    if expected is None or news.identity_hash is None or expected.identity_hash is None:
        return
    if bytes(expected.identity_hash) != news.identity_hash:
        raise NeedsPerson(_("There, this submission is somebody else's: the address was changed by whoever came."))


def _decide(client: Client, order: PlatformOrder, row: dict[str, Any], now: datetime) -> None:
    wanted, status = _DECIDES[OrderKind(order.kind)], statuses.known(row.get("status"))
    if status == wanted:
        raise Done
    if status in statuses.FINAL:
        assert status is not None
        raise NeedsPerson(
            _("There it is decided already: %(status)s. Prolific takes no decision back.") % {"status": status.label}
        )
    if status in statuses.UNDER_WAY:
        if now - order.created_at > PATIENCE:
            raise NeedsPerson(_("The person has not submitted there. Ask them to, or settle it on Prolific."))
        raise Asleep(_("Waits until the person submits there."), timedelta(minutes=5))
    if status in statuses.LET_GO and order.kind == OrderKind.REJECT:
        raise NeedsPerson(_("The person gave the place back there: there is nothing to reject."))
    answer = api.transition_submission(client, order.submission.external_id, _body(order))  # type: ignore[union-attr]
    news = hearing.read(order.platform_study, answer, now)
    if news is not None:
        hearing.hear(order.platform_study, news, now=now)
    if news is None or news.status != wanted:
        # It was taken and takes its time: what is there in a moment decides.
        raise Asleep(_("Sent; waits until it shows there."), timedelta(seconds=30))


def _body(order: PlatformOrder) -> dict[str, Any]:
    if order.kind == OrderKind.APPROVE:
        return {"action": "APPROVE"}
    if order.kind == OrderKind.SCREEN_OUT:
        return {"action": "COMPLETE", "completion_code": order.platform_study.codes[SCREENED_OUT]}
    details = order.details
    return {"action": "REJECT", "rejection_category": details["category"], "message": details["message"]}


def _open_places(client: Client, order: PlatformOrder, now: datetime) -> None:
    found = order.platform_study
    if not found.external_id:
        raise NeedsPerson(_("The study is not made there yet."))
    to = int(order.details["to"])
    answer = listings.refresh(client, found, now=now)
    if int(answer.get("total_available_places") or 0) < to:
        answer = api.update_study(client, found.external_id, {"total_available_places": to})
        listings.keep(found, answer, now)
    raise Done


def _settle(order: PlatformOrder, state: OrderState, error: str, now: datetime) -> bool:
    done_at = now if state == OrderState.DONE else None
    _write(order, state=state, error=error, done_at=done_at)
    return True


def _wait(order: PlatformOrder, error: str, due_at: datetime, *, counts: bool) -> bool:
    tries = order.tries if counts else max(order.tries - 1, 0)
    state = OrderState.UNKNOWN if order.may_be_paid else OrderState.WAITING
    _write(order, state=state, error=error, due_at=due_at, tries=tries)
    return False


def _again(order: PlatformOrder, error: str, now: datetime) -> bool:
    if order.may_be_paid:
        return _unknown(order, error, now + bonuses.LOOK_AGAIN)
    if order.tries >= MOST_TRIES:
        return _settle(order, OrderState.FAILED, error, now)
    wait = min(FIRST_WAIT * 2 ** min(order.tries - 1, 10), LONGEST_WAIT)
    return _wait(order, error, now + wait, counts=True)


def _unknown(order: PlatformOrder, error: str, due_at: datetime) -> bool:
    _write(order, state=OrderState.UNKNOWN, error=error, due_at=due_at)
    return False


def _write(order: PlatformOrder, **fields: Any) -> None:
    # Only while it is ours: a worker that was away for longer than its lease decides nothing.
    rows = PlatformOrder.objects.filter(pk=order.pk, state=OrderState.SENDING, attempt=order.attempt)
    rows.update(**{"lease_until": None, "progress": order.progress, **fields})
