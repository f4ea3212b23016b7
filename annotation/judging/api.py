"""Endpoints of assignments and judgments, by pseudonym."""

from typing import Any, ClassVar

import django_filters
from django.db.models import IntegerField, OuterRef, Prefetch, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.serializers import IntegerFilter, StrictBooleanFilter
from crowdrag.assignments import review_locks
from crowdrag.studies.enums import AuditedContent, Role

from ..campaigns import api
from ..enums import AssignmentState, Judges
from ..models import Assignment, AssignmentDecision, AssignmentPayment, AssignmentTransition, Dimension, Item, Judgment
from ..quality.screening import dossier

WITH = ("questionnaire__campaign__study", "participant", "reviewer", "assignee")
SEEN = Need(Role.REVIEWER)


class AssignmentRow(serializers.ModelSerializer[Assignment]):
    """A questionnaire assigned to a judge. Money is in minor units of the study's currency."""

    questionnaire = serializers.CharField(source="questionnaire.external_id")
    participant = serializers.CharField(source="participant.external_id", help_text="Pseudonym of the judge.")
    paid = serializers.IntegerField(help_text="Amount owed or paid to the judge so far.")
    held_by = serializers.SerializerMethodField(
        help_text="Email address of the reviewer who has it open. Null: nobody."
    )
    assignee = serializers.EmailField(
        source="assignee.email",
        default=None,
        allow_null=True,
        help_text="Email address of the assigned reviewer. Null: nobody.",
    )

    class Meta:
        model = Assignment
        fields = ["external_id", "questionnaire", "participant", "state", "is_included", "assigned_at", "submitted_at",
                  "lease_until", "seconds", "active_seconds", "pay", "paid", "comment", "held_by",
                  "assignee"]  # fmt: skip
        extra_kwargs = {
            "external_id": {"help_text": "ID of the assignment, used in URLs. Imported assignments may have none."},
            "pay": {"help_text": "Pay that was promised when the questionnaire was assigned."},
            "seconds": {"help_text": "Seconds from assignment to submission."},
            "active_seconds": {
                "help_text": "Seconds during which an item was visible and the page was in the foreground."
            },
        }

    def get_held_by(self, assignment: Assignment) -> str | None:
        """Return the email address of the reviewer who has it open."""
        return (
            assignment.reviewer.email
            if assignment.reviewer and review_locks.is_locked(assignment, timezone.now())
            else None
        )


class SignalRow(serializers.Serializer[Any]):
    """An unusual measure of a questionnaire, with its evidence."""

    name = serializers.CharField()
    title = serializers.CharField()
    words = serializers.CharField()
    proposes = serializers.SerializerMethodField(help_text="Proposed decision: `accept`, `look` or `reject`.")
    innocent = serializers.CharField(help_text="Possible harmless causes.")
    evidence = serializers.DictField()

    def get_proposes(self, signal: Any) -> str:
        """Return the proposed decision: `accept`, `look` or `reject`."""
        return str(signal.proposes.name.lower())


class TransitionRow(serializers.ModelSerializer[AssignmentTransition]):
    """A change of the state of an assignment."""

    by = serializers.EmailField(source="by.email", default=None, allow_null=True)

    class Meta:
        model = AssignmentTransition
        fields = ["before", "after", "cause", "note", "at", "by"]


class DecisionRow(serializers.ModelSerializer[AssignmentDecision]):
    """A decision on a questionnaire. The latest decision on a matter counts."""

    by = serializers.EmailField(source="decided_by.email", default=None, allow_null=True)

    class Meta:
        model = AssignmentDecision
        fields = ["about", "holds", "reason", "evidence", "decided_at", "by"]


class PaymentRow(serializers.ModelSerializer[AssignmentPayment]):
    """A payment owed to a judge, in minor units of the study's currency."""

    class Meta:
        model = AssignmentPayment
        fields = ["amount", "reason", "at"]


class ScreenedRow(AssignmentRow):
    """An assigned questionnaire with its signals and decisions. Its answers are listed as judgments."""

    proposal = serializers.CharField(
        source="known.proposal.name", help_text="Proposed decision: `accept`, `look` or `reject`."
    )
    signals = SignalRow(source="known.proposal.reasons", many=True)
    from_platform = serializers.BooleanField(
        source="known.from_platform", help_text="Whether decisions are sent to a recruitment platform."
    )
    owed_if_accepted = serializers.IntegerField()
    left_of_pay = serializers.IntegerField(help_text="Maximum partial payment with a rejection.")
    history = TransitionRow(source="known.history", many=True)
    decisions = DecisionRow(source="known.decisions", many=True)
    payments = PaymentRow(source="known.payments", many=True)

    class Meta(AssignmentRow.Meta):
        fields = [*AssignmentRow.Meta.fields, "proposal", "signals", "from_platform", "owed_if_accepted", "left_of_pay",
                  "history", "decisions", "payments"]  # fmt: skip


class AssignmentFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which questionnaires."""

    state = django_filters.ChoiceFilter(choices=AssignmentState.choices)
    participant = django_filters.CharFilter(
        field_name="participant__external_id", max_length=200, help_text="A pseudonym."
    )
    questionnaire = django_filters.CharFilter(field_name="questionnaire__external_id", max_length=200)
    assignee = django_filters.CharFilter(
        field_name="assignee__email", lookup_expr="iexact", max_length=254, help_text="Email address of a reviewer."
    )
    is_included = StrictBooleanFilter(
        help_text="Whether the judgments are included in the analysis once the questionnaire is accepted."
    )

    class Meta:
        model = Assignment
        fields: ClassVar[list[str]] = []


class Assignments(ListEndpoint):
    """List the assigned questionnaires of a campaign, in the order of assignment."""

    needs: ClassVar = {"GET": SEEN}
    shows = AuditedContent.PEOPLE
    queryset = Assignment.objects.all()
    serializer_class = AssignmentRow
    filterset_class = AssignmentFilter
    order = ("id",)

    def rows(self) -> QuerySet[Assignment]:
        """Return the questionnaires of the campaign that the address names."""
        return of(self, self.one(api.campaigns_of_people(self), pk=self.kwargs["campaign"]).pk)


class OneAssignment(Endpoint):
    """One questionnaire that somebody was given."""

    needs: ClassVar = {"GET": SEEN}
    shows: ClassVar = AuditedContent.REVIEW
    serializer_class = ScreenedRow

    def get(self, request: Request, study: str, campaign: int, assignment: str) -> Response:
        """Show an assigned questionnaire with its signals and decisions."""
        return Response(screened(self, campaign, assignment))


def of(endpoint: Endpoint, campaign: int) -> QuerySet[Assignment]:
    """Return the assignments of a campaign with everything that is shown of them."""
    theirs = AssignmentPayment.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    paid = Subquery(theirs.annotate(sum=Sum("amount")).values("sum"), output_field=IntegerField())
    assignments = Assignment.objects.filter(
        questionnaire__campaign__study=endpoint.study, questionnaire__campaign=campaign
    )
    return assignments.select_related(*WITH).annotate(paid=Coalesce(paid, 0))


def screened(endpoint: Endpoint, campaign: int, external_id: str) -> Any:
    """Return one questionnaire as shown, and record that the caller has seen it."""
    assignment = endpoint.one(of(endpoint, campaign), external_id=external_id)
    endpoint.about(assignment.participant, assignment.pk)
    assignment.known = dossier.collect(assignment)  # type: ignore[attr-defined] # what its serializer reads
    assignment.owed_if_accepted = dossier.owed_if_accepted(assignment)  # type: ignore[attr-defined]
    assignment.left_of_pay = dossier.left_of_pay(assignment)  # type: ignore[attr-defined]
    return ScreenedRow(assignment).data


# The related rows to show. Everything else is deferred, else each row would load the texts of its responses and topic.
WITH_ASSIGNMENT = ("assignment__participant", "assignment__questionnaire", "dimension")
SHOWN = ("assignment__state", "assignment__is_included", "assignment__participant__external_id",
         "assignment__questionnaire__external_id", "item_id", "dimension__name", "dimension__version", "value",
         "justification", "repeat", "judged_at")  # fmt: skip
# A separate query: planning a join of twelve tables takes the database ten times as long as running it.
ITEM = Prefetch(
    "item",
    Item.objects.select_related("topic", "response", "pair__a", "pair__b", "retrieved__passage").only(
        "campaign_id",
        "statement",
        "topic__external_id",
        "retrieved__passage__external_id",
        "response__external_id",
        "pair__a__external_id",
        "pair__b__external_id",
    ),
)


class OfItemRow(serializers.Serializer[Any]):
    """What was said of an item, with what that item is: rows come with `ITEM`."""

    campaign = serializers.IntegerField(source="item.campaign_id")
    item = serializers.IntegerField(source="item_id")
    topic = serializers.CharField(source="item.topic.external_id")
    response = serializers.CharField(
        source="item.response.external_id",
        default=None,
        allow_null=True,
        help_text="For items with one response: its ID. Null: the item is a pair.",
    )
    response_a = serializers.CharField(
        source="item.pair.a.external_id",
        default=None,
        allow_null=True,
        help_text="For pairs: ID of the response shown on the left.",
    )
    response_b = serializers.CharField(
        source="item.pair.b.external_id",
        default=None,
        allow_null=True,
        help_text="For pairs: ID of the response shown on the right.",
    )

    statement = serializers.IntegerField(
        source="item.statement",
        default=None,
        allow_null=True,
        help_text="For statements: the position in the response, from 0.",
    )
    passage = serializers.CharField(
        source="item.retrieved.passage.external_id",
        default=None,
        allow_null=True,
        help_text="For statements: ID of the cited passage.",
    )


class JudgmentRow(OfItemRow, serializers.ModelSerializer[Judgment]):
    """A judgment: one person's answer to one question about one item."""

    questionnaire = serializers.CharField(source="assignment.questionnaire.external_id")
    participant = serializers.CharField(source="assignment.participant.external_id", help_text="A pseudonym.")
    dimension = serializers.CharField(source="dimension.name")
    version = serializers.IntegerField(source="dimension.version")
    value = serializers.IntegerField(help_text="The answer. For pairs as presented: -1 is A, 0 is neither, 1 is B.")
    is_unsure = serializers.BooleanField(help_text="Whether the judge said that they are unsure about the item.")
    state = serializers.ChoiceField(AssignmentState.choices, source="assignment.state")
    is_included = serializers.BooleanField(source="assignment.is_included")

    class Meta:
        model = Judgment
        fields = ["id", "campaign", "questionnaire", "participant", "item", "topic", "response", "response_a",
                  "response_b", "statement", "passage", "dimension", "version", "value", "is_unsure", "justification",
                  "repeat", "state", "is_included", "judged_at"]  # fmt: skip


class JudgmentFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which judgments."""

    campaign = IntegerFilter(field_name="item__campaign", min_value=1, max_value=2**31 - 1)
    judges = django_filters.ChoiceFilter(field_name="item__campaign__judges", choices=Judges.choices)
    dimension = django_filters.CharFilter(method="of_dimension", max_length=100)
    participant = django_filters.CharFilter(field_name="assignment__participant__external_id", max_length=200)
    topic = django_filters.CharFilter(field_name="item__topic__external_id", max_length=200)
    counted = StrictBooleanFilter(
        method="only_counted", help_text="Whether analyses count the judgment: accepted, included, not a repeat."
    )

    class Meta:
        model = Judgment
        fields: ClassVar[list[str]] = []

    def of_dimension(self, rows: Any, _name: str, name: str) -> QuerySet[Judgment]:
        """Keep those on dimensions of this name: by keys, of which the database knows how many rows have them."""
        keys = list(Dimension.objects.filter(name=name).values_list("pk", flat=True))
        return rows.filter(dimension__in=keys)  # type: ignore[no-any-return]

    def only_counted(self, rows: Any, _name: str, is_counted: bool) -> QuerySet[Judgment]:
        """Keep those that count, or those that do not."""
        return rows.counted() if is_counted else rows.not_counted()  # type: ignore[no-any-return]


class Judgments(ListEndpoint):
    """List the judgments of a study, in the order in which they were stored."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.ANSWERS
    queryset = Judgment.objects.all()
    serializer_class = JudgmentRow
    filterset_class = JudgmentFilter
    order = ("id",)

    def rows(self) -> QuerySet[Judgment]:
        """Return the study's judgments, with all that is shown of each."""
        return (
            Judgment.objects.of_study(self.study)
            .with_confidence()
            .select_related(*WITH_ASSIGNMENT)
            .only(*SHOWN)
            .prefetch_related(ITEM)
        )
