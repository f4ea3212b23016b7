"""Money is kept in minor units and written in major ones; nothing is rounded on the way in."""

from decimal import Decimal

import pytest

from crowdrag.studies import money


@pytest.mark.parametrize(
    ("written", "currency", "kept"),
    [("2.50", "USD", 250), ("250", "JPY", 250), ("1.005", "KWD", 1005), ("0", "EUR", 0)],
)
def test_an_amount_is_kept_and_written_again(written: str, currency: str, kept: int) -> None:
    assert money.to_minor(Decimal(written), currency) == kept
    assert str(money.to_major(kept, currency)) == written + (".00" if (written, currency) == ("0", "EUR") else "")


@pytest.mark.parametrize(("written", "currency"), [("2.505", "USD"), ("0.5", "JPY"), ("1e-9", "EUR")])
def test_an_amount_finer_than_the_coins_is_refused(written: str, currency: str) -> None:
    with pytest.raises(money.TooFineError):
        money.to_minor(Decimal(written), currency)
