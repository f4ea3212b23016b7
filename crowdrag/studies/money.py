"""Amounts of money: stored in whole minor units (cents), entered and displayed in major ones (dollars).

`AmountField` is a form field for an amount.
"""

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from django import forms

# Digits of a currency's minor unit, if not two (ISO 4217).
MINOR_DIGITS: Final = dict.fromkeys(
    ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"), 0
) | dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3)


#: Shorter work gives no meaningful hourly rate: a questionnaire clicked through in 5 seconds would pay thousands.
MIN_SECONDS: Final = 60
_HOUR: Final = 3600
#: The largest amount that a column can store, in minor units.
MAX_AMOUNT: Final = 2_147_483_647


class TooFineError(ValueError):
    """An amount with more digits than the currency's minor unit."""


def minor_digits(currency: str) -> int:
    """Return the number of digits after the decimal point."""
    return MINOR_DIGITS.get(currency, 2)


def to_major(amount: int, currency: str) -> Decimal:
    """Convert minor units to major ones: 250 cents are 2.50 dollars."""
    places = minor_digits(currency)
    return Decimal(amount).scaleb(-places).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)


def format_amount(amount: float, currency: str) -> str:
    """Format an amount in minor units with its currency for a sentence: USD 1,250.00."""
    return f"{currency}\u00a0{to_major(round(amount), currency):,}"


def format_cost(amount: Decimal, currency: str) -> str:
    """Format the cost of a model with its currency, with more digits than the minor unit has: USD 0.001234."""
    places = minor_digits(currency)
    return f"{currency}\u00a0{amount.scaleb(-places):,.{places + 4}f}"


def to_minor(amount: Decimal, currency: str) -> int:
    """Convert an amount to minor units.

    Raises
    ------
    TooFineError
        if it has more digits after the point than the currency; nothing is rounded.
    """
    minor = amount.scaleb(minor_digits(currency))
    if minor != minor.to_integral_value():
        raise TooFineError(f"{amount} is finer than {currency} is counted.")
    return int(minor)


def is_too_short(seconds: float | None) -> bool:
    """Return whether work took too little time to state an hourly rate."""
    return seconds is not None and seconds < MIN_SECONDS


def hourly_rate(amount: float | None, seconds: float | None) -> float | None:
    """Return the pay per hour, in the unit of the amount; None if either is unknown or the time is too short."""
    if not amount or not seconds or is_too_short(seconds):
        return None
    return amount * _HOUR / seconds


class AmountField(forms.DecimalField):
    """An amount entered in major units of the currency; cleaned to minor ones."""

    def __init__(self, **options: Any):
        super().__init__(min_value=Decimal(0), max_digits=12, **options)
        self.currency = "USD"

    def of(self, currency: str) -> None:
        """Set the currency."""
        self.currency = currency
        self.label = f"{self.label} ({currency})"
        self.widget.attrs["step"] = str(to_major(1, currency))

    def prepare_value(self, value: Any) -> Any:
        """Show a stored amount in major units, and typed text unchanged."""
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
        """Return whether the entered amount differs from the initial one."""
        return bool(super().has_changed(self.prepare_value(initial), data))
