"""Parameters as a mapping gives them: what all experiments read alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from django.utils.translation import gettext as _

from .experiment import BadParameterError


@dataclass(frozen=True)
class Given(ABC):
    """An experiment's parameters: fields with defaults, a rule for one value (`read`), and one for all (`check`)."""

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Read them; what is missing has its default.

        Raises
        ------
        BadParameterError
            If one is unknown, of another kind, out of bounds, or does not go with another.
        """
        usual = {each.name: each.default for each in fields(cls)}
        if unknown := sorted(set(given) - set(usual)):
            said = _("There is no parameter %(unknown)s; there are %(known)s.")
            raise BadParameterError(said % {"unknown": ", ".join(unknown), "known": ", ".join(sorted(usual))})
        made = cls(**{name: cls.read(name, usual[name], value) for name, value in given.items()})
        made.check()
        return made

    def to_dict(self) -> dict[str, Any]:
        """Write all of them as JSON values."""
        return {name: _written(value) for name, value in asdict(self).items()}

    @staticmethod
    @abstractmethod
    def read(name: str, usual: Any, value: Any) -> Any:
        """Return one value as its field holds it, its default being `usual`; raises `BadParameterError`."""

    @abstractmethod
    def check(self) -> None:
        """Raise `BadParameterError` where values do not go together."""


def _written(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return [str(each) if isinstance(each, str) else each for each in value]  # members of enumerations as their values
