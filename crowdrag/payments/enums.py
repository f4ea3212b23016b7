"""Enumerations of payments."""

from django.db import models


class PaymentMethod(models.TextChoices):
    """How participants on a list are paid; each method has its own file."""

    PROLIFIC = "PROLIFIC", "Prolific bulk payment"
    TRANSFER = "TRANSFER", "Bank transfer or other"


class ListState(models.TextChoices):
    """The state of a payment list."""

    OPEN = "OPEN", "to be paid"
    PAID = "PAID", "paid out"
    CANCELLED = "CANCELLED", "cancelled"


class ListEventKind(models.TextChoices):
    """What staff did with a payment list."""

    CREATED = "CREATED", "created"
    PAID = "PAID", "marked as paid"
    TAKEN_BACK = "TAKEN_BACK", "mark removed"
    CANCELLED = "CANCELLED", "cancelled"
