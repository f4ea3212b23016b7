"""Endpoints: the local one, tests of an endpoint, and their state."""

from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Avg, Count, F, Max, Q, Sum
from django.utils import timezone

from crowdrag.studies.models import Study

from . import GatewayError, addresses, gateway, ledger
from .client import read_key
from .enums import AttemptState, CallState, Fault
from .models import Attempt, Endpoint
from .retry_policy import RetryPolicy

LOCAL_NAME = "local"
LOCAL_MODEL = "SmolLM2-135M-Instruct"
TRIAL_PROMPT = "Reply with the one word: yes"


class NoLocalServerError(GatewayError):
    """There is no local server for an endpoint."""


def ensure_local(*, url: str | None = None, model: str = LOCAL_MODEL) -> Endpoint:
    """Create or update the endpoint "local": the server that the runtime started. Idempotent.

    Its port may change, and its URL with it; its name, by which its answers are stored, does not.
    """
    url = (settings.LLM_URL if url is None else url).rstrip("/")
    if not url:
        raise NoLocalServerError(
            "There is no local model: set CROWDRAG_LLM_URL to the base URL of an OpenAI-compatible server "
            "(it ends in /v1)."
        )
    addresses.check_url(url, is_local=True)
    fields = {"base_url": url, "model": model}
    fields |= dict.fromkeys(("is_local", "supports_json_schema", "supports_logprobs"), True)
    # Only set at first, since the operator may have changed them.
    first = {"concurrency": 2, "timeout": 600, "max_tokens": 512, "is_allowed": True}
    endpoint, _created = Endpoint.objects.update_or_create(
        name=LOCAL_NAME, defaults=fields, create_defaults={**fields, **first}
    )
    return endpoint


def problems(endpoint: Endpoint) -> list[str]:
    """Return what prevents calls to an endpoint, as far as can be checked without calling it."""
    reasons = [] if endpoint.is_allowed else ["Not allowed."]
    try:
        for url in endpoint.server_urls:
            addresses.check_url(url, is_local=endpoint.is_local)
            read_key(endpoint, url)
    except GatewayError as error:
        reasons.append(str(error))
    return reasons


@dataclass(frozen=True)
class Trial:
    """The result of testing an endpoint."""

    endpoint: Endpoint
    text: str = ""
    error: str = ""
    seconds: float = 0.0


def try_out(*, endpoint: Endpoint) -> Trial:
    """Ask each server of an endpoint for one word, once: an operator's check, which no study pays for.

    Returns the result of the last server, or of the first that fails.
    """
    for url in endpoint.server_urls:
        server = copy(endpoint)
        server.base_url, server.more_urls = url, ""
        trial = _try_server(server)
        if trial.error:
            return replace(trial, error=f"{url}: {trial.error}") if endpoint.more_urls else trial
    return trial


def _try_server(endpoint: Endpoint) -> Trial:
    # Never answered from the store, since the question contains the current time.
    messages = [{"role": "user", "content": f"{TRIAL_PROMPT} ({timezone.now():%Y-%m-%d %H:%M:%S.%f})"}]
    request = gateway.Request(messages=messages, parameters={"max_tokens": 16})
    policy = RetryPolicy(tries=1)
    try:
        [answer] = gateway.complete_many(
            endpoint=endpoint, requests=[request], study=None, purpose="trial", policy=policy
        )
    except GatewayError as error:
        return Trial(endpoint, error=str(error))
    attempt = Attempt.objects.filter(call_id=answer.call).order_by("-number", "id").first()
    seconds = (attempt.latency or 0.0) if attempt else 0.0
    return Trial(endpoint, text=(answer.text or answer.refusal or "").strip(), error=answer.error, seconds=seconds)


def summary(*, now: datetime | None = None) -> dict[str, Any]:
    """Return the operator's overview: each endpoint with what prevents calls to it, and what studies spent."""
    now = now or timezone.now()
    day = Q(attempts__started_at__gte=now - timedelta(days=1))
    alive = Q(attempts__state=AttemptState.INTENDED, attempts__call__claimed_until__gte=now)
    endpoints = Endpoint.objects.annotate(
        sent_today=Count("attempts", filter=day),
        failed_today=Count("attempts", filter=day & ~Q(attempts__fault=Fault.NONE)),
        in_flight=Count("attempts", filter=alive),
        unknown=Count("attempts", filter=Q(attempts__state=AttemptState.UNKNOWN)),
        latency=Avg("attempts__latency", filter=day & Q(attempts__state=AttemptState.ANSWERED)),
        cost=Sum("attempts__cost"),
        last_sent=Max("attempts__started_at"),
    ).order_by("name", "id")
    spends = (
        Study.objects.filter(attempts__isnull=False)
        .annotate(attempts_made=Count("attempts"), cost=Sum("attempts__cost"))
        .order_by("-cost", "id")
    )
    rows = [{"endpoint": endpoint, "problems": problems(endpoint)} for endpoint in endpoints]
    return {"endpoints": rows, "spends": spends, "now": now}


def study_usage(*, study: Study) -> dict[str, Any]:
    """Return a study's calls, a row for each endpoint and purpose, with failures and cost."""
    attempts = Attempt.objects.filter(study=study)
    rows = (
        attempts.values("endpoint__name", "endpoint__model", "currency", purpose=F("call__purpose"))
        .annotate(
            calls=Count("call", distinct=True),
            answered=Count("call", distinct=True, filter=Q(call__state=CallState.ANSWERED)),
            failed=Count("call", distinct=True, filter=Q(call__state=CallState.FAILED)),
            attempts=Count("id"),
            prompt_tokens=Sum("prompt_tokens"),
            completion_tokens=Sum("completion_tokens"),
            latency=Avg("latency", filter=Q(state=AttemptState.ANSWERED)),
            cost=Sum("cost"),
        )
        .order_by("endpoint__name", "purpose")
    )
    failed = attempts.exclude(fault=Fault.NONE)
    counts = failed.values_list("endpoint__name", "fault").annotate(n=Count("id")).order_by("-n", "fault")
    totals, _counter = ledger.audit(study=study)
    return {
        "rows": list(rows),
        "faults": [{"endpoint": name, "fault": Fault(fault), "n": n} for name, fault, n in counts],
        "latest": list(failed.select_related("endpoint").order_by("-started_at", "-id")[:20]),
        "budget": study.llm_budget,
        "currency": study.currency,
        "held": totals.held,
        "settled": totals.settled,
        "left": None if study.llm_budget is None else Decimal(study.llm_budget) - totals.held - totals.settled,
        "unknown": attempts.unsettled().count(),
    }
