"""What a finished run says of itself before its tables are read: what was refused or not to be read, what is empty."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext as _

from analysis.rag.shapes import Usage
from crowdrag.jobs.models import Run

from ..results.schema import Row

#: Of a run's summary: replies that came and hold no answer that could be read, that these are all that came, that the
#: headline table is empty, of how many questions its numbers are where these are few, and that uplift RAG never
#: handed a document over.
UNREADABLE, NONE_READ, EMPTY, FEW, BARE = "unreadable", "none_read", "empty", "few", "bare"
#: Resampled, fewer than so many give intervals that are too narrow to lean on.
ENOUGH = 10


def summary(made: Mapping[str, Sequence[Row]], headline: str, usage: Usage) -> dict[str, Any]:
    """What the summary of a run says of its tables and of what was asked for them."""
    found: dict[str, Any] = {"usage": asdict(usage)}
    counted = [row for rows in made.values() for row in rows if row.get(UNREADABLE)]
    if counted:
        found[UNREADABLE] = sum(row[UNREADABLE] for row in counted)
        found[NONE_READ] = all(row[UNREADABLE] + row.get("failed", 0) == row.get("prompts") for row in counted)
    if headline in made and not any(row.get("n", 1) for row in made[headline]):
        found[EMPTY] = True
    if any(row["method"] == "uplift" and row["documents"] == 0 for row in made.get("uplift_inputs", ())):
        found[BARE] = True
    if 0 < (questions := _questions(made, headline)) < ENOUGH:
        found[FEW] = questions
    return found


def _questions(made: Mapping[str, Sequence[Row]], headline: str) -> int:
    """Of how many questions the numbers are at most: these are resampled, however often each was measured."""
    by_query = [len({row["query"] for row in rows}) for rows in made.values() if rows and "query" in rows[0]]
    rows = made.get(headline) or [row for each in made.values() for row in each if "questions" in row]
    of_rows = max((row.get("questions", row.get("n")) or 0 for row in rows), default=0)
    return min(of_rows, max(by_query)) if by_query else of_rows


def warnings(run: Run) -> list[str]:
    """What whoever reads the result has to know first: that nobody answered, that nothing could be measured."""
    usage = run.summary.get("usage") or {}
    asked, failed = usage.get("calls", 0) + usage.get("stored", 0), usage.get("failed", 0)
    found = []
    if asked and failed >= asked:
        said = _("The model refused or failed to answer every prompt (%(n)s): what stands here says nothing about it.")
        found.append(said % {"n": f"{failed:,}"})
    elif run.summary.get(NONE_READ):
        said = _("None of the model's replies (%(n)s) could be read as an answer: all of them count as wrong.")
        found.append(said % {"n": f"{run.summary[UNREADABLE]:,}"})
    if run.summary.get(EMPTY):
        found.append(_("No question was left to measure, so the tables are empty; why each fell out stands below."))
    if run.summary.get(BARE):
        said = _(
            "Uplift RAG handed over no document: to its rerankers none was likelier than %(threshold)s to help. The "
            "table of what stands ahead says whether they rank better than the retriever; if so, that of thresholds "
            "what lower ones would hand over."
        )
        found.append(said % {"threshold": f"{run.parameters.get('threshold', 0.5):g}"})
    if run.summary.get(FEW):
        said = _("No number here is of more than %(n)s questions: intervals by resampling so few are too narrow.")
        found.append(said % {"n": run.summary[FEW]})
    return found


def losses(run: Run) -> list[str]:
    """How many prompts have no answer, and how many replies could not be read; nothing where there are none."""
    found = []
    if failed := (run.summary.get("usage") or {}).get("failed", 0):
        found.append(_("%(n)s refused or failed") % {"n": f"{failed:,}"})
    if unreadable := run.summary.get(UNREADABLE, 0):
        found.append(_("%(n)s replies not to be read") % {"n": f"{unreadable:,}"})
    return found
