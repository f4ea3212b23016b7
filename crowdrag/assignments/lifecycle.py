"""The lifecycle of one kind of paid work: row locks, allowed changes of state, leases, payments."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from crowdrag.studies.models import Participant, User

from .models import LONGEST_REASON, PaidWork, Payment
from .problems import BadAmount, NeedsReason, NotAllowed, PaidOtherwise

Work = TypeVar("Work", bound=PaidWork)
ACCEPTED: Final = "accepted"
PART: Final = "part of the pay, with the rejection"
REVERSED: Final = "the rejection was reversed"
# What is paid for these reasons is of the pay that was promised; what is paid for another is beside it.
PROMISED: Final = frozenset({ACCEPTED, PART, REVERSED})
# The column's limit.
MAX_AMOUNT: Final = 2_147_483_647
# The cause of what the sweep ends.
LEASE_OVER: Final = "lease over"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Lifecycle(Generic[Work]):
    """What may become of one kind of work. Every change of a state goes through `move`.

    Attributes
    ----------
    model
        the table of the work.
    allowed
        what may follow on each state.
    in_hand
        what somebody has in hand, and may lose when their lease runs out.
    batch_size
        of so many, one pass of the sweep ends the leases; the next pass goes on.
    on_move
        what else happens in the same transaction once the row has its new state; is told the state before.
    on_pay
        what else happens when a payment is written down.
    after_move
        what else happens in the same transaction once the change is written down; is told its transition.
    """

    model: type[Work]
    allowed: Mapping[str, frozenset[str]]
    in_hand: Q
    batch_size: int
    on_move: Callable[[Work, str, str], None] = lambda _work, _before, _after: None
    on_pay: Callable[[Any], None] = lambda _payment: None
    after_move: Callable[[Work, Any], None] = lambda _work, _transition: None

    @property
    def rows(self) -> QuerySet[Work]:
        """All work of this kind."""
        return self.model._default_manager.all()

    @transaction.atomic
    def move(
        self,
        work: Work,
        after: str,
        cause: str,
        *,
        note: str = "",
        by: User | None = None,
        now: datetime,
        **changes: Any,
    ) -> Work:
        """Put work into another state, with whatever else changes along, and write down why.

        The state that the caller has seen is compared with the row's in the same statement: of two who saw the same,
        one succeeds. `note` is for whoever does the work to read.

        Raises
        ------
        NotAllowed
            if this state does not follow on the work's, or it has left the state in which the caller saw it.
        WorkProblem
            as `on_move` says.
        """
        before = str(work.state)
        if after not in self.allowed[before]:
            raise NotAllowed(work, after)
        if not self.rows.filter(pk=work.pk, state=before).update(state=after, **changes):
            work.refresh_from_db(fields=["state"])
            raise NotAllowed(work, after)
        self.on_move(work, before, after)
        for name, value in {"state": after, **changes}.items():
            setattr(work, name, value)
        self.after_move(work, self.record(work, before, cause, note=note, by=by, now=now))
        return work

    def record(
        self, work: Work, before: str, cause: str, *, note: str = "", by: User | None = None, now: datetime
    ) -> Any:
        """Write down that work has come into its state; `before` is empty for what begins in it."""
        return work.transitions.create(before=before, after=work.state, cause=cause[:200], note=note, by=by, at=now)

    def lock(self, work: Work) -> Work:
        """Return the work as it is now, held until the transaction ends; who does it is held before it.

        What is stored about work refers to its participant, and whoever lets somebody withdraw holds them first.
        """
        if work.participant_id is not None:
            Participant.objects.select_for_update(no_key=True).filter(pk=work.participant_id).order_by().first()
        return self.lock_alone(work.pk)

    def lock_alone(self, pk: int) -> Work:
        """Return work as it is now, held until the transaction ends, for who holds its participant already."""
        locked = self.rows.select_for_update(of=("self",), no_key=True)
        return locked.select_related(*self.model.RELATED).get(pk=pk)

    def expire(self, end: Callable[[Work], object], *, now: datetime) -> int:
        """Have what somebody had in hand ended by `end` when its lease is over; return how many were."""
        due = self.rows.filter(self.in_hand, lease_until__lt=now).order_by("lease_until", "pk")
        ended = 0
        for pk, participant in due.values_list("pk", "participant")[: self.batch_size]:
            try:
                ended += self._expire(pk, participant, end, now)
            except Exception:
                # One that cannot be ended must not keep what the others hold.
                log.exception("The lease of %s %s is over, but it could not be ended", self.model.__name__, pk)
        return ended

    @transaction.atomic
    def _expire(self, pk: int, participant: int, end: Callable[[Work], object], now: datetime) -> bool:
        # Looked at again under the locks: whoever has it may have come back in this moment.
        people = Participant.objects.select_for_update(no_key=True, skip_locked=True)
        if not people.filter(pk=participant):
            return False
        locked = self.rows.select_for_update(of=("self",), no_key=True, skip_locked=True)
        work = locked.select_related(*self.model.RELATED).filter(self.in_hand, pk=pk, lease_until__lt=now).first()
        if work is None:
            return False
        end(work)
        return True

    @transaction.atomic
    def pay(self, work: Work, amount: int, reason: str, *, by: User | None = None, now: datetime) -> Any:
        """Owe somebody money, whatever the state of the work: their pay, or a part of it when the fault was ours.

        The same amount for the same reason is the same payment, so that a request sent twice pays once.

        Raises
        ------
        NeedsReason, BadAmount, PaidOtherwise
        NotAllowed
            if nobody does the work.
        """
        reason = " ".join(storable_text(reason).split())[:LONGEST_REASON]
        if not reason:
            raise NeedsReason(self.model)
        if not 0 < amount <= MAX_AMOUNT:
            raise BadAmount(MAX_AMOUNT, work.currency)
        work = self.lock(work)
        if work.participant_id is None:
            raise NotAllowed(work, str(work.state))
        known = work.payments.filter(reason=reason).first()
        if known is None:
            payment = work.payments.create(amount=amount, reason=reason, at=now, by=by)
            self.on_pay(payment)
            return payment
        if known.amount != amount:
            raise PaidOtherwise(reason, known.amount, work.currency)
        return known

    def pay_rest(self, work: Work, reason: str, *, by: User, now: datetime) -> None:
        """Pay what is still owed of the promised pay, however often it was decided that it is owed."""
        rest = (work.pay or 0) - paid_of_promise(work)
        if rest > 0:
            self.pay(work, rest, reason, by=by, now=now)

    def total_earned(self, participant: Participant, **where: Any) -> int:
        """Return all that somebody is owed for work of this kind, in minor units; of some of it by `where`."""
        return _sum(self.rows.filter(participant=participant, **where), "payments__amount")

    def total_awaited(self, participant: Participant, **where: Any) -> int:
        """Return what somebody gets if all is accepted that waits for a reviewer, in minor units."""
        return _sum(self.rows.filter(participant=participant, state="SUBMITTED", **where), "pay")


def total_paid(work: PaidWork) -> int:
    """Return what was paid for a piece of work so far, in minor units."""
    return _sum(work.payments, "amount")


def paid_of_promise(work: PaidWork) -> int:
    """Return how much of the promised pay was paid so far, in minor units; what was paid besides is left out."""
    return _sum(work.payments.filter(reason__in=PROMISED), "amount")


def extra_payments(work: PaidWork) -> list[Any]:
    """Return what was paid beside the promised pay, the first one first; each for a reason that the payee reads."""
    extra: list[Payment] = [payment for payment in work.payments.all() if payment.reason not in PROMISED]
    return sorted(extra, key=lambda payment: payment.pk)


def storable_text(text: str) -> str:
    """Replace what the database cannot hold: U+0000 and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _sum(rows: Any, name: str) -> int:
    return rows.aggregate(sum=Sum(name))["sum"] or 0
