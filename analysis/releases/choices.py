"""Contents of a release as selected by a researcher, stored with the release as JSON.

The choices are not permissions. Consent and personal data are checked row by row when the release is read (`contents`);
choices can only leave out more.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from django.db import models

from writing.enums import Origin


class Passages(models.TextChoices):
    """How much of the retrieved passages is included; their terms are those of their owners."""

    NONE = "NONE", "none"
    IDS = "IDS", "IDs and ranks, to look up in the collection"
    ADDRESSES = "ADDRESSES", "IDs, ranks, titles and addresses"
    TEXTS = "TEXTS", "IDs, ranks, titles, addresses and texts"


class Logs(models.TextChoices):
    """Granularity of the included writing logs."""

    NONE = "NONE", "none"
    MEASURES = "MEASURES", "summary measures of each text"
    MINUTES = "MINUTES", "the text at every minute"
    SENTENCES = "SENTENCES", "the text after every finished or changed sentence"
    FULL = "FULL", "all events"


class Timing(models.TextChoices):
    """Resolution of times, and of durations and offsets in logs."""

    EXACT = "EXACT", "exact"
    SECOND = "SECOND", "to the second"
    MINUTE = "MINUTE", "to the minute"
    HOUR = "HOUR", "to the hour"
    ABSENT = "ABSENT", "no times, only the order of events"


class Pseudonyms(models.TextChoices):
    """Names of people in a release."""

    FRESH = "FRESH", "new pseudonyms for this release, not linkable to other releases"
    STABLE = "STABLE", "the study's pseudonyms, the same in every release"


@dataclass(frozen=True)
class Choices:
    """Contents of a release.

    Attributes
    ----------
    licence
        Licence of the participants' contributions; empty: that of the study. Contributions released under other terms
        are left out.
    log_licence, timing_licence
        Licences of writing logs and of times, if different; empty: `licence`.
    passage_terms
        Terms under which passages are redistributed: the name of a licence, or a sentence. Without terms, texts are
        left out.
    origins
        Origins of the included responses: `HUMAN`, `MODEL`, `SYSTEM`.
    excluded
        Whether to include responses and judgments that are excluded from the analysis, marked as such.
    surveys
        Whether to include writers' answers to the surveys before and after writing.
    justifications, comments
        Whether to include judges' reasons, and their comments at the end of a questionnaire.
    gold, grades
        Whether to include the labels and the grades of `runs`.
    tables
        Whether to include all other result tables of `runs`.
    runs
        Keys of the runs whose labels, grades and tables are included. If two runs have the same table, both are. May be
        empty.
    """

    licence: str = ""
    log_licence: str = ""
    timing_licence: str = ""
    topics: bool = True
    passages: Passages = Passages.IDS
    passage_terms: str = ""
    responses: bool = True
    origins: tuple[str, ...] = (Origin.HUMAN.value, Origin.MODEL.value, Origin.SYSTEM.value)
    excluded: bool = False
    surveys: bool = True
    logs: Logs = Logs.NONE
    judgments: bool = True
    justifications: bool = True
    comments: bool = False
    gold: bool = True
    grades: bool = True
    tables: bool = False
    runs: tuple[str, ...] = ()
    timing: Timing = Timing.MINUTE
    pseudonyms: Pseudonyms = Pseudonyms.FRESH

    def as_json(self) -> dict[str, Any]:
        """Return the choices as JSON; `from_json` reads them back."""
        return {
            name: list(value) if isinstance(value, tuple) else getattr(value, "value", value)
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Read stored choices; missing ones have their defaults.

        Raises
        ------
        ValueError
            If a choice is unknown.
        """
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(stored) - known):
            raise ValueError(f"Unknown choices: {', '.join(unknown)}.")
        return cls(**{name: _READ[name](value) if name in _READ else value for name, value in stored.items()})

    def problems(self) -> list[str]:
        """Return messages about choices that contradict each other; empty if there are none."""
        return [str(problem) for holds, problem in self._rules() if not holds]

    def _rules(self) -> Iterable[tuple[bool, Any]]:
        yield (
            self.passages != Passages.TEXTS or bool(self.passage_terms.strip()),
            "Enter the terms for sharing the passages' texts, or release only their IDs.",
        )
        yield (
            self.passages == Passages.NONE or self.topics,
            "Passages belong to topics. Release the topics too, or no passages.",
        )
        yield not self.responses or self.topics, "Responses belong to topics. Release the topics too."
        yield (
            self.logs == Logs.NONE or self.responses,
            "Writing logs belong to responses. Release the responses too, or no logs.",
        )
        yield (
            not (self.logs == Logs.MINUTES and self.timing in (Timing.ABSENT, Timing.HOUR)),
            "The text at every minute needs times to the minute. Otherwise choose the text after every sentence.",
        )
        yield not set(self.origins) - set(Origin.values), "Unknown origin of responses."


def _texts(value: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(item) for item in value)


_READ: dict[str, Callable[[Any], Any]] = {
    "passages": Passages,
    "logs": Logs,
    "timing": Timing,
    "pseudonyms": Pseudonyms,
    "origins": _texts,
    "runs": _texts,
}
