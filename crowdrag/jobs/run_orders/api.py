"""Endpoints that order a run: first the estimate, then the start."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.llm.forecasts import Forecast
from crowdrag.llm.models import Endpoint as Model
from crowdrag.studies.enums import Role

from ..api import RunRow
from ..kinds import InputRejectedError
from ..models import Run
from .types import AnyOrder, Order, OrderForm

NEEDS_TO_START = Need(Role.EDITOR, Scope.RUN)
LONGEST_PROMPT = 50_000


class ModelOrderFields(RequestBody):
    """The model, its prompt and its sampling parameters."""

    endpoint = serializers.CharField(max_length=100, help_text="Name of an available model.")
    prompt = serializers.CharField(
        max_length=LONGEST_PROMPT, required=False, allow_blank=True, default="",
        help_text="Empty: the last prompt used. A different prompt is saved as a new version, and its answers count as "
        "those of a new judge or writer.",
    )  # fmt: skip
    max_tokens = serializers.IntegerField(
        min_value=16,
        max_value=1_000_000,
        required=False,
        allow_null=True,
        default=None,
        help_text="Maximum number of tokens per answer. Null: the server's default.",
    )


class OfCalls(serializers.Serializer[Any]):
    """An estimate of the maximum size and cost, before any call."""

    wanted = serializers.IntegerField(help_text="Number of responses to write or items to judge.")
    calls = serializers.IntegerField(source="estimate.requests")
    stored = serializers.IntegerField(
        source="estimate.stored", help_text="Number of calls whose answers are already stored. They cost nothing."
    )
    sampled = serializers.IntegerField(
        allow_null=True, help_text=("Number of calls that the estimate is based on. Null: all calls.")
    )
    prompt_tokens = serializers.IntegerField(source="estimate.prompt_tokens")
    completion_tokens = serializers.IntegerField(source="estimate.completion_tokens")
    cost = serializers.FloatField(source="estimate.cost", help_text="Maximum cost, in minor units of `currency`.")
    currency = serializers.CharField(source="estimate.currency")
    left = serializers.FloatField(
        allow_null=True,
        help_text="Remaining budget of the study, in minor units of `currency`. Null: the model is free.",
    )
    is_over_budget = serializers.BooleanField()
    seconds = serializers.FloatField(allow_null=True, help_text="Expected duration in seconds. Null: unknown.")
    problem = serializers.CharField(help_text="Reason why the run cannot start. Empty if it can.")
    order = serializers.CharField(help_text="Identifies the estimated settings. Equal values mean identical settings.")
    prompts = serializers.ListField(child=serializers.CharField(), help_text="The exact text of the first call.")


class Confirmed(serializers.Serializer[Any]):
    """The estimate that a started run refers to."""

    order = serializers.CharField(
        max_length=100, required=False, allow_blank=True, default="",
        help_text="The `order` of the estimate. If set, the run starts only if it matches the estimate.",
    )  # fmt: skip


class OrderEndpoint(Endpoint):
    """Something that an order is sent to."""

    needs = {"POST": NEEDS_TO_START}

    def model(self, name: str) -> int:
        """Return the key of the model of this name that the operator allowed."""
        pk = Model.objects.allowed().filter(name=name).values_list("pk", flat=True).first()
        if pk is None:
            names = Model.objects.allowed().order_by("name").values_list("name", flat=True)
            raise refusal(
                {"endpoint": ["This choice is not available. Choose one of: {names}.".format(names=", ".join(names))]}
            )
        return pk

    def ordered(self, form: OrderForm[AnyOrder], fields: Mapping[str, str] | None = None) -> AnyOrder:
        """Return what a form orders; `fields` says which field of the request another name in the form is."""
        if not form.is_valid():
            raise refusal({(fields or {}).get(field, field): list(errors) for field, errors in form.errors.items()})
        with transaction.atomic():
            return form.order(now=timezone.now())

    def estimated(self, order: Order, forecast: Forecast, prompts: tuple[str, ...] = ()) -> Response:
        """Answer with the estimate of an order."""
        names = ("wanted", "estimate", "sampled", "left", "is_over_budget", "seconds", "problem")
        fields = {name: getattr(forecast, name) for name in names}
        return Response(OfCalls(fields | {"order": order.digest, "prompts": prompts}).data)

    def started(self, order: AnyOrder, estimated_digest: str, start: Callable[[AnyOrder], Run]) -> Response:
        """Start an order, if it is the one that was estimated, and answer with its run."""
        if estimated_digest and estimated_digest != order.digest:
            message = "The settings differ from the estimate. Request a new estimate and send its `order`."
            raise refusal({"order": [message]})
        try:
            run = start(order)
        except InputRejectedError as error:
            first = error.problems[0]
            raise refusal({str(first.get("field", "")): [str(first["message"])]}) from None
        return accepted_response(self, run)


def accepted_response(endpoint: Endpoint, run: Run) -> Response:
    """Answer that a run was started, and where it is."""
    where = endpoint.request.build_absolute_uri(reverse("api_run", args=[endpoint.study.slug, run.key]))
    shown = RunRow(Run.objects.with_unit_counts().get(pk=run.pk)).data
    return Response(shown, status=202, headers={"Location": where})


def refusal(fields: Mapping[str, list[str]]) -> Problem:
    """Return the problem that these fields of an order are refused, each for its reasons."""
    errors = [
        {"pointer": f"#/{field}" if field.strip("_") not in ("", "all") else "#", "detail": message, "code": "refused"}
        for field, messages in fields.items()
        for message in messages
    ]
    return Problem("refused", " ".join(error["detail"] for error in errors), errors=errors)
