"""The files of judging: votes and ratings of the crowd, of experts and of models, and the platform's records."""

from collections.abc import Callable, Container, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotation.domain.defaults import NAMES
from annotation.domain.imports.crowdrag25 import shapes
from annotation.enums import CampaignKind, Inference, Judges
from annotation.models import Campaign, Judgment, PlatformSubmission, QuestionnaireItem
from crowdrag.studies.models import Participant, Study
from writing.models import Response

from . import selecting
from .selecting import LeftOut

CHUNK = 2000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LETTERS = {value: letter for letter, value in shapes.CHOICES.items()}
INCOMPLETE = "answers that lack one of the seven dimensions, or have options that the layout does not know"
EXCLUDED = "crowd's judgments that are excluded from the analysis"
ON_WITHHELD = "judgments of responses that are not released"
OTHER_MODELS = "judgments of further models' campaigns: the layout does not say which model judged"
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


class Judged:
    """Reads the judgments of a study that are released, an answer (all dimensions of one item) at a time."""

    def __init__(self, study: Study, responses: "QuerySet[Response]", left_out: LeftOut) -> None:
        self._study = study
        self._left_out = left_out
        self._judgments = selecting.judgments(study, left_out)
        # Eight bytes and a little more for each, which the database would have to join again and again.
        self._released: Container[int] = frozenset(responses.values_list("pk", flat=True))

    def votes(self) -> Iterator[Row]:
        """Yield the crowd's votes on pairs."""
        found = self._judgments.filter(
            item__campaign__in=self._campaigns(Judges.CROWD, CampaignKind.PAIRWISE), repeat=0
        )
        for answer in self._answers(self._included(found), LETTERS):
            yield {
                "submission_id": answer["submission"],
                "worker": answer["worker"],
                "item_index": answer["position"],
                **_pair(answer),
                **dict(zip(shapes.RAW_NAMES, answer["values"], strict=True)),
            }

    def pointwise(self) -> Iterator[Row]:
        """Yield the crowd's pointwise ratings: a worker's rows of a submission in the order of the items."""
        found = self._judgments.filter(item__campaign__in=self._campaigns(Judges.CROWD, CampaignKind.POINTWISE))
        for answer in self._answers(self._included(found), shapes.SCALE):
            yield {
                "submission_id": answer["submission"],
                "submitted_at": _milliseconds(answer["judged_at"][0]),
                "worker": answer["worker"],
                "query_id": answer["topic"],
                "response": answer["source_id"] or answer["response"] or answer["name"],
                **dict(zip(NAMES, answer["values"], strict=True)),
            }

    def experts(self) -> Iterator[Row]:
        """Yield the experts' votes. Those that the analysis leaves out are there too, as in the published file."""
        found = self._judgments.filter(item__campaign__judges=Judges.EXPERT, item__pair__isnull=False, repeat=0)
        for answer in self._answers(found, LETTERS):
            clicks = zip(shapes.CLICK_NAMES, answer["judged_at"], strict=True)
            times = dict([*clicks, ("submit", answer["submitted_at"])])
            yield {
                "submission_id": answer["submission"],
                "prolific_pid": answer["worker"],
                **_pair(answer),
                **dict(zip(shapes.RAW_NAMES, answer["values"], strict=True)),
                "timestamps": {name: [_iso(time)] for name, time in times.items() if time},
                "slide": answer["position"],
            }

    def models_raw(self) -> Iterator[Row]:
        """Yield a model's judgments of all dimensions at once, with its justifications."""
        for answer in self._answers(self._of_model(Inference.COMBINED, count=True), LETTERS):
            ratings: Row = {}
            for n, (value, reason) in enumerate(zip(answer["values"], answer["justifications"], strict=True), 1):
                ratings |= {f"Q{n}_rating": value, f"Q{n}_justification": reason}
            yield {**_pair(answer), "ratings": ratings}

    def models(self) -> Iterator[Row]:
        """Yield a model's judgments under both inferences."""
        for inference in (Inference.COMBINED, Inference.INDIVIDUAL):
            letters = {value: letter.lower() for value, letter in LETTERS.items()}
            found = self._of_model(inference, count=inference == Inference.INDIVIDUAL)
            for answer in self._answers(found, letters, count=inference == Inference.INDIVIDUAL):
                values = dict(zip(NAMES, answer["values"], strict=True))
                yield {**_pair(answer), "inference": inference.value.lower(), **values}

    def submissions(self) -> Iterator[Row]:
        """Yield the platform's records of submissions."""
        every = PlatformSubmission.objects.filter(campaign__study=self._study)
        withheld = ~Q(Exists(selecting.timing_of(Participant.objects.filter(pk=OuterRef("participant")))))
        found = every.exclude(Q(participant__isnull=False) & withheld)
        self._left_out.add(selecting.TIMES, every.count() - found.count())
        for each in found.select_related("participant").order_by("id").iterator(chunk_size=CHUNK):
            yield {
                "worker": each.participant.external_id if each.participant else None,
                "submission": each.external_id,
                "time_taken": each.seconds,
                "approvals": each.approvals,
            }

    def questionnaires(self) -> dict[tuple[str, str], str]:
        """Return which questionnaire each of the crowd's pairs was first put into."""
        entries = QuestionnaireItem.objects.filter(
            questionnaire__campaign__in=self._campaigns(Judges.CROWD, CampaignKind.PAIRWISE)
        )
        columns = ("item__pair__a__external_id", "item__pair__b__external_id", "questionnaire__external_id")
        found: dict[tuple[str, str], str] = {}
        for a, b, name in entries.order_by("questionnaire_id", "id").values_list(*columns).iterator(chunk_size=CHUNK):
            found.setdefault((a, b), name)
        return found

    def _campaigns(self, judges: str, kind: str) -> "QuerySet[Campaign]":
        return Campaign.objects.filter(study=self._study, judges=judges, kind=kind).order_by().values("pk")  # type: ignore[return-value]

    def _included(self, found: "QuerySet[Judgment]") -> "QuerySet[Judgment]":
        kept = found.filter(assignment__is_included=True)
        self._left_out.add(EXCLUDED, found.count() - kept.count())
        return kept

    def _of_model(self, inference: str, *, count: bool) -> "QuerySet[Judgment]":
        """Return the judgments of the first campaign that asked a model so."""
        found = self._judgments.filter(item__campaign__judges=Judges.MODEL, item__campaign__inference=inference)
        campaigns = Campaign.objects.filter(study=self._study, judges=Judges.MODEL, inference=inference)
        first = campaigns.order_by("id").first()
        kept = found.filter(item__campaign=first, item__pair__isnull=False)
        if count:
            self._left_out.add(OTHER_MODELS, found.count() - kept.count())
        return kept

    def _is_released(self, row: Row) -> bool:
        # A pointwise item that names no response of the study stands for itself.
        shown = (row["shown_a"], row["shown_b"], row["shown_response"])
        return all(response is None or response in self._released for response in shown)

    def _justification(self, row: Row) -> str:
        return str(row["justification"])

    def _answers(self, found: "QuerySet[Judgment]", words: dict[int, Any], *, count: bool = True) -> Iterator[Row]:
        """Yield answers whole in all seven dimensions, in the order in which votes count."""
        place = QuestionnaireItem.objects.filter(
            questionnaire=OuterRef("assignment__questionnaire"), item=OuterRef("item")
        )
        order = ("assignment__questionnaire_id", "assignment_id", "repeat", "position", "item_id", "id")
        rows = found.annotate(position=Subquery(place.values("position")[:1])).order_by(*order)
        columns = [*_COLUMNS.values(), "position"]
        names = [*_COLUMNS, "position"]
        dicts = (dict(zip(names, row, strict=True)) for row in rows.values_list(*columns).iterator(chunk_size=CHUNK))
        same: Callable[[Row], tuple[Any, ...]] = lambda row: (row["assignment"], row["repeat"], row["item"])  # noqa: E731
        for _key, group in groupby(dicts, key=same):
            judged = {row["dimension"]: row for row in group}
            if not self._is_released(next(iter(judged.values()))):
                self._left_out.add(ON_WITHHELD, len(judged) if count else 0)
                continue
            ordered = [judged[name] for name in NAMES if name in judged and judged[name]["value"] in words]
            if len(ordered) < len(NAMES):
                self._left_out.add(INCOMPLETE, len(judged) if count else 0)
                continue
            yield ordered[0] | {
                "values": [words[row["value"]] for row in ordered],
                "justifications": [self._justification(row) for row in ordered],
                "judged_at": [row["judged_at"] for row in ordered],
            }


def as_columns(rows: Iterator[Row]) -> dict[str, dict[str, Any]]:
    """Return rows as the published file of the experts holds them: column -> {row number: value}."""
    found: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows):
        for name, value in row.items():
            found.setdefault(name, {})[str(number)] = value
    return found


def _pair(answer: Row) -> Row:
    return {"query_id": answer["topic"], "response_a": answer["a"], "response_b": answer["b"]}


def _milliseconds(time: datetime | None) -> int | None:
    return None if time is None else (time - EPOCH) // timedelta(milliseconds=1)


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
