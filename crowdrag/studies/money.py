"""Amounts of money: kept in whole minor units (cents), written and read in major ones (dollars).

`AmountField` is a form's field for one.
"""

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from django import forms

# How many digits a currency's minor unit has, where it is not two (ISO 4217).
MINOR_DIGITS: Final = dict.fromkeys(
    ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"), 0
) | dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3)


#: Work that took less says nothing of an hour: a questionnaire clicked through in 5 seconds would pay thousands.
MIN_SECONDS: Final = 60
_HOUR: Final = 3600
#: The largest amount that a column holds, in minor units.
MAX_AMOUNT: Final = 2_147_483_647


class TooFineError(ValueError):
    """An amount is finer than the currency has coins."""


def minor_digits(currency: str) -> int:
    """Return how many digits the currency has after the point."""
    return MINOR_DIGITS.get(currency, 2)


def to_major(amount: int, currency: str) -> Decimal:
    """Return an amount in minor units as people write it: 250 cents are 2.50 dollars."""
    places = minor_digits(currency)
    return Decimal(amount).scaleb(-places).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)


def format_amount(amount: float, currency: str) -> str:
    """Write an amount in minor units with its currency, as a sentence has it: USD 1,250.00."""
    return f"{currency}\u00a0{to_major(round(amount), currency):,}"


def format_cost(amount: Decimal, currency: str) -> str:
    """Write what a model costs with its currency, finer than there are coins: USD 0.001234."""
    places = minor_digits(currency)
    return f"{currency}\u00a0{amount.scaleb(-places):,.{places + 4}f}"


def to_minor(amount: Decimal, currency: str) -> int:
    """Return an amount as it is kept.

    Raises
    ------
    FineError
        if it has more digits after the point than the currency; nothing is rounded.
    """
    minor = amount.scaleb(minor_digits(currency))
    if minor != minor.to_integral_value():
        raise TooFineError(f"{amount} is finer than {currency} is counted.")
    return int(minor)


def is_too_short(seconds: float | None) -> bool:
    """Say whether work took so little time that no pay per hour is stated of it."""
    return seconds is not None and seconds < MIN_SECONDS


def hourly_rate(amount: float | None, seconds: float | None) -> float | None:
    """Return what an hour pays, in the unit of the amount; None if either is not known or the time is too short."""
    if not amount or not seconds or is_too_short(seconds):
        return None
    return amount * _HOUR / seconds


class AmountField(forms.DecimalField):
    """An amount as people write it, in the currency's major units; cleaned to minor ones."""

    def __init__(self, **options: Any):
        super().__init__(min_value=Decimal(0), max_digits=12, **options)
        self.currency = "USD"

    def of(self, currency: str) -> None:
        """Say which currency is meant."""
        self.currency = currency
        self.label = f"{self.label} ({currency})"
        self.widget.attrs["step"] = str(to_major(1, currency))

    def prepare_value(self, value: Any) -> Any:
        """Show what is kept in minor units in major ones; what somebody typed as they typed it."""
        return to_major(value, self.currency) if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        """Return minor units."""
        amount = super().clean(value)
        if amount is None:
            return None
        try:
            minor = to_minor(amount, self.currency)
        except TooFineError as error:
            raise forms.ValidationError(str(error)) from error
        if minor > MAX_AMOUNT:
            largest = format_amount(MAX_AMOUNT, self.currency)
            raise forms.ValidationError(f"The amount must be at most {largest}.")
        return minor

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Say whether another amount was entered than there was."""
        return bool(super().has_changed(self.prepare_value(initial), data))
