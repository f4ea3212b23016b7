"""What a release is to hold: what a researcher chose, kept with the release as JSON.

Nothing here is a permission. What people agreed to, and what was found in their texts, is looked at row by row when the
release is read (`contents`); a choice can only leave more out.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from django.db import models

from writing.enums import Origin


class Passages(models.TextChoices):
    """How much of the retrieved passages is in; whose they are, their terms say."""

    NONE = "NONE", "none"
    IDS = "IDS", "IDs and ranks, to look up in the collection"
    ADDRESSES = "ADDRESSES", "IDs, ranks, titles and addresses"
    TEXTS = "TEXTS", "IDs, ranks, titles, addresses and texts"


class Logs(models.TextChoices):
    """By which granularity writing logs are in."""

    NONE = "NONE", "none"
    MEASURES = "MEASURES", "summary measures of each text"
    MINUTES = "MINUTES", "the text at every minute"
    SENTENCES = "SENTENCES", "the text after every finished or changed sentence"
    FULL = "FULL", "all events"


class Timing(models.TextChoices):
    """How exact times are. Durations and offsets in logs are cut to the same step."""

    EXACT = "EXACT", "exact"
    SECOND = "SECOND", "to the second"
    MINUTE = "MINUTE", "to the minute"
    HOUR = "HOUR", "to the hour"
    ABSENT = "ABSENT", "no times, only the order of events"


class Pseudonyms(models.TextChoices):
    """By which names people go."""

    FRESH = "FRESH", "new pseudonyms for this release, not linkable to other releases"
    STABLE = "STABLE", "the study's pseudonyms, the same in every release"


@dataclass(frozen=True)
class Choices:
    """What a release holds.

    Attributes
    ----------
    licence
        of what people wrote and did; empty: the study's. What somebody agreed to release under other terms is left out.
    log_licence, timing_licence
        of writing logs and of times, where that is another one; empty: `licence`.
    passage_terms
        under which terms passages' texts are passed on: a licence's name or a sentence. Without it there are no texts.
    origins
        of which responses: `HUMAN`, `MODEL`, `SYSTEM`.
    excluded
        whether responses and judgments that are excluded from the analysis are in as well, and marked.
    surveys
        whether writers' answers to the surveys before and after writing are in.
    justifications, comments
        whether judges' reasons, and what they said at the end of a questionnaire, are in.
    gold, grades
        whether the labels and the grades of `runs` are in.
    tables
        whether all other result tables of `runs` are in too.
    runs
        the runs whose labels, grades and tables are in, by key; of two that made the same table, both. Empty: none is.
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
        """Return them for a JSON column; `from_json` reads them back."""
        return {
            name: list(value) if isinstance(value, tuple) else getattr(value, "value", value)
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what was kept. What was kept before there was a choice has its default.

        Raises
        ------
        ValueError
            if something is no choice that there is.
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
