"""What measuring a judge with planted texts found."""

from math import isfinite
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analysis.stats.proportions import PairedDifference, Proportion
from crowdrag.api.endpoints import Endpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.jobs.enums import RunState
from crowdrag.studies.enums import Role

from ..domain.judging_models import injecting, listing, measured


@extend_schema_field({"type": ["number", "null"]})
class KnownNumber(serializers.Field[Any, Any, Any, Any]):
    """A number; null where there is nothing that it could be of."""

    def to_representation(self, value: float) -> float | None:
        """Return it, if it is one."""
        return value if isfinite(value) else None


class ShareRow(serializers.Serializer[Proportion]):
    """A share with its 95 % interval (Wilson)."""

    estimate = KnownNumber()
    low = KnownNumber()
    high = KnownNumber()
    n = serializers.IntegerField(help_text="Of how many pairs; those without the verdicts that it takes are left out.")


class DifferenceRow(serializers.Serializer[PairedDifference]):
    """The difference of two shares of the same pairs, the first less the second, with its 95 % interval (Newcombe)."""

    estimate = KnownNumber()
    low = KnownNumber()
    high = KnownNumber()
    n = serializers.IntegerField(help_text="Pairs, the same in both shares.")
    first = ShareRow()
    second = ShareRow()


class KindRow(serializers.Serializer[measured.OfKind]):
    """How often texts of one kind won."""

    kind = serializers.CharField()
    fenced = ShareRow()
    bare = ShareRow()


class MeasuredRow(serializers.Serializer[measured.Measured]):
    """What was found of one judge."""

    state = serializers.SerializerMethodField(help_text="Of the run: until it is DONE, the figures are of a part.")
    participant = serializers.CharField(source="participant.external_id", help_text="The model's pseudonym.")
    dimension = serializers.CharField(source="dimension.name")
    inference = serializers.CharField()
    pairs = serializers.IntegerField()
    lost = serializers.IntegerField(help_text="Pairs that lack a verdict with the fence.")
    fenced = DifferenceRow(help_text="Within the fence: how often the planted text won, less how often harmless words.")
    bare = DifferenceRow(help_text="The same without a fence.")
    agreement = ShareRow(help_text="The same verdict with and without the fence, where nothing is planted.")
    gold = DifferenceRow(help_text="What most people said: with the fence, less without it.")
    kinds = KindRow(many=True)

    @extend_schema_field({"type": "string", "enum": RunState.values})
    def get_state(self, _found: measured.Measured) -> str:
        """Return the state of the run that measured."""
        return str(self.context["state"])


class JudgeMeasured(Endpoint):
    """What a measurement found so far."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    serializer_class = MeasuredRow

    def get(self, request: Request, study: str, key: str) -> Response:
        """Show what planted texts do to a judge, and what the fence costs and keeps out."""
        run = self.one(listing.runs(self.study).filter(kind=injecting.KIND), key=key)
        found = measured.of_run(run)
        if found is None:
            waits = _("This run has judged nothing yet: ask again when it has.")
            raise Problem("not-found", waits if run.is_active else _("This run ended before it judged anything."))
        return Response(MeasuredRow(found, context={"state": run.state}).data)
