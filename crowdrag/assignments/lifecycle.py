"""The lifecycle of one kind of paid work: row locks, allowed state changes, leases, payments."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
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
# Payments for these reasons are part of the promised pay; payments for other reasons are extra.
PROMISED: Final = frozenset({ACCEPTED, PART, REVERSED})
# The limit of the column.
MAX_AMOUNT: Final = 2_147_483_647
# The cause of transitions by the sweep.
LEASE_OVER: Final = "lease over"
# Smaller extensions of a lease are not stored, so that frequent activity does not write a second row each time.
LEAST_RENEWAL: Final = timedelta(minutes=1)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Lifecycle(Generic[Work]):
    """The states of one kind of work and what may happen to it. Every change of a state goes through `move`.

    Attributes
    ----------
    model
        the model of the work.
    allowed
        the allowed next states of each state.
    in_hand
        the states of work in progress, which is lost when its lease expires.
    batch_size
        the maximum number of leases that one pass of the sweep ends; the next pass continues.
    on_move
        a hook in the same transaction once the row has its new state; gets the state before.
    on_pay
        a hook called when a payment is recorded.
    after_move
        a hook in the same transaction once the change is recorded; gets its transition.
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
        """Change the state of work, together with other fields, and record the cause.

        The state that the caller has seen is compared with the row's in the same statement: if two callers saw the same
        state, one succeeds. `note` is shown to the participant.

        Raises
        ------
        NotAllowed
            if this state does not follow the current one, or the state has changed since the caller read it.
        WorkProblem
            as raised by `on_move`.
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
        """Record that work has entered its state; `before` is empty for its first state."""
        return work.transitions.create(before=before, after=work.state, cause=cause[:200], note=note, by=by, at=now)

    def lock(self, work: Work) -> Work:
        """Return the current row of the work, locked until the transaction ends; its participant is locked first.

        The work's data refer to the participant, and a withdrawal locks the participant first.
        """
        if work.participant_id is not None:
            Participant.objects.select_for_update(no_key=True).filter(pk=work.participant_id).order_by().first()
        return self.lock_alone(work.pk)

    def lock_alone(self, pk: int) -> Work:
        """Return the current row of work, locked until the transaction ends; the participant must be locked already."""
        locked = self.rows.select_for_update(of=("self",), no_key=True)
        return locked.select_related(*self.model.RELATED).get(pk=pk)

    def expire(self, end: Callable[[Work], object], *, now: datetime) -> int:
        """End work in progress whose lease has expired, by calling `end`; return how many were ended."""
        due = self.rows.filter(self.in_hand, lease_until__lt=now).order_by("lease_until", "pk")
        ended = 0
        for pk, participant in due.values_list("pk", "participant")[: self.batch_size]:
            try:
                ended += self._expire(pk, participant, end, now)
            except Exception:
                # One failure must not keep the other leases from being ended.
                log.exception("The lease of %s %s is over, but it could not be ended", self.model.__name__, pk)
        return ended

    @transaction.atomic
    def _expire(self, pk: int, participant: int, end: Callable[[Work], object], now: datetime) -> bool:
        # Checked again under the locks: the participant may have returned at this moment.
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
        """Record a payment, whatever the state of the work: the pay, or a part of it when the fault was ours.

        The same amount for the same reason is the same payment, so that a repeated request pays once.

        Raises
        ------
        NeedsReason, BadAmount, PaidOtherwise
        NotAllowed
            if the work has no participant.
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
        """Pay the rest of the promised pay. Idempotent."""
        rest = (work.pay or 0) - paid_of_promise(work)
        if rest > 0:
            self.pay(work, rest, reason, by=by, now=now)

    def total_earned(self, participant: Participant, **where: Any) -> int:
        """Return a participant's total earnings for this kind of work, in minor units; `where` restricts the work."""
        return _sum(self.rows.filter(participant=participant, **where), "payments__amount")

    def total_awaited(self, participant: Participant, **where: Any) -> int:
        """Return what a participant earns if all work that awaits review is accepted, in minor units."""
        return _sum(self.rows.filter(participant=participant, state="SUBMITTED", **where), "pay")


def total_paid(work: PaidWork) -> int:
    """Return the total paid for a piece of work so far, in minor units."""
    return _sum(work.payments, "amount")


def paid_of_promise(work: PaidWork) -> int:
    """Return the part of the promised pay that was paid so far, in minor units; extra payments are left out."""
    return _sum(work.payments.filter(reason__in=PROMISED), "amount")


def extra_payments(work: PaidWork) -> list[Any]:
    """Return payments beyond the promised pay, oldest first; the payee reads the reason of each."""
    extra: list[Payment] = [payment for payment in work.payments.all() if payment.reason not in PROMISED]
    return sorted(extra, key=lambda payment: payment.pk)


def storable_text(text: str) -> str:
    """Replace characters that the database cannot store: U+0000 and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _sum(rows: Any, name: str) -> int:
    return rows.aggregate(sum=Sum(name))["sum"] or 0
