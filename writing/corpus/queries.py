"""Queries of responses for display: lists, and single responses with their statements and cited passages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Prefetch, Q, QuerySet, Sum, TextChoices
from django.db.models.functions import Length
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements
from crowdrag.studies.models import Study

from ..enums import Origin, TaskState
from ..models import Citation, Response, Statement, Style, WritingTask
from .models import ResponseQuerySet

NUMBERS = re.compile(r"[0-9]+")
# A match begins at the start of a run of white space, so that each run is scanned only once.
MARKERS = re.compile(r"(?<!\s)\s*+\[[\d\s,;\u2013-]*+\]")


@dataclass(frozen=True)
class CitedSpan:
    """A span of a response's text, the ranks of the cited passages, and the text after it without markers (`rest`).

    `unmatched` are the numbers in its marker that match no passage: judges see them too.
    """

    text: str
    ranks: tuple[int, ...]
    rest: str
    unmatched: tuple[str, ...] = ()


def with_statements(responses: ResponseQuerySet) -> ResponseQuerySet:
    """Prefetch the statements and citations of responses."""
    citations = Citation.objects.select_related("retrieved").order_by("retrieved__rank", "id")
    statements = Statement.objects.order_by("position", "id").prefetch_related(Prefetch("citations", citations))
    return responses.prefetch_related(Prefetch("statements", statements))


def citation_spans(response: Response) -> list[CitedSpan]:
    """Return a response's statements as spans. Use `with_statements` first to avoid a query for each statement."""
    statements = list(response.statements.all())
    ends = [statement.start for statement in statements[1:]] + [len(response.text)] * bool(statements)
    spans = []
    for statement, following in zip(statements, ends, strict=True):
        ranks = tuple(citation.retrieved.rank for citation in statement.citations.all())
        between = response.text[statement.end : following]
        text = response.text[statement.start : statement.end]
        spans.append(CitedSpan(text, ranks, _without_markers(between), _unmatched(between, ranks)))
    return spans


def _unmatched(between: str, ranks: tuple[int, ...]) -> tuple[str, ...]:
    known = {str(rank) for rank in ranks}
    numbers = (number for marker in MARKERS.findall(between) for number in NUMBERS.findall(marker))
    return tuple(dict.fromkeys(number for number in numbers if (number.lstrip("0") or "0") not in known))


def _without_markers(between: str) -> str:
    # Pages show the markers as links, but keep the punctuation that ends the sentence.
    return MARKERS.sub("", between)


@dataclass(frozen=True)
class LogFacts:
    """The size of a response's writing log: number of events and stored bytes."""

    events: int
    stored: int
    source: str


def log_facts(response: Response) -> LogFacts | None:
    """Return the size of a response's log; None if nothing was logged."""
    log = getattr(response.task, "log", None)
    if log is None:
        return None
    sums = log.batches.aggregate(events=Sum("event_count"), stored=Sum(Length("payload")))
    return LogFacts(events=sums["events"] or 0, stored=sums["stored"] or 0, source=log.get_source_display())


class ResponseStatus(TextChoices):
    """The status of a response in researchers' lists."""

    INCLUDED = "included", "Included"
    WAITING = "waiting", "Awaiting review"
    REVISION = "revision", "Revision requested"
    EXCLUDED = "excluded", "Excluded"
    ERASED = "erased", "Erased"


_ERASED: Final = Q(erased_at__isnull=False)
_WAITING: Final = ~_ERASED & Q(task__state=TaskState.SUBMITTED, task__is_imported=False)
_REVISION: Final = ~_ERASED & Q(task__state=TaskState.REVISION, task__is_imported=False)
_UNDECIDED: Final = (TaskState.SUBMITTED, TaskState.REVISION)
_SETTLED: Final = ~_ERASED & (Q(task__isnull=True) | Q(task__is_imported=True) | ~Q(task__state__in=_UNDECIDED))
_STATUSES: Final[Mapping[str, Q]] = {
    ResponseStatus.INCLUDED: _SETTLED & Q(is_included=True),
    ResponseStatus.WAITING: _WAITING,
    ResponseStatus.REVISION: _REVISION,
    ResponseStatus.EXCLUDED: _SETTLED & Q(is_included=False),
    ResponseStatus.ERASED: _ERASED,
}
#: The sort orders of the list by their name in the URL.
SORTS: Final[Mapping[str, tuple[str, ...]]] = {
    "topic": ("topic__query", "style__name", "id"),
    "words": ("words", "id"),
}


def status(response: Response) -> ResponseStatus:
    """Return the status of a response; its task should be fetched with it."""
    task = response.task
    if response.erased_at is not None:
        return ResponseStatus.ERASED
    if task is not None and not task.is_imported and task.state in _UNDECIDED:
        return ResponseStatus.WAITING if task.state == TaskState.SUBMITTED else ResponseStatus.REVISION
    return ResponseStatus.INCLUDED if response.is_included else ResponseStatus.EXCLUDED


@dataclass(frozen=True)
class ResponseFilter:
    """Filter of a list of responses; empty fields match all."""

    words: str = ""
    system: str = ""
    style: str = ""
    origin: str = ""
    status: str = ""


@dataclass(frozen=True)
class ResponseChoices:
    """The filter choices of a study: names and labels of styles, and names of systems and models."""

    styles: list[tuple[str, str]]
    systems: list[str]


def response_choices(study: Study) -> ResponseChoices:
    """Return the filter choices for a study's responses."""
    responses = Response.objects.filter(study=study)
    styles = Style.objects.filter(pk__in=responses.values("style")).order_by("name", "version")
    systems = responses.exclude(origin=Origin.HUMAN).order_by("participant__external_id")
    return ResponseChoices(
        styles=list(dict(styles.values_list("name", "label")).items()),
        systems=list(systems.values_list("participant__external_id", flat=True).distinct()),
    )


def list_responses(study: Study, filters: ResponseFilter, sort: str = "") -> QuerySet[Response]:
    """Return the responses of a study that match a filter, with all fields of the list; sorted by topic by default."""
    responses = Response.objects.filter(study=study)
    if filters.words:
        responses = responses.filter(
            Q(topic__query__icontains=filters.words)
            | Q(topic__external_id__icontains=filters.words)
            | Q(participant__external_id__icontains=filters.words)
            | Q(text__icontains=filters.words)
            | Q(external_id=filters.words)
        )
    if filters.system:
        responses = responses.filter(participant__external_id=filters.system).exclude(origin=Origin.HUMAN)
    if filters.style:
        responses = responses.filter(style__name=filters.style)
    if filters.origin:
        responses = responses.filter(origin=filters.origin)
    if filters.status:
        responses = responses.filter(_STATUSES[filters.status])
    order = SORTS.get(sort.removeprefix("-"), SORTS["topic"])
    responses = responses.order_by(*(f"-{name}" for name in order) if sort.startswith("-") else order)
    return responses.with_people().select_related("task").defer("text", "style__instructions", "topic__narrative")


def response_versions(responses: Iterable[Response]) -> dict[int, int]:
    """Return the version of each response by its key: a revision has the version of the revised response plus one.

    Takes one query for each step of the longest chain of revisions.
    """
    lines = {response.pk: response.task.revises_id if response.task else None for response in responses}
    versions = dict.fromkeys(lines, 1)
    while earlier := {key for key in lines.values() if key is not None}:
        revised = dict(WritingTask.objects.filter(pk__in=earlier).values_list("pk", "revises_id"))
        for pk, key in lines.items():
            if key is not None:
                versions[pk] += 1
                lines[pk] = revised.get(key)
    return versions


_SIDEBAR_COUNTS = """
    SELECT (SELECT count(DISTINCT external_id) FROM writing_topic WHERE study_id = %(study)s),
           (SELECT count(*) FROM writing_response WHERE study_id = %(study)s AND erased_at IS NULL)
"""


def sidebar_counts(study: Study) -> dict[str, int]:
    """Return the numbers of topics and unerased responses for the sidebar of each page; one prepared statement."""
    counted = prepared_statements.row(_SIDEBAR_COUNTS, {"study": Int8(study.pk)})
    assert counted is not None
    return {"topics": counted[0], "responses": counted[1]}
