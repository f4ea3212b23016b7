"""API of BERTScores: offered models, estimated work, and starting a run."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.jobs.api import RunRow
from crowdrag.jobs.run_orders.api import NEEDS_TO_START, accepted_response, refusal
from crowdrag.studies.enums import Role

from ..settings import BadParameterError
from . import bertscore_runs, encodings


class EncoderRow(serializers.Serializer[Any]):
    """A model for BERTScore, and how much it has to compute. It costs no money."""

    model = serializers.CharField(help_text="Name of the model. Use it to start a run.")
    texts = serializers.IntegerField(help_text="Number of distinct texts to compare.")
    missing = serializers.IntegerField(help_text="Number of these texts that are not encoded yet.")
    seconds = serializers.FloatField(allow_null=True, help_text="Expected duration in seconds. Null: unknown.")


class EncodersRow(serializers.Serializer[Any]):
    """The available models, the default first."""

    results = EncoderRow(many=True)


class EncoderChoice(RequestBody):
    """The model to compute with."""

    model = serializers.CharField(
        max_length=200,
        required=False,
        allow_blank=True,
        default="",
        help_text="Name of an available model. Omitted: the default model.",
    )


class Bertscore(Endpoint):
    """BERTScores of the study's responses."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": NEEDS_TO_START}
    serializer_class = EncodersRow

    def get(self, request: Request, study: str) -> Response:
        """List the available models, and how many texts and comparisons each has to compute."""
        rows = [
            {"model": str(choice), **vars(bertscore_runs.estimate_encoding(self.study, choice))}
            for choice in encodings.offered_models()
        ]
        return Response(EncodersRow({"results": rows}).data)

    @extend_schema(request=EncoderChoice, responses={202: RunRow})
    def post(self, request: Request, study: str) -> Response:
        """Start a run that computes the missing scores. Analyses use the scores that exist when they start."""
        try:
            run = bertscore_runs.start(study=self.study, by=self.user, **self.validated(EncoderChoice))
        except BadParameterError as error:
            raise refusal({"model": [str(error)]}) from None
        except bertscore_runs.NothingToCompareError as error:
            raise Problem("conflict", str(error)) from None
        return accepted_response(self, run)
