"""API of BERTScores: offered models, estimated work, and starting a run."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.jobs.api import RunRow
from crowdrag.jobs.run_orders.api import NEEDS_TO_START, accepted_response, refusal
from crowdrag.studies.enums import Role

from ..settings import BadParameterError
from . import bertscore_runs, encodings


class EncoderRow(serializers.Serializer[Any]):
    """A model that the operator offers, and what computing with it comes to. It costs no money."""

    model = serializers.CharField(help_text="The name that starts a run with this model.")
    texts = serializers.IntegerField(help_text="Number of distinct texts to compare.")
    missing = serializers.IntegerField(help_text="Number of these that are not encoded yet.")
    seconds = serializers.FloatField(allow_null=True, help_text="Null: unknown.")


class EncodersRow(serializers.Serializer[Any]):
    """The models that are offered, the usual one first."""

    results = EncoderRow(many=True)


class EncoderChoice(RequestBody):
    """With which model."""

    model = serializers.CharField(
        max_length=200, required=False, allow_blank=True, default="", help_text="Default: the usual model."
    )


class Bertscore(Endpoint):
    """BERTScores of the study's responses."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": NEEDS_TO_START}
    serializer_class = EncodersRow

    def get(self, request: Request, study: str) -> Response:
        """Show the models that are offered, and how much each has to do."""
        rows = [
            {"model": str(choice), **vars(bertscore_runs.estimate_encoding(self.study, choice))}
            for choice in encodings.offered_models()
        ]
        return Response(EncodersRow({"results": rows}).data)

    @extend_schema(request=EncoderChoice, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Compute the scores that are missing. Analyses take those that stand."""
        try:
            run = bertscore_runs.start(study=self.study, by=self.user, **self.validated(EncoderChoice))
        except BadParameterError as error:
            raise refusal({"model": [str(error)]}) from None
        except bertscore_runs.NothingToCompareError as error:
            raise Problem("conflict", str(error)) from None
        return accepted_response(self, run)
