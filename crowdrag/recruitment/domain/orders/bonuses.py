"""Paying a bonus: the one thing of which the platform says that asking twice pays twice.

Setting a bonus up pays nothing, so it may be repeated. Before it is paid, what was paid so far is written down with the
order, and only then is the payment sent, once. If the answer is lost, the platform's own list of this person's bonuses
tells: one more of this amount than before, and it was paid. If none has appeared after a while, a person looks; nothing
here sends it again by itself.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from django.utils.translation import gettext as _

from crowdrag.studies import money

from ...enums import OrderKind, OrderState
from ...models import PlatformOrder
from .. import hearing
from ..prolific import api
from ..prolific.client import Client
from ..prolific.errors import BusyError, OutcomeUnknownError, RefusedError, TokenError, UnreachableError
from .outcomes import Done, NeedsPerson, Unsure

# Payments are made "in the following minutes" (api-reference/bonuses/pay-bonus-payments).
LOOK_AGAIN: Final = timedelta(minutes=5)
LOOKED_ENOUGH: Final = timedelta(hours=6)


def pay(client: Client, order: PlatformOrder, row: dict[str, Any], *, now: datetime) -> None:
    """Pay a claimed order's bonus, or find out whether it was paid."""
    if "paying" in order.progress:
        _look_up(order, row, now)
        return
    amount = int(order.details["amount"])
    study = order.platform_study
    assert order.submission is not None
    set_up = api.set_up_bonus(
        client,
        study_id=study.external_id,
        submission_id=order.submission.external_id,
        amount=str(money.to_major(amount, study.study.currency)),
    )
    paying = {"id": set_up, "before": _before(order, row, amount), "at": now.isoformat()}
    order.progress = order.progress | {"paying": paying}
    # Written down and committed before it is sent: whoever finds this order later knows that it may have been.
    ours = PlatformOrder.objects.filter(pk=order.pk, state=OrderState.SENDING, attempt=order.attempt)
    if not ours.update(progress=order.progress):
        raise Unsure(_("Somebody else has this order."), LOOK_AGAIN)
    try:
        api.pay_bonus(client, set_up)
    except (UnreachableError, BusyError, TokenError, RefusedError):
        # Certainly not paid: what was set up is left lying, and the next try begins anew.
        order.progress = {name: value for name, value in order.progress.items() if name != "paying"}
        raise
    except OutcomeUnknownError as error:
        raise Unsure(_("Sent, but no answer came: it is looked up before anything else."), LOOK_AGAIN) from error
    raise Done


def _before(order: PlatformOrder, row: dict[str, Any], amount: int) -> int:
    """Count the bonuses of this amount that were paid before: those that show there, and ours that do not yet."""
    ours = PlatformOrder.objects.filter(submission=order.submission_id, kind=OrderKind.BONUS, state=OrderState.DONE)
    return max(hearing.bonuses(row).count(amount), ours.filter(details__amount=amount).count())


def _look_up(order: PlatformOrder, row: dict[str, Any], now: datetime) -> None:
    paying, amount = order.progress["paying"], int(order.details["amount"])
    if hearing.bonuses(row).count(amount) > int(paying["before"]):
        raise Done
    if now - datetime.fromisoformat(paying["at"]) < LOOKED_ENOUGH:
        raise Unsure(_("Sent, but no answer came, and it does not show there yet."), LOOK_AGAIN)
    raise NeedsPerson(
        _(
            "It was sent, no answer came, and it does not show there. Look at the bonuses on Prolific: "
            "if it was not paid, send it again; if it was, drop it here."
        )
    )
