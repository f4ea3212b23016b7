"""The number of judgments of campaigns, in all and by answer.

Pages count few judgments and look up many: the sums that the database keeps (`JudgmentSums`), and tallies of answers
that the sweep counts again when these sums have changed.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, OuterRef, Subquery, Sum
from django.utils import timezone

from ..enums import AssignmentState
from ..models import AnswerTally, Assignment, Judgment, JudgmentSums
from .agreement import COUNTED

#: Counting this many judgments by answer takes a fifth of a second, so their tally is kept.
MANY = 100_000
#: They are counted again no sooner than this long, for each judgment, after the last time: counting a judgment takes
#: 2 microseconds, so it takes at most a fiftieth of a processor.
WAIT = timedelta(microseconds=100)
#: Number of judgments by dimension, value, and whether they count in the agreement.
Tally = Counter[tuple[int, int, bool]]


def count_stored(campaigns: Iterable[int]) -> Counter[int]:
    """Return the number of stored judgments of each campaign: kept sums, and those of assignments in progress."""
    keys = list(campaigns)
    counts: Counter[int] = Counter()
    sums = JudgmentSums.objects.filter(campaign__in=keys).values_list("campaign").annotate(n=Sum("stored"))
    live = Assignment.objects.filter(state=AssignmentState.ASSIGNED, questionnaire__campaign__in=keys).order_by()
    # A count for each assignment, so that the database cannot choose to read all judgments.
    stored = Judgment.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    each = live.annotate(n=Subquery(stored.annotate(n=Count("pk")).values("n")))
    for campaign, n in [*sums, *each.values_list("questionnaire__campaign", "n")]:
        counts[campaign] += n or 0
    return counts


def tally(campaign: int) -> Tally:
    """Return the answers of a campaign: counted now, or kept if it has at least `MANY`."""
    mark = _mark(campaign)
    if mark["stored"] < MANY:
        return _count(campaign)
    kept = AnswerTally.objects.filter(campaign=campaign).first()
    return _read(kept) if kept is not None else _keep(campaign, mark, timezone.now())


def refresh_due(*, now: datetime) -> int:
    """Count the answers of large campaigns again whose judgments have changed; return the number of campaigns."""
    sums = JudgmentSums.objects.values("campaign").annotate(n=Sum("stored")).filter(n__gte=MANY)
    kept = {row.campaign_id: row for row in AnswerTally.objects.only("mark", "counted_at")}
    done = 0
    for campaign in sorted(row["campaign"] for row in sums):
        mark, tally = _mark(campaign), kept.get(campaign)
        if tally is None or (mark != tally.mark and now - tally.counted_at >= mark["stored"] * WAIT):
            _keep(campaign, mark, now)
            done += 1
    return done


def _mark(campaign: int) -> dict[str, Any]:
    """Return the sums of a campaign's judgments; whatever changes a tally changes one of them."""
    by = ("state", "is_included")
    rows = JudgmentSums.objects.filter(campaign=campaign).order_by(*by).values_list(*by)
    sums = rows.annotate(n=Sum("stored"), first=Sum("judgments"), answers=Sum("answer_sum"))
    groups = [[state, is_included, n, first, int(answers)] for state, is_included, n, first, answers in sums]
    return {"stored": sum(group[2] for group in groups), "groups": groups}


def _count(campaign: int) -> Tally:
    rows = Judgment.objects.filter(item__campaign=campaign).order_by()
    by = ("dimension", "value", "repeat", "assignment__state", "assignment__is_included")
    counts: Tally = Counter()
    for dimension, value, repeat, state, is_included, n in rows.values_list(*by).annotate(n=Count("pk")):
        counts[dimension, value, state in COUNTED and is_included and repeat == 0] += n
    return counts


def _keep(campaign: int, mark: dict[str, Any], now: datetime) -> Tally:
    counts = _count(campaign)
    rows = [[dimension, value, is_counted, n] for (dimension, value, is_counted), n in sorted(counts.items())]
    # The mark was read before: judgments that arrived since are counted again in the next pass.
    AnswerTally.objects.update_or_create(
        campaign_id=campaign, defaults={"counts": rows, "mark": mark, "counted_at": now}
    )
    return counts


def _read(kept: AnswerTally) -> Tally:
    return Counter({(dimension, value, is_counted): n for dimension, value, is_counted, n in kept.counts})
