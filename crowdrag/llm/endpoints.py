"""Endpoints: the local one, trying one out, and how each is doing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Avg, Count, F, Max, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from crowdrag.studies.models import Study

from . import addresses, gateway, ledger
from .client import read_key
from .enums import AttemptState, CallState, Fault
from .errors import GatewayError
from .models import Attempt, Endpoint
from .retry_policy import RetryPolicy

LOCAL_NAME = "local"
LOCAL_MODEL = "SmolLM2-135M-Instruct"
TRIAL_PROMPT = "Reply with the one word: yes"


class NoLocalServerError(GatewayError):
    """There is no local server to make an endpoint of."""


def ensure_local(
    *, url: str | None = None, model: str = LOCAL_MODEL, concurrency: int = 2, timeout: int = 600
) -> Endpoint:
    """Make the endpoint "local", or bring it up to date: the server that the runtime started. May be run again.

    Its address changes with the port; its name, by which its answers are stored, does not.
    """
    url = (settings.LLM_URL if url is None else url).rstrip("/")
    if not url:
        raise NoLocalServerError(
            _(
                "There is no local model: set CROWDRAG_LLM_URL to the base URL of an OpenAI-compatible server "
                "(it ends in /v1)."
            )
        )
    addresses.check_url(url, is_local=True)
    fields = {
        "base_url": url,
        "model": model,
        "is_local": True,
        "supports_json_schema": True,
        "supports_logprobs": True,
    }
    # What the operator may have changed since is only set at first.
    first = {"concurrency": concurrency, "timeout": timeout, "max_tokens": 512, "is_allowed": True}
    endpoint, _created = Endpoint.objects.update_or_create(
        name=LOCAL_NAME, defaults=fields, create_defaults={**fields, **first}
    )
    return endpoint


def problems(endpoint: Endpoint) -> list[str]:
    """Return what keeps an endpoint from being asked, as far as can be said without asking it."""
    messages = []
    if not endpoint.is_allowed:
        messages.append(_("Not allowed."))
    try:
        addresses.check_url(endpoint.base_url, is_local=endpoint.is_local)
        read_key(endpoint)
    except GatewayError as error:
        messages.append(str(error))
    return messages


@dataclass(frozen=True)
class Trial:
    """What came of trying an endpoint out."""

    endpoint: Endpoint
    text: str = ""
    error: str = ""
    seconds: float = 0.0


def try_out(
    *,
    endpoint: Endpoint,
    now: datetime | None = None,
    resolver: addresses.Resolver = addresses.system_resolver,
) -> Trial:
    """Ask an endpoint for one word, once, and say what came of it: an operator's check, which no study pays."""
    now = now or timezone.now()
    # Never from the store, so the question holds the moment.
    messages = [{"role": "user", "content": f"{TRIAL_PROMPT} ({now:%Y-%m-%d %H:%M:%S.%f})"}]
    request = gateway.Request(messages=messages, parameters={"max_tokens": 16})
    try:
        answer = gateway.complete_many(
            endpoint=endpoint,
            requests=[request],
            study=None,
            purpose="trial",
            policy=RetryPolicy(tries=1),
            resolver=resolver,
        )[0]
    except GatewayError as error:
        return Trial(endpoint, error=str(error))
    attempt = Attempt.objects.filter(call_id=answer.call).order_by("-number", "id").first()
    seconds = (attempt.latency or 0.0) if attempt else 0.0
    return Trial(endpoint, text=(answer.text or answer.refusal or "").strip(), error=answer.error, seconds=seconds)


def overview(*, now: datetime | None = None) -> QuerySet[Endpoint]:
    """Return all endpoints with how they are doing: calls, failures of the last day, latency, cost, in flight."""
    now = now or timezone.now()
    day = Q(attempts__started_at__gte=now - timedelta(days=1))
    alive = Q(attempts__state=AttemptState.INTENDED, attempts__call__claimed_until__gte=now)
    return Endpoint.objects.annotate(
        sent=Count("attempts"),
        sent_today=Count("attempts", filter=day),
        failed_today=Count("attempts", filter=day & ~Q(attempts__fault=Fault.NONE)),
        in_flight=Count("attempts", filter=alive),
        unknown=Count("attempts", filter=Q(attempts__state=AttemptState.UNKNOWN)),
        latency=Avg("attempts__latency", filter=day),
        cost=Sum("attempts__cost"),
        last_sent=Max("attempts__started_at"),
    ).order_by("name", "id")


@dataclass(frozen=True)
class StudyUsage:
    """What a study asked of models: one row an endpoint and purpose, and its money."""

    rows: Sequence[Mapping[str, Any]]
    faults: list[dict[str, Any]]
    latest: list[Attempt]
    budget: int | None
    currency: str
    held: Decimal
    settled: Decimal
    unknown: int

    @property
    def left(self) -> Decimal | None:
        """What is left of the budget."""
        return None if self.budget is None else Decimal(self.budget) - self.held - self.settled

    @property
    def spent(self) -> Decimal:
        """What is spent at most."""
        return self.held + self.settled


def study_usage(*, study: Study) -> StudyUsage:
    """Return what a study asked of models and what it cost."""
    attempts = Attempt.objects.filter(study=study)
    rows = list(
        attempts.values("endpoint__name", "endpoint__model", "currency", purpose=F("call__purpose"))
        .annotate(
            calls=Count("call", distinct=True),
            answered=Count("call", distinct=True, filter=Q(call__state=CallState.ANSWERED)),
            failed=Count("call", distinct=True, filter=Q(call__state=CallState.FAILED)),
            attempts=Count("id"),
            prompt_tokens=Sum("prompt_tokens"),
            completion_tokens=Sum("completion_tokens"),
            estimated=Count("id", filter=Q(usage_estimated=True)),
            latency=Avg("latency"),
            cost=Sum("cost"),
        )
        .order_by("endpoint__name", "purpose")
    )
    failed = attempts.failed().select_related("endpoint").order_by("-started_at", "-id")[:20]
    counted = attempts.failed().values_list("endpoint__name", "fault").annotate(n=Count("id")).order_by("-n", "fault")
    faults = [{"endpoint": name, "fault": Fault(fault), "n": n} for name, fault, n in counted]
    totals, _counter = ledger.audit(study=study)
    return StudyUsage(
        rows,
        faults,
        list(failed),
        budget=study.llm_budget,
        currency=study.currency,
        held=totals.held,
        settled=totals.settled,
        unknown=attempts.unsettled().count(),
    )


def summary(*, now: datetime | None = None) -> dict[str, Any]:
    """Return what the operator sees: each endpoint with what keeps it from being asked, and what studies spent."""
    now = now or timezone.now()
    spends = (
        Study.objects.filter(attempts__isnull=False)
        .annotate(attempts_made=Count("attempts"), cost=Sum("attempts__cost"))
        .order_by("-cost", "id")
    )
    listed = [{"endpoint": endpoint, "problems": problems(endpoint)} for endpoint in overview(now=now)]
    return {"endpoints": listed, "spends": spends, "now": now}
