"""Judgment files: votes and ratings of the crowd, experts and models, and the resulting labels.

Labels come from the study's latest finished analysis, with exactly the votes that it used (its snapshot).
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotation.campaign_types.default_dimensions import NAMES
from annotation.enums import CampaignKind, Inference, Judges
from annotation.imports.crowdrag25 import record_schemas
from annotation.models import Campaign, Judgment, PlatformSubmission, QuestionnaireItem
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Study
from writing.models import Response

from ..inputs import arrays
from ..tables.models import ResultTable
from ..tables.run_tables import ANALYSIS
from . import inclusion
from .inclusion import ExclusionCounts

CHUNK = 2000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LETTERS = {value: letter for letter, value in record_schemas.CHOICES.items()}
OTHER_DIMENSIONS = "judgments on dimensions that are not in the layout"
OTHER_OPTIONS = "judgments with options that are not in the layout"
EXCLUDED = "crowd judgments that are excluded from the analysis"
ON_WITHHELD = "judgments of responses that are not in the file"
REPEATED = "repeated judgments by people: the layout has only the first ones"
POINTWISE_OTHERS = "pointwise judgments by experts or models: the layout has only those by the crowd"
OTHERS = "judgments of a kind that is not in the layout"
Row = dict[str, Any]

_COLUMNS = {
    "pk": "pk",
    "assignment": "assignment_id",
    "item": "item_id",
    "shown_a": "item__pair__a_id",
    "shown_b": "item__pair__b_id",
    "shown_response": "item__response_id",
    "repeat": "repeat",
    "submission": "assignment__questionnaire__external_id",
    "worker": "assignment__participant__external_id",
    "submitted_at": "assignment__submitted_at",
    "topic": "item__topic__external_id",
    "a": "item__pair__a__external_id",
    "b": "item__pair__b__external_id",
    "response": "item__response__external_id",
    "name": "item__external_id",
    "source_id": "external_id",
    "dimension": "dimension__name",
    "value": "value",
    "justification": "justification",
    "judged_at": "judged_at",
}


class JudgingFiles:
    """Reader of a study's released judgments, one answer (all dimensions of an item) at a time."""

    def __init__(self, study: Study, responses: "QuerySet[Response]", left_out: ExclusionCounts) -> None:
        self._study = study
        self._left_out = left_out
        self._judgments = inclusion.judgments(study, left_out)
        # A set takes little memory, and saves repeated joins in the database.
        self._released: Container[int] = frozenset(responses.values_list("pk", flat=True))
        self._seen = 0

    def votes(self) -> Iterator[Row]:
        """Yield the crowd's votes on pairs."""
        judgments = self._judgments.filter(item__campaign__in=self._campaigns(Judges.CROWD, CampaignKind.PAIRWISE))
        for answer in self._answers(self._first(self._included(judgments)), LETTERS):
            yield {
                "submission_id": answer["submission"],
                "worker": answer["worker"],
                "item_index": answer["position"],
                **_pair(answer),
                **dict(zip(record_schemas.RAW_NAMES, answer["values"], strict=True)),
            }

    def pointwise(self) -> Iterator[Row]:
        """Yield the crowd's pointwise ratings, one submission of a worker at a time, in item order."""
        judgments = self._judgments.filter(item__campaign__in=self._campaigns(Judges.CROWD, CampaignKind.POINTWISE))
        for answer in self._answers(self._included(judgments), record_schemas.SCALE):
            yield {
                "submission_id": answer["submission"],
                "submitted_at": _milliseconds(next(filter(None, answer["judged_at"]), None)),
                "worker": answer["worker"],
                "query_id": answer["topic"],
                "response": answer["source_id"] or answer["response"] or answer["name"],
                **dict(zip(NAMES, answer["values"], strict=True)),
            }

    def experts(self) -> Iterator[Row]:
        """Yield the experts' votes, including those that the analysis leaves out, as in the published file."""
        judgments = self._judgments.filter(item__campaign__judges=Judges.EXPERT)
        for answer in self._answers(self._first(self._pairs(judgments)), LETTERS):
            clicks = zip(record_schemas.CLICK_NAMES, answer["judged_at"], strict=True)
            times = dict([*clicks, ("submit", answer["submitted_at"])])
            yield {
                "submission_id": answer["submission"],
                "prolific_pid": answer["worker"],
                **_pair(answer),
                **dict(zip(record_schemas.RAW_NAMES, answer["values"], strict=True)),
                "timestamps": {name: [_iso(time)] for name, time in times.items() if time},
                "slide": answer["position"],
            }

    def combined(self) -> Iterator[Row]:
        """Yield models' judgments of all dimensions at once, with justifications."""
        for answer in self._answers(self._of_models(Inference.COMBINED), LETTERS):
            yield _ratings(answer, [numbered for numbered, _ in record_schemas.QUESTIONS.values()])

    def individual(self) -> Iterator[Row]:
        """Yield models' judgments of one dimension at a time, with justifications if there are any."""
        judgments = self._of_models(Inference.INDIVIDUAL, counts=False)
        if judgments.exclude(justification="").exists():
            for answer in self._answers(judgments, LETTERS, counts=False):
                yield _ratings(answer, [named for _, named in record_schemas.QUESTIONS.values()])

    def models(self) -> Iterator[Row]:
        """Yield models' judgments with both prompt types."""
        letters = {value: letter.lower() for value, letter in LETTERS.items()}
        for inference in (Inference.COMBINED, Inference.INDIVIDUAL):
            judgments = self._of_models(inference, counts=inference == Inference.INDIVIDUAL)
            for answer in self._answers(judgments, letters, counts=inference == Inference.INDIVIDUAL):
                values = dict(zip(NAMES, answer["values"], strict=True))
                yield {**_pair(answer), **_judge(answer), "inference": inference.value.lower(), **values}

    def count_others(self) -> None:
        """Count the judgments that are in no file; call this after writing all files."""
        self._leave_out(OTHERS, self._judgments.count() - self._seen)

    def submissions(self) -> Iterator[Row]:
        """Yield the platform's records of submissions."""
        every = PlatformSubmission.objects.filter(campaign__study=self._study)
        withheld = ~Q(Exists(inclusion.timing_of(Participant.objects.filter(pk=OuterRef("participant")))))
        submissions = every.exclude(Q(participant__isnull=False) & withheld)
        self._left_out.add(inclusion.TIMES, every.count() - submissions.count())
        for submission in submissions.select_related("participant").order_by("id").iterator(chunk_size=CHUNK):
            yield {
                "worker": submission.participant.external_id if submission.participant else None,
                "submission": submission.external_id,
                "time_taken": submission.seconds,
                "approvals": submission.approvals,
            }

    def questionnaires(self) -> dict[tuple[str, str], str]:
        """Return the first questionnaire of each of the crowd's pairs."""
        entries = QuestionnaireItem.objects.filter(
            questionnaire__campaign__in=self._campaigns(Judges.CROWD, CampaignKind.PAIRWISE)
        )
        columns = ("item__pair__a__external_id", "item__pair__b__external_id", "questionnaire__external_id")
        names: dict[tuple[str, str], str] = {}
        for a, b, name in entries.order_by("questionnaire_id", "id").values_list(*columns).iterator(chunk_size=CHUNK):
            names.setdefault((a, b), name)
        return names

    def _campaigns(self, judges: str, kind: str) -> "QuerySet[Campaign]":
        return Campaign.objects.filter(study=self._study, judges=judges, kind=kind).order_by().values("pk")  # type: ignore[return-value]

    def _included(self, judgments: "QuerySet[Judgment]") -> "QuerySet[Judgment]":
        return self._keep(judgments, judgments.filter(assignment__is_included=True), EXCLUDED)

    def _first(self, judgments: "QuerySet[Judgment]") -> "QuerySet[Judgment]":
        return self._keep(judgments, judgments.filter(repeat=0), REPEATED)

    def _pairs(self, judgments: "QuerySet[Judgment]", *, counts: bool = True) -> "QuerySet[Judgment]":
        return self._keep(judgments, judgments.filter(item__pair__isnull=False), POINTWISE_OTHERS, counts=counts)

    def _of_models(self, inference: str, *, counts: bool = True) -> "QuerySet[Judgment]":
        judgments = self._judgments.filter(item__campaign__judges=Judges.MODEL, item__campaign__inference=inference)
        return self._pairs(judgments, counts=counts)

    def _keep(
        self, judgments: "QuerySet[Judgment]", kept: "QuerySet[Judgment]", reason: str, *, counts: bool = True
    ) -> "QuerySet[Judgment]":
        """Return `kept`, and count the others as left out."""
        if counts:
            self._leave_out(reason, judgments.count() - kept.count())
        return kept

    def _leave_out(self, reason: str, count: int) -> None:
        self._left_out.add(reason, count)
        self._seen += count

    def _is_released(self, row: Row) -> bool:
        # Pointwise items without a response of the study are released.
        shown = (row["shown_a"], row["shown_b"], row["shown_response"])
        return all(response is None or response in self._released for response in shown)

    def _justification(self, row: Row) -> str:
        return str(row["justification"])

    def _answers(self, judgments: "QuerySet[Judgment]", words: dict[int, Any], *, counts: bool = True) -> Iterator[Row]:
        """Yield answers in vote order: a value for each of the seven dimensions, or None.

        `counts`: count what is left out here, because these judgments are in no other file.
        """
        questionnaire_items = QuestionnaireItem.objects.filter(
            questionnaire=OuterRef("assignment__questionnaire"), item=OuterRef("item")
        )
        order = ("assignment__questionnaire_id", "assignment_id", "repeat", "position", "item_id", "id")
        rows = judgments.annotate(position=Subquery(questionnaire_items.values("position")[:1])).order_by(*order)
        columns = [*_COLUMNS.values(), "position"]
        names = [*_COLUMNS, "position"]
        dicts = (dict(zip(names, row, strict=True)) for row in rows.values_list(*columns).iterator(chunk_size=CHUNK))
        same: Callable[[Row], tuple[Any, ...]] = lambda row: (row["assignment"], row["repeat"], row["item"])  # noqa: E731
        for _key, group in groupby(dicts, key=same):
            judged = {row["dimension"]: row for row in group}
            held = self._layout_answer(judged, words, counts=counts)
            if not held:
                continue
            answer = [held.get(name) for name in NAMES]
            yield next(iter(held.values())) | {
                "values": [words[row["value"]] if row else None for row in answer],
                "justifications": [self._justification(row) if row else "" for row in answer],
                "judged_at": [row["judged_at"] if row else None for row in answer],
            }

    def _layout_answer(self, judged: dict[str, Row], words: dict[int, Any], *, counts: bool) -> dict[str, Row]:
        """Return the part of an answer that fits the layout, by dimension."""
        of_layout = {name: row for name, row in judged.items() if name in NAMES}
        held = {name: row for name, row in of_layout.items() if row["value"] in words}
        is_released = self._is_released(next(iter(judged.values())))
        if counts and not is_released:
            self._leave_out(ON_WITHHELD, len(judged))
        elif counts:
            self._leave_out(OTHER_DIMENSIONS, len(judged) - len(of_layout))
            self._leave_out(OTHER_OPTIONS, len(of_layout) - len(held))
            self._seen += len(held)
        return held if is_released else {}


def as_columns(rows: Iterator[Row]) -> dict[str, dict[str, Any]]:
    """Return rows in the format of the published expert file: column -> {row number: value}."""
    columns: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows):
        for name, value in row.items():
            columns.setdefault(name, {})[str(number)] = value
    return columns


def _pair(answer: Row) -> Row:
    return {"query_id": answer["topic"], "response_a": answer["a"], "response_b": answer["b"]}


def _judge(answer: Row) -> Row:
    """Return the model that judged, if it is not the one in the published corpus."""
    return {} if answer["worker"] == record_schemas.WRITER_MODEL else {"model": answer["worker"]}


def _ratings(answer: Row, questions: Sequence[str]) -> Row:
    ratings: Row = {}
    for question, value, reason in zip(questions, answer["values"], answer["justifications"], strict=True):
        if value is not None:
            ratings |= {f"{question}_rating": value, f"{question}_justification": reason}
    return {**_pair(answer), **_judge(answer), "ratings": ratings}


def _milliseconds(time: datetime | None) -> int | None:
    return None if time is None else (time - EPOCH) // timedelta(milliseconds=1)


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


LABEL_LETTERS = ("A", "N", "B")
CROWD = "crowd"


@dataclass(frozen=True)
class Analysis:
    """A finished analysis and its inputs."""

    run: Run
    inputs: arrays.Inputs

    def as_json(self) -> Row:
        """Return its entry in the manifest."""
        run = self.run
        return {
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
            "code_version": run.code_version,
            "inputs_digest": run.inputs_digest,
            "parameters": run.parameters,
            "seed": run.seed,
            "stale": run.stale_reason or None,
        }


def latest(study: Study) -> Analysis | None:
    """Return the study's latest finished analysis of the crowd's judgments, or None."""
    runs = Run.objects.filter(study=study, kind=ANALYSIS, state=RunState.DONE, snapshot__pool=CROWD)
    run = runs.filter(tables__name="gold", snapshot__judgments__gt=0).select_related("snapshot").newest_first().first()
    return None if run is None else Analysis(run, arrays.unpack(bytes(run.snapshot.payload)))


def rows(analysis: Analysis, questionnaires: dict[tuple[str, str], str], released: set[str]) -> Iterator[Row]:
    """Yield each presented pair of released responses with its votes and labels."""
    taken = analysis.inputs
    pool = taken.main
    gold = _gold(analysis.run)
    spam = {
        (row["participant"], row["dimension"]): row["spam_probability"] for row in _table(analysis.run, "competence")
    }
    # Other pools may use other options for a dimension of the same name.
    dimensions = {n: taken.dimensions[n] for n in np.unique(pool.dimension).tolist()}
    dimensions = {n: dimension for n, dimension in dimensions.items() if dimension.name in NAMES}
    first = np.flatnonzero(pool.first_votes())
    votes: dict[int, list[int]] = defaultdict(list)
    for index in first.tolist():
        votes[int(pool.unit[index])].append(index)
    for unit, (left, right, topic, _item) in enumerate(pool.units):
        if left < 0 or right < 0 or unit not in votes:
            continue
        a, b = taken.responses[left].name, taken.responses[right].name
        if a not in released or b not in released:
            continue
        cast: dict[int, dict[int, int]] = defaultdict(dict)  # dimension -> coder -> answer
        for index in votes[unit]:
            cast[int(pool.dimension[index])][int(pool.coder[index])] = int(pool.value[index])
        who = list(dict.fromkeys(coder for answers_of_coder in cast.values() for coder in answers_of_coder))
        row: Row = {
            "submission_id": questionnaires.get((a, b)),
            "query_id": taken.topics[topic],
            "response_a": a,
            "response_b": b,
            "worker": [pool.participants[coder] for coder in who],
        }
        for n, dimension in dimensions.items():
            answers = [cast[n].get(coder) for coder in who]
            row[f"{dimension.name}_vote"] = [None if answer is None else LABEL_LETTERS[answer] for answer in answers]
            row[f"{dimension.name}_spam_probability"] = [
                spam.get((pool.participants[coder], dimension.name)) for coder in who
            ]
            row |= _labels(dimension, gold.get((a, b, dimension.name)))
        yield row


def _labels(dimension: arrays.Dimension, label: Row | None) -> Row:
    labels = {f"{dimension.name}_p_{letter}": label[f"p_{letter}"] if label else None for letter in "anb"}
    if 0 not in dimension.values:
        del labels[f"{dimension.name}_p_n"]  # this answer was not offered
    return labels | {f"{dimension.name}_gold": label["label"] if label else None}


def _gold(run: Run) -> dict[tuple[str, str, str], Row]:
    return {(row["response_a"], row["response_b"], row["dimension"]): row for row in _table(run, "gold")}


def _table(run: Run, name: str) -> list[Row]:
    table = ResultTable.objects.filter(run=run, name=name).first()
    return table.rows if table else []
