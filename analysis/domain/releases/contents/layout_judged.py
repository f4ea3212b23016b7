"""The judgments of a release as the CrowdRAG-25 layout holds them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.db.models.expressions import RawSQL

from annotation.models import Judgment

from ....enums import TextSource
from ...corpus.published import judged
from ...corpus.published.selecting import LeftOut
from .keys import Keys
from .source import Source
from .table import Row

_PEOPLE = ("worker", "prolific_pid")


class ReleasedJudgments(judged.Judged):
    """Reads what was selected, and tells people, times and reasons as the release does."""

    def __init__(self, source: Source, responses: Keys, left_out: LeftOut) -> None:
        self._source = source
        self._study = source.study
        self._left_out = left_out
        assignments = Keys(sorted(pk for pk, reason in source.selection.assignments.items() if not reason))
        self._judgments = Judgment.objects.of_study(source.study).filter(
            assignment__in=RawSQL("SELECT unnest(%s::bigint[])", (assignments.as_array(),))
        )
        self._released = responses
        self._seen = 0

    def votes(self) -> Iterator[Row]:
        """Yield the crowd's votes on pairs."""
        return self._named(super().votes())

    def pointwise(self) -> Iterator[Row]:
        """Yield the crowd's pointwise ratings."""
        for row in super().pointwise():
            ms = row["submitted_at"]
            moment = None if ms is None else self._source.clock.milliseconds(ms, told=self._tells(row["worker"]))
            yield self._name(row | {"submitted_at": moment})

    def experts(self) -> Iterator[Row]:
        """Yield the experts' votes."""
        for row in super().experts():
            told = self._tells(row["prolific_pid"])
            times = {name: [self._cut(time, told=told) for time in given] for name, given in row["timestamps"].items()}
            yield self._name(row | {"timestamps": times if told and self._source.clock.is_told else {}})

    def _named(self, rows: Iterator[Row]) -> Iterator[Row]:
        return map(self._name, rows)

    def _name(self, row: Row) -> Row:
        return row | {key: self._source.names.said_as(row[key]) for key in _PEOPLE if key in row}

    def _tells(self, external_id: str) -> bool:
        pk = self._source.names.key(external_id)
        return pk is not None and told_by_all(self._source, pk)

    def _cut(self, time: str, *, told: bool) -> str | None:
        moment = self._source.clock.time(datetime.fromisoformat(time), told=told)
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None

    def _justification(self, row: dict[str, Any]) -> str:
        pk, text, blackout = row["pk"], str(row["justification"]), self._source.selection.blackout
        if not self._source.choices.justifications or blackout.reason(TextSource.JUSTIFICATION, pk):
            return ""
        return blackout.text(TextSource.JUSTIFICATION, pk, text)


def told_by_all(source: Source, person: int) -> bool:
    """Say whether a judge's times may be told in all campaigns in which they judged: rows here do not name theirs."""
    selection = source.selection
    return all(not selection.people.judge(person, each).timing for each in selection.judged_in.get(person, ()))
