"""The release in the layout of the CrowdRAG-25 corpus, which other tools and this system's import can read.

Rows are made as in an export (`analysis.crowdrag25`), but from the selected data, with the names, times and texts of
the release. Data that do not fit the layout are counted.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import count as counting
from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from annotation.imports.crowdrag25 import record_schemas
from annotation.models import Judgment, PlatformSubmission
from crowdrag.jobs.models import Run
from writing.enums import Origin
from writing.models import Response

from ...crowdrag25 import file_fields, inclusion, judgment_files, response_files
from ...crowdrag25.inclusion import ExclusionCounts
from ...enums import TextSource
from ...inputs import arrays
from ..choices import Logs, Passages
from . import log_tables
from .content_table import ContentColumn, ContentTable, Row, Type
from .result_tables import GOLD, Results
from .selection import Exclusion, ExclusionCount, Keys
from .source import Source, since_epoch

_PEOPLE = ("worker", "prolific_pid")


class ReleasedJudgments(judgment_files.JudgingFiles):
    """Reader of the selected judgments, with names, times and reasons as released."""

    def __init__(self, source: Source, responses: Keys, left_out: ExclusionCounts) -> None:
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
            moment = (
                None
                if ms is None
                else self._source.clock.milliseconds(ms, is_released=self._releases_times(row["worker"]))
            )
            yield self._name(row | {"submitted_at": moment})

    def experts(self) -> Iterator[Row]:
        """Yield the experts' votes."""
        for row in super().experts():
            times_released = self._releases_times(row["prolific_pid"])
            times = {
                name: [self._cut(time, is_released=times_released) for time in moments]
                for name, moments in row["timestamps"].items()
            }
            yield self._name(row | {"timestamps": times if times_released and self._source.clock.is_told else {}})

    def _named(self, rows: Iterator[Row]) -> Iterator[Row]:
        return map(self._name, rows)

    def _name(self, row: Row) -> Row:
        return row | {key: self._source.names.said_as(row[key]) for key in _PEOPLE if key in row}

    def _releases_times(self, external_id: str) -> bool:
        pk = self._source.names.key(external_id)
        return pk is not None and has_times_released(self._source, pk)

    def _cut(self, time: str, *, is_released: bool) -> str | None:
        moment = self._source.clock.time(datetime.fromisoformat(time), is_released=is_released)
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z") if moment else None

    def _justification(self, row: dict[str, Any]) -> str:
        pk, text, blackout = row["pk"], str(row["justification"]), self._source.selection.blackout
        if not self._source.choices.justifications or blackout.reason(TextSource.JUSTIFICATION, pk):
            return ""
        return blackout.text(TextSource.JUSTIFICATION, pk, text)


def has_times_released(source: Source, person: int) -> bool:
    """Return whether a judge's times may be released for all their campaigns; the layout does not name campaigns."""
    selection = source.selection
    return all(
        not selection.permissions.judge(person, campaign).timing for campaign in selection.judged_in.get(person, ())
    )


PLATFORM = "platform records of submissions"
PLATFORMS = "they belong to the platform and identify visits of people"
LAYOUT = "in the CrowdRAG-25 layout"
_TYPES: dict[str, Type] = {"text": "text", "list of text": "texts", "whole number": "integer"}


class Layout:
    """Files of the layout; each is a table named by its path without suffix."""

    def __init__(self, source: Source, results: Results) -> None:
        self._source = source
        self._left_out = left_out = inclusion.ExclusionCounts()
        self._topics = _only(inclusion.topics(source.study, left_out), Keys(sorted(source.selection.topics)))
        responses = _only(inclusion.responses(source.study, inclusion.ExclusionCounts()), source.selection.responses)
        # This leaves out responses by others than people and models, and those that no analysis counts.
        self._responses = responses if source.choices.responses else responses.none()
        released = Keys(self._responses.order_by("pk").values_list("pk", flat=True).iterator(chunk_size=10_000))
        self._judgments = ReleasedJudgments(source, released, left_out)
        self._analysis = _analysis(results.runs) if source.choices.gold else None
        self._uncounted = len(source.selection.responses) - len(released)
        self._records = PlatformSubmission.objects.filter(campaign__study=source.study).count()

    def left_out(self) -> tuple[Exclusion, ...]:
        """Return what the layout does not contain.

        Judgments are counted while they are read, so call this after the last file.
        """
        if self._source.choices.judgments:
            self._judgments.count_others()
        count = ExclusionCount()
        for exclusion in self._left_out.as_json():
            count.add(str(exclusion["what"]), LAYOUT, int(exclusion["count"]))
        count.add("responses", f"the layout has no field for them ({LAYOUT})", self._uncounted)
        count.add(PLATFORM, PLATFORMS, self._records)
        return count.total()

    def tables(self) -> Iterator[ContentTable]:
        """Yield the files; a file may have no rows."""
        chosen, votes = self._source.choices, self._judgments
        readers: dict[str, Callable[[], Iterator[Row]]] = {}
        if chosen.topics:
            readers[record_schemas.TOPICS] = self._retrieval
        if chosen.responses:
            readers |= {
                record_schemas.TASKS: self._tasks,
                record_schemas.SNAPSHOTS: self._states,
                record_schemas.MODEL_RESPONSES: partial(response_files.model_responses, self._responses, self._text),
                record_schemas.PARSED: self._parsed,
            }
        if chosen.judgments:
            readers |= {
                record_schemas.VOTES: votes.votes,
                record_schemas.POINTWISE: votes.pointwise,
                record_schemas.EXPERTS: lambda: _at_once(votes.experts()),
                record_schemas.COMBINED_VOTES: votes.combined,
                record_schemas.INDIVIDUAL_VOTES: votes.individual,
                record_schemas.MODEL_VOTES: votes.models,
            }
        if self._analysis is not None:
            readers[record_schemas.LABELS] = self._labels
        for name, rows in readers.items():
            yield _table(name, rows)

    def _text(self, response: Response) -> str:
        return self._source.selection.blackout.text(TextSource.RESPONSE, response.pk, response.text)

    def _retrieval(self) -> Iterator[Row]:
        for row in response_files.topics(self._topics):
            yield self._without_passages(row)

    def _parsed(self) -> Iterator[Row]:
        for row in response_files.parsed(self._responses, self._text):
            yield self._without_passages(row)

    def _without_passages(self, row: Row) -> Row:
        ids = row["references_ids"]
        if self._source.choices.passages == Passages.NONE:
            return row | {"references_ids": [], "references_texts": []}
        if self._source.choices.passages != Passages.TEXTS:
            return row | {"references_texts": [""] * len(ids)}
        return row

    def _tasks(self) -> Iterator[Row]:
        for row in response_files.tasks(self._responses, self._left_out):
            row["worker"] = self._source.names.said_as(row["worker"])
            for question in response_files.QUESTIONS:
                # Answers in the layout are numbers; texts are in the table of answers, after the check for personal
                # data.
                if not self._source.choices.surveys or isinstance(row[question], str):
                    row[question] = None
            yield row

    def _states(self) -> Iterator[Row]:
        """Yield the states of each person's text, the response last; times that are not released become numbers."""
        shown = self._shown_states() if self._source.choices.logs not in (Logs.NONE, Logs.MEASURES) else iter(())
        current = next(shown, None)
        responses = self._responses.filter(origin=Origin.HUMAN).select_related("topic", "style")
        for response in responses.iterator(chunk_size=response_files.CHUNK):
            head = {"response": response.external_id, "topic": response.topic.external_id, "style": response.style.name}
            numbers = counting()
            last: tuple[int | None, str] = (None, "")
            while current is not None and current[0] < response.pk:
                current = next(shown, None)
            while current is not None and current[0] == response.pk:
                last = current[1:]
                yield {**head, "timestamp": _or(last[0], next(numbers)), "text": last[1]}
                current = next(shown, None)
            text, number = self._text(response), next(numbers)
            if not number or text != last[1]:
                yield {**head, "timestamp": _or(self._submitted(response), number), "text": text}

    def _submitted(self, response: Response) -> int | None:
        times_released = not self._source.selection.writers[response.participant_id].timing
        return since_epoch(
            self._source.clock.time(response.submitted_at or response.created_at, is_released=times_released)
        )

    def _shown_states(self) -> Iterator[tuple[int, int | None, str]]:
        """Yield (response, milliseconds since 1970, text) of the released logs, sorted by response."""
        granularity = self._source.choices.logs
        for log, times_released in log_tables.released(self._source):
            response = log.task.response
            start = since_epoch(log.started_at or response.submitted_at or response.created_at)
            for ms, text in log_tables.states(log, granularity):
                moment = (
                    None if start is None else self._source.clock.milliseconds(start + ms, is_released=times_released)
                )
                yield response.pk, moment, text

    def _labels(self) -> Iterator[Row]:
        assert self._analysis is not None
        released = set(self._responses.values_list("external_id", flat=True))
        for row in judgment_files.rows(self._analysis, self._judgments.questionnaires(), released):
            yield self._without_left_out(row)

    def _without_left_out(self, row: Row) -> Row:
        """Remove the votes of people who are left out from the parallel lists in a pair's row."""
        names, participants = self._source.names, self._source.selection.participants
        kept = [i for i, worker in enumerate(row["worker"]) if names.key(worker) in participants]
        kept_row = {key: [value[i] for i in kept] if isinstance(value, list) else value for key, value in row.items()}
        return kept_row | {"worker": [names.said_as(worker) for worker in kept_row["worker"]]}


def _or(moment: int | None, number: int) -> int:
    return number if moment is None else moment


def _only(rows: "QuerySet[Any]", keys: Keys) -> "QuerySet[Any]":
    """Keep rows by key, passed as one array: PostgreSQL allows at most 65,535 parameters."""
    return rows.filter(pk__in=RawSQL("SELECT unnest(%s::bigint[])", (keys.as_array(),)))


def _analysis(runs: tuple[Run, ...]) -> judgment_files.Analysis | None:
    """Return the latest of the runs that labelled the crowd's votes, with its inputs."""
    labelled = Run.objects.filter(
        pk__in=[run.pk for run in runs], snapshot__pool=judgment_files.CROWD, tables__name=GOLD
    )
    run = labelled.select_related("snapshot").order_by("-finished_at", "-pk").first()
    return None if run is None else judgment_files.Analysis(run, arrays.unpack(bytes(run.snapshot.payload)))


def _at_once(rows: Iterator[Row]) -> Iterator[Row]:
    if columns := judgment_files.as_columns(rows):
        yield columns


def _table(name: str, rows: Callable[[], Iterator[Row]]) -> ContentTable:
    meaning, fields = file_fields.FILES[name]
    types = {field: kind.removesuffix(" or null").removesuffix(" or absent") for field, (kind, _) in fields.items()}
    columns = tuple(
        ContentColumn(
            field, _TYPES.get(types[field], "json"), kind != types[field], text,
            is_free_text=not kind.startswith("whole number"),
        )
        for field, (kind, text) in fields.items()
    )  # fmt: skip
    return ContentTable(file_fields.path(name).removesuffix(".jsonl.gz"), meaning, columns, rows)
