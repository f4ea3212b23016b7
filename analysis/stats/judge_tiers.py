"""Tiers of judges by what is known of their competence (docs/methods/policies.md). Claims import it."""

from enum import StrEnum
from typing import Final

#: A judge with at least this competence (1 - spam probability) is trusted, one with at most that is doubtful.
TRUSTED: Final = 0.6
DOUBTFUL: Final = 0.25


class Tier(StrEnum):
    """What is known of a judge: too little, or good enough for hard items."""

    UNPROVEN = "unproven"
    TRUSTED = "trusted"


def tier_of(spam: float | None) -> Tier:
    """Return the tier of a judge with this mean spam probability; None if it is not known."""
    return Tier.TRUSTED if spam is not None and 1.0 - spam >= TRUSTED else Tier.UNPROVEN


def may_continue(spam: float | None) -> bool:
    """Return whether a judge who has judged gets a further questionnaire where unproven judges are limited.

    Not before something is known of them, and not if they are doubtful.
    """
    return spam is not None and 1.0 - spam > DOUBTFUL
