"""The operator's admin pages of endpoints, calls and attempts. Keys are never shown."""

import os

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from crowdrag.studies.admin import OfPeople, ReadOnlyAdmin

from . import ledger
from .models import Attempt, Call, Endpoint, StudySpend


@admin.register(Endpoint)
class EndpointAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # Django's class takes no argument
    """Endpoints, which the operator manages."""

    list_display = ("name", "model", "base_url", "has_key", "is_local", "is_allowed", "concurrency", "currency")
    list_filter = ("is_allowed", "is_local", "supports_json_schema", "supports_logprobs")
    search_fields = ("name", "model", "base_url")
    readonly_fields = ("paused_until", "created_at", "changed_at")
    ordering = ("name", "id")

    @admin.display(boolean=True, description="key is set")
    def has_key(self, endpoint: Endpoint) -> bool | None:
        """Whether its variable is set; None if it needs no key."""
        return bool(os.environ.get(endpoint.key_variable)) if endpoint.key_variable else None


@admin.register(Call)
class CallAdmin(OfPeople, ReadOnlyAdmin):
    """Calls, read-only."""

    list_display = (
        "digest", "endpoint", "model", "purpose", "study", "state", "fault", "finish_reason", "cost", "created_at"
    )  # fmt: skip
    list_filter = ("state", "fault", "endpoint", "purpose", "usage_estimated", "study")
    list_select_related = ("endpoint", "study")
    search_fields = ("digest",)
    date_hierarchy = "created_at"
    ordering = ("-created_at", "-id")


@admin.register(Attempt)
class AttemptAdmin(OfPeople, ReadOnlyAdmin):
    """Attempts, read-only; those with an unknown outcome can be settled once the provider's bill is there."""

    list_display = (
        "id", "call", "endpoint", "study", "state", "fault", "http_status", "cost", "currency", "latency", "started_at"
    )  # fmt: skip
    list_filter = ("state", "fault", "endpoint", "study")
    list_select_related = ("endpoint", "study", "call")
    date_hierarchy = "started_at"
    ordering = ("-started_at", "-id")
    actions = ("settle_as_not_billed",)

    @admin.action(description="Settle as not billed", permissions=["view"])
    def settle_as_not_billed(self, request: HttpRequest, chosen: QuerySet[Attempt]) -> None:
        """Release the money held for attempts that the provider did not bill."""
        settled = ledger.settle_unknown(attempts=chosen)
        messages.success(request, f"{settled} attempts with unknown outcome were settled as not billed.")


@admin.register(StudySpend)
class SpendAdmin(ReadOnlyAdmin):
    """Spending of studies, read-only."""

    list_display = ("study", "held", "settled")
    list_select_related = ("study",)
    ordering = ("study__slug", "id")
