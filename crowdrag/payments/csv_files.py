"""Payment files: Prolific bulk payments, bank transfers, and an overview as a spreadsheet."""

from collections.abc import Iterable

from crowdrag.studies import money
from crowdrag.studies.models import Study
from crowdrag.studies.participants import identity
from crowdrag.ui.csv_export import to_csv

from .enums import PaymentMethod
from .models import PaymentList, PaymentListLine
from .queries import Balance

OVERVIEW_COLUMNS = ("participant", "earned", "by_platform", "paid_out", "on_open_lists", "owed", "currency")
TRANSFER_COLUMNS = ("participant", "amount", "currency", "purpose")


def payment_file(payment_list: PaymentList) -> bytes:
    """Return the file with which a list is paid.

    Prolific accepts lines `ID,amount` without a header, in the currency of the study on Prolific.
    """
    lines = payment_list.lines.select_related("participant").order_by("participant__external_id", "pk")
    if payment_list.method == PaymentMethod.PROLIFIC:
        return _prolific_file(lines, payment_list.study.currency)
    currency, purpose = payment_list.study.currency, payment_list.study.title
    rows = [(line.participant.external_id, money.to_major(line.amount, currency), currency, purpose) for line in lines]
    return to_csv(TRANSFER_COLUMNS, rows)


def without_prolific_id(payment_list: PaymentList) -> int:
    """Return the number of people on a list whom Prolific cannot pay because their ID was erased."""
    if payment_list.method != PaymentMethod.PROLIFIC:
        return 0
    return payment_list.lines.filter(participant__identity__isnull=True).count()


def overview_file(study: Study, rows: Iterable[Balance]) -> bytes:
    """Return the balances of a study as CSV for spreadsheets."""
    currency = study.currency
    return to_csv(
        OVERVIEW_COLUMNS,
        [
            (
                row.participant.external_id,
                *(money.to_major(each, currency) for each in (row.earned, row.by_platform, row.paid, row.listed)),
                money.to_major(row.owed, currency),
                currency,
            )
            for row in rows
        ],
    )


def _prolific_file(lines: Iterable[PaymentListLine], currency: str) -> bytes:
    rows = (
        f"{identity.decrypt(bytes(line.participant.identity))},{money.to_major(line.amount, currency)}\n"
        for line in lines
        if line.participant.identity
    )
    return "".join(rows).encode()
