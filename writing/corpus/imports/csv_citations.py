"""Whether the citations of a CSV file match its passages, before it is imported, and which cell rules fit best."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import Count

from analysis.text import statements
from crowdrag.studies.models import Study

from ...models import Topic
from . import csv_files
from .csv_files import CellRules
from .problems import BadInput, Problems
from .sources import Member

#: Only the first rows of a long file are checked: the page must open quickly.
CHECKED_ROWS: Final = 1000


@dataclass(frozen=True)
class CitationFit:
    """How many citations there are, how many match no passage, and whether any question has passages."""

    citations: int
    unmatched: int
    passages: int
    has_zero: bool


@dataclass(frozen=True)
class CitationCheck:
    """The fit of all rules, the chosen ones, and those that fit best."""

    fits: Mapping[CellRules, CitationFit]
    chosen: CellRules
    best: CellRules

    @property
    def fit(self) -> CitationFit:
        """The fit of the chosen rules."""
        return self.fits[self.chosen]

    @property
    def suggests_from_one(self) -> bool:
        """Whether fewer citations are lost if markers count from 1."""
        return self.best.from_one and not self.chosen.from_one

    @property
    def suggests_lines(self) -> bool:
        """Whether fewer citations are lost if each line of a cell is a passage."""
        return self.best.passage_lines and not self.chosen.passage_lines


def check(*, study: Study, member: Member, roles: Mapping[str, str], rules: CellRules) -> CitationCheck | None:
    """Check the first rows of a file; None if they cannot be read with these roles."""
    stored = _stored_passages(study)
    fits: dict[CellRules, CitationFit] = {}
    # From the simplest rules to others: of two that fit equally well, the first is the best.
    for passage_lines in (False, True):
        each = replace(rules, from_one=False, passage_lines=passage_lines)
        try:
            content = csv_files.read(member, Problems(), roles=roles, rules=each, limit=CHECKED_ROWS)
        except BadInput:
            return None
        for from_one in (False, True):
            fits[replace(each, from_one=from_one)] = _fit(content, stored, from_one=from_one)
    possible = [each for each, fit in fits.items() if not (each.from_one and fit.has_zero)]
    return CitationCheck(fits, rules, min(possible, key=lambda each: fits[each].unmatched))


def _fit(content: csv_files.CsvContent, stored: Mapping[str, int], *, from_one: bool) -> CitationFit:
    counts = {
        topic.external_id: len(topic.passages) or stored.get(topic.external_id, stored.get(topic.query, 0))
        for topic in content.topics
    }
    citations = unmatched = 0
    has_zero = False
    for response in content.responses:
        text, passages = response.text or "", counts.get(response.topic, stored.get(response.topic, 0))
        has_zero = has_zero or statements.parse(text, passages=1).citations > 0
        # Counted from 1, a marker is in the list if its number is at most the number of passages.
        below = statements.parse(text, passages=passages + from_one)
        citations += below.citations + below.repeated + below.dropped
        unmatched += below.dropped
    return CitationFit(citations, unmatched, sum(counts.values()) or sum(stored.values()), has_zero)


def _stored_passages(study: Study) -> dict[str, int]:
    """Return the number of passages of the study's questions, by ID and by text."""
    topics = Topic.objects.filter(study=study).current().annotate(n=Count("retrieved"))
    rows = list(topics.values_list("external_id", "query", "n"))
    return {query: n for _id, query, n in rows} | {external_id: n for external_id, _query, n in rows}
