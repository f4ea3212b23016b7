"""Protocols of an order and of its form."""

from datetime import datetime
from typing import Any, Protocol, TypeVar


class Order(Protocol):
    """What is ordered; two of one digest are the same."""

    @property
    def digest(self) -> str:
        """Return the digest that identifies the order."""


AnyOrder_co = TypeVar("AnyOrder_co", bound=Order, covariant=True)
AnyOrder = TypeVar("AnyOrder", bound=Order)


class OrderForm(Protocol[AnyOrder_co]):
    """A form that an order is typed in; the API checks its requests by it too."""

    @property
    def errors(self) -> Any:
        """What is wrong, by field."""

    def is_valid(self) -> bool:
        """Say whether it can be ordered."""

    def order(self, *, now: datetime) -> AnyOrder_co:
        """Return what is ordered."""

    def add_error(self, field: str | None, error: str) -> None:
        """Add an error to a field; None: to the form."""
