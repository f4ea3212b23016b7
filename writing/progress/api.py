"""Endpoints of progress: counts, writers, top-ups."""

from typing import Any, ClassVar

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.assignments.problems import WorkProblem
from crowdrag.recruitment.platform_actions import ActionError
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant

from ..models import WritingTask
from ..plans.api import CHANGED
from . import overview, wages

SEEN = Need(Role.VIEWER)


class StandingRow(serializers.Serializer[Any]):
    """Number of tasks of a style in each state. Erased responses are not counted."""

    name = serializers.CharField()
    asked = serializers.IntegerField(
        source="planned",
        allow_null=True,
        help_text="Number of planned responses. Null: no plan includes this style.",
    )
    missing = serializers.IntegerField(allow_null=True, help_text="Number of responses still to be written.")
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Number of tasks by state.")
    erased = serializers.IntegerField()


class StageRow(serializers.Serializer[Any]):
    """The number of people who reached each step."""

    name = serializers.CharField()
    people = serializers.IntegerField()
    of_arrived = serializers.FloatField(allow_null=True)


class SpendingRow(serializers.Serializer[Any]):
    """Past and expected spending, in minor units of the study's currency."""

    paid = serializers.IntegerField()
    charges = serializers.IntegerField(help_text="Fees and taxes at the plan's present rates.")
    waiting = serializers.IntegerField(help_text="Additional cost if all submitted work is accepted.")
    to_come = serializers.IntegerField(allow_null=True, help_text="Cost of the responses still to be written.")
    total = serializers.IntegerField(allow_null=True)


class ProgressRow(serializers.Serializer[overview.Overview]):
    """The progress of writing. Money is in minor units of the study's currency."""

    styles = StandingRow(many=True)
    whole = StandingRow()
    trials = StandingRow(allow_null=True)
    waiting = serializers.IntegerField(help_text="Number of responses awaiting review, including trials.")
    being_written = serializers.IntegerField()
    wage = serializers.FloatField(
        source="wage.estimate", default=None, allow_null=True, help_text="Median pay per hour."
    )
    share_below = serializers.FloatField(
        allow_null=True, help_text="Share of responses with an hourly pay below the minimum, from 0 to 1."
    )
    stages = StageRow(many=True)
    spending = SpendingRow()


class WriterRow(serializers.Serializer[Participant]):
    """A writer's responses, times and earnings. Money is in minor units of the study's currency."""

    participant = serializers.CharField(source="external_id", help_text="Pseudonym of the participant.")
    counts = serializers.DictField(
        source="known.counts", child=serializers.IntegerField(), help_text="Number of tasks by state."
    )
    handed_in = serializers.IntegerField(source="known.handed_in")
    seconds = serializers.FloatField(
        source="known.seconds", allow_null=True, help_text="Median time per response, in seconds."
    )
    wage = serializers.FloatField(source="known.wage", allow_null=True, help_text="Median pay per hour.")
    earned = serializers.IntegerField(source="known.earned")
    is_below = serializers.BooleanField(
        source="known.is_below", help_text="Whether the median hourly pay is below the minimum."
    )
    topping = serializers.IntegerField(
        source="known.topping",
        help_text="Amount that the writer's accepted responses lack to reach the minimum hourly pay.",
    )


class ToppedRow(serializers.Serializer[Any]):
    """Result of a top-up. Money is in minor units of the study's currency."""

    owed = serializers.IntegerField(
        help_text="Additional amount owed to the writer. 0: the hourly pay is not below the minimum."
    )


class Progress(Endpoint):
    """The progress of writing."""

    needs: ClassVar = {"GET": SEEN}
    serializer_class = ProgressRow

    def get(self, request: Request, study: str) -> Response:
        """Show the states of tasks, hourly pay, drop-out and cost. Writers are not named."""
        return Response(ProgressRow(overview.overview(self.study)).data)


class Writers(ListEndpoint):
    """List the writers with their responses and earnings."""

    needs: ClassVar = {"GET": SEEN}
    shows = AuditedContent.PEOPLE
    queryset = Participant.objects.all()
    serializer_class = WriterRow
    order = ("id",)

    def rows(self) -> QuerySet[Participant]:
        """Return the study's writers."""
        return writers_of_study(self)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of people, each with what is computed from their tasks, at once."""
        people = super().paginate_queryset(queryset)
        known = overview.writers(self.study, [person.pk for person in people or []])
        for person in people or []:
            person.known = known.get(person.pk) or wages.WriterPay(person.pk, person.external_id)
        return people


class ToppedUp(Endpoint):
    """A top-up of a writer's pay to the minimum hourly pay."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=None, responses=ToppedRow)
    def post(self, request: Request, study: str, participant: str) -> Response:
        """Top up a writer whose median hourly pay is below the minimum. Repeating the request pays nothing more."""
        writer = self.one(writers_of_study(self), external_id=participant)
        try:
            owed = wages.top_up(study=self.study, participant=writer, by=self.user, now=timezone.now())
        except (WorkProblem, ActionError) as error:
            raise Problem("conflict", str(error)) from None
        return Response(ToppedRow({"owed": owed}).data)


def writers_of_study(endpoint: Endpoint) -> QuerySet[Participant]:
    """Return the participants of the study who have claimed a task."""
    taken = WritingTask.objects.filter(participant=OuterRef("pk"))
    return Participant.objects.filter(Exists(taken), study=endpoint.study)
