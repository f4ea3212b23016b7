"""Create payment lists, mark them as paid, undo the mark. Each change is recorded with author and time."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction

from crowdrag.mail.work_events import publish_payment
from crowdrag.studies.models import Study, User

from . import queries
from .enums import ListEventKind, ListState, PaymentMethod
from .models import PaymentList, PaymentListEvent, PaymentListLine

LONGEST_REFERENCE = 200


class PaymentListError(ValueError):
    """The change is not possible; the message says why."""


class NothingOwedError(PaymentListError):
    """No selected participant is owed anything."""

    def __init__(self) -> None:
        super().__init__("There is nothing to pay. Everybody you selected is paid or on a payment list already.")


class NotOnProlificError(PaymentListError):
    """Prolific cannot pay a selected participant."""

    def __init__(self, names: list[str]) -> None:
        shown = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        super().__init__(f"Prolific cannot pay {shown}: no Prolific ID is known. Put them on a bank transfer list.")


class WrongStateError(PaymentListError):
    """The list is in a state that does not allow this."""

    def __init__(self, payment_list: PaymentList, advice: str) -> None:
        super().__init__(f"This list is {payment_list.get_state_display()}. {advice}")


@transaction.atomic
def create_list(
    *,
    study: Study,
    method: PaymentMethod,
    key: UUID,
    by: User,
    now: datetime,
    participants: Collection[int] | None = None,
) -> PaymentList:
    """Create a list of amounts owed to the selected participants, or to everybody whom this method can pay.

    The same key returns the same list. Amounts on a list are no longer owed, so nobody is paid twice.

    Raises
    ------
    NothingOwedError, NotOnProlificError
    """
    # Lock the study's row, so that concurrent lists do not contain the same amounts.
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    known = PaymentList.objects.filter(study=study, key=key).first()
    if known is not None:
        return known
    rows = [row for row in queries.balances(study, now=now, only=participants) if row.owed]
    if method == PaymentMethod.PROLIFIC:
        outside = [row.participant.external_id for row in rows if not row.is_on_prolific]
        if participants is not None and outside:
            raise NotOnProlificError(outside)
        rows = [row for row in rows if row.is_on_prolific]
    elif participants is None:
        rows = [row for row in rows if not row.is_on_prolific]
    if not rows:
        raise NothingOwedError
    payment_list = PaymentList.objects.create(study=study, key=key, method=method, created_at=now, created_by=by)
    PaymentListLine.objects.bulk_create(
        PaymentListLine(list=payment_list, participant=row.participant, amount=row.owed) for row in rows
    )
    _record(payment_list, ListEventKind.CREATED, by, now)
    return payment_list


@transaction.atomic
def mark_paid(*, payment_list: PaymentList, reference: str, by: User, now: datetime) -> PaymentList:
    """Mark a list as paid, with the reference of the payment. Idempotent for the same reference.

    Raises
    ------
    PaymentListError
        without a reference; if it was paid under another one; if it was cancelled.
    """
    reference = " ".join(reference.replace("\0", "").split())[:LONGEST_REFERENCE]
    if not reference:
        raise PaymentListError("Enter a reference, for example the number of the transfer.")
    payment_list = _locked(payment_list)
    if payment_list.state == ListState.PAID and payment_list.reference == reference:
        return payment_list
    if payment_list.state != ListState.OPEN:
        raise WrongStateError(payment_list, "Reload the page to see who changed it.")
    _change(payment_list, ListEventKind.PAID, by, now, reference=reference)
    for line in payment_list.lines.select_related("participant"):
        # The key contains the line, so that participants are told only once even if the list is marked again.
        key = f"payment-line-{line.pk}"
        publish_payment(participant=line.participant, amount=line.amount, payment_key=key, now=now)
    return payment_list


@transaction.atomic
def take_back(*, payment_list: PaymentList, by: User, now: datetime) -> PaymentList:
    """Undo the mark *paid out*: the list is open again. An open list stays open."""
    payment_list = _locked(payment_list)
    if payment_list.state == ListState.CANCELLED:
        raise WrongStateError(payment_list, "Create a new list instead.")
    if payment_list.state == ListState.OPEN:
        return payment_list
    return _change(payment_list, ListEventKind.TAKEN_BACK, by, now, reference=payment_list.reference)


@transaction.atomic
def cancel(*, payment_list: PaymentList, by: User, now: datetime) -> PaymentList:
    """Cancel a list: its amounts are owed again. Idempotent.

    Raises
    ------
    WrongStateError
        if it was paid out.
    """
    payment_list = _locked(payment_list)
    if payment_list.state == ListState.PAID:
        raise WrongStateError(payment_list, "Take the mark back first.")
    if payment_list.state == ListState.CANCELLED:
        return payment_list
    return _change(payment_list, ListEventKind.CANCELLED, by, now)


_STATES = {
    ListEventKind.PAID: ListState.PAID,
    ListEventKind.TAKEN_BACK: ListState.OPEN,
    ListEventKind.CANCELLED: ListState.CANCELLED,
}


def _locked(payment_list: PaymentList) -> PaymentList:
    # Lock the study first, as in `create_list`, because a list's state changes the amounts owed.
    Study.objects.select_for_update(no_key=True).get(pk=payment_list.study_id)
    return PaymentList.objects.select_for_update().get(pk=payment_list.pk)


def _change(
    payment_list: PaymentList, kind: ListEventKind, by: User, now: datetime, *, reference: str = ""
) -> PaymentList:
    is_paid = kind == ListEventKind.PAID
    payment_list.state = _STATES[kind]
    payment_list.reference = reference if is_paid else ""
    payment_list.paid_at, payment_list.paid_by = (now, by) if is_paid else (None, None)
    payment_list.save(update_fields=["state", "reference", "paid_at", "paid_by"])
    _record(payment_list, kind, by, now, reference)
    return payment_list


def _record(payment_list: PaymentList, kind: ListEventKind, by: User, now: datetime, reference: str = "") -> None:
    PaymentListEvent.objects.create(list=payment_list, kind=kind, reference=reference, at=now, by=by)
