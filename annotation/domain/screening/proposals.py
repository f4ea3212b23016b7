"""What the signals of a questionnaire speak for, with the reasons. A person decides."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from .signals import Proposes, Signal


@dataclass(frozen=True)
class Proposal:
    """Accept, look, or reject; and the signals that say so."""

    what: Proposes
    reasons: tuple[Signal, ...]

    @property
    def name(self) -> str:
        """`accept`, `look` or `reject`."""
        return self.what.name.lower()

    @property
    def label(self) -> str:
        """What is proposed, as people read it."""
        return {
            Proposes.ACCEPT: _("nothing speaks against it"),
            Proposes.LOOK: _("have a look"),
            Proposes.REJECT: _("reject, unless there is a cause"),
        }[self.what]

    @property
    def tone(self) -> str:
        """How a badge shows it."""
        return {Proposes.ACCEPT: "good", Proposes.LOOK: "info", Proposes.REJECT: "warn"}[self.what]


def of(signals: Sequence[Signal]) -> Proposal:
    """Return what the strongest of the signals proposes."""
    what = max((signal.proposes for signal in signals), default=Proposes.ACCEPT)
    return Proposal(what, tuple(signals))
