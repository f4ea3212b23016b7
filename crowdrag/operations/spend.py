"""Budgets for models and spending, by study and endpoint."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.db.models import Avg, Count, F, Q, Sum

from crowdrag.llm.enums import AttemptState, Fault
from crowdrag.llm.models import Attempt
from crowdrag.studies.models import Study

PERIODS: Final = {"day": timedelta(days=1), "month": timedelta(days=30), "all": None}
# From this share on a budget counts as nearly spent.
NEARLY_SPENT: Final = Decimal("0.8")


def list_budgets() -> list[dict[str, Any]]:
    """Return every study with a budget or spending, those nearest to their budget first; one query."""
    studies = Study.objects.filter(Q(llm_budget__isnull=False) | Q(spend__isnull=False)).select_related("spend")
    rows = []
    for study in studies.order_by("slug"):
        spend = getattr(study, "spend", None)
        spent = spend.total if spend else Decimal(0)
        share = spent / study.llm_budget if study.llm_budget else None
        rows.append(
            {
                "study": study,
                "budget": study.llm_budget,
                "spent": spent,
                "held": spend.held if spend else Decimal(0),
                "share": share,
                "is_nearly_spent": share is not None and share >= NEARLY_SPENT,
            }
        )
    return sorted(rows, key=lambda row: row["share"] or Decimal(0), reverse=True)


def spend_by_study_and_endpoint(*, now: datetime, period: str) -> list[dict[str, Any]]:
    """Return each study's calls to each endpoint in a period, and their maximum cost; one query."""
    since = PERIODS[period]
    attempts = Attempt.objects.order_by()
    if since is not None:
        attempts = attempts.filter(started_at__gte=now - since)
    rows: Any = attempts.values("currency", study_slug=F("study__slug"), endpoint_name=F("endpoint__name")).annotate(
        sent=Count("pk"),
        failed=Count("pk", filter=~Q(fault=Fault.NONE)),
        unknown=Count("pk", filter=Q(state=AttemptState.UNKNOWN)),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        latency=Avg("latency"),
        cost=Sum("cost"),
    )
    return list(rows.order_by("-cost", "study_slug", "endpoint_name"))
