"""A response for display: statements in order, each with its cited passages."""

import re
from dataclasses import dataclass

from django.db.models import Prefetch, Sum
from django.db.models.functions import Length

from ..models import Citation, Response, Statement
from .models import ResponseQuerySet

# White space is looked at once: a match begins where a run of it begins.
MARKERS = re.compile(r"(?<!\s)\s*+\[[\d\s,;\u2013-]*+\]")


@dataclass(frozen=True)
class CitedSpan:
    """A span of a response's text and the ranks of the passages that it cites; `rest` follows it, without markers."""

    text: str
    ranks: tuple[int, ...]
    rest: str


def with_statements(responses: ResponseQuerySet) -> ResponseQuerySet:
    """Fetch the statements and citations of a queryset of responses along."""
    citations = Citation.objects.select_related("retrieved").order_by("retrieved__rank", "id")
    statements = Statement.objects.order_by("position", "id").prefetch_related(Prefetch("citations", citations))
    return responses.prefetch_related(Prefetch("statements", statements))


def citation_spans(response: Response) -> list[CitedSpan]:
    """Return a response's statements as spans; needs `with_statements` to be one query and not many."""
    statements = list(response.statements.all())
    ends = [statement.start for statement in statements[1:]] + [len(response.text)] * bool(statements)
    return [
        CitedSpan(
            text=response.text[statement.start : statement.end],
            ranks=tuple(citation.retrieved.rank for citation in statement.citations.all()),
            rest=_without_markers(response.text[statement.end : following]),
        )
        for statement, following in zip(statements, ends, strict=True)
    ]


def _without_markers(between: str) -> str:
    # Between statements stand the markers, which a page shows as links, and what closes the sentence, which it keeps.
    return MARKERS.sub("", between)


@dataclass(frozen=True)
class LogFacts:
    """What a page says of a response's log: how many events, stored in how many bytes."""

    events: int
    stored: int
    source: str


def log_facts(response: Response) -> LogFacts | None:
    """Return the figures of a response's log; None where nothing was logged."""
    log = getattr(response.task, "log", None)
    if log is None:
        return None
    sums = log.batches.aggregate(events=Sum("event_count"), stored=Sum(Length("payload")))
    return LogFacts(events=sums["events"] or 0, stored=sums["stored"] or 0, source=log.get_source_display())
