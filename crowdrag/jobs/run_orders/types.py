"""Protocols of an order and of its form."""

from datetime import datetime
from typing import Any, Protocol, TypeVar


class Order(Protocol):
    """An order of a run; orders with the same digest are equal."""

    @property
    def digest(self) -> str:
        """Return the digest that identifies the order."""


AnyOrder_co = TypeVar("AnyOrder_co", bound=Order, covariant=True)
AnyOrder = TypeVar("AnyOrder", bound=Order)


class OrderForm(Protocol[AnyOrder_co]):
    """The form of an order; the API validates its requests with it too."""

    @property
    def errors(self) -> Any:
        """The errors by field."""

    def is_valid(self) -> bool:
        """Return whether the order is valid."""

    def order(self, *, now: datetime) -> AnyOrder_co:
        """Return the order."""

    def add_error(self, field: str | None, error: str) -> None:
        """Add an error to a field; None: to the form."""
