"""Endpoints of review: queue, one response, decisions."""

from collections.abc import Callable
from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from crowdrag.api import review_endpoints
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import refusal_problem
from crowdrag.api.review_endpoints import REVIEW_NEED, Assignee, Hold, NextWork, require_work
from crowdrag.api.serializers import RequestBody, StrictBooleanFilter
from crowdrag.assignments import assignees, review_locks
from crowdrag.assignments.lifecycle import MAX_AMOUNT
from crowdrag.assignments.models import LONGEST_REASON
from crowdrag.assignments.problems import BadAmount, NeedsReason, NotAReviewer, PaidOtherwise, WorkProblem
from crowdrag.recruitment.platform_actions import ActionError
from crowdrag.studies.enums import AuditedContent, Role
from writing.assignments.lifecycle import TASKS

from ..corpus import queries
from ..corpus.api import ResponseRow
from ..enums import SurveyKind
from ..models import Response, ResponseDecision, TaskPayment, TaskTransition, WritingTask
from ..progress.queries import with_paid
from . import dossier, queue, services, signal_display, text_difference

WITH = (
    "study",
    "topic",
    "style",
    "participant",
    "reviewer",
    "assignee",
    "response",
    "log",
    "revises__response",
    "revision",
)
# The fields of a list, without the texts of responses, which it does not show.
IN_LIST = ("topic", "style", "participant", "reviewer", "assignee", "response", "revises", "revision")
SHOWN = (
    "external_id", "state", "is_trial", "claimed_at", "submitted_at", "seconds", "active_seconds", "pay",
    "reviewing_until", "topic__external_id", "style__name", "participant__external_id", "reviewer__email",
    "assignee__email",
    "response__external_id", "response__words", "response__is_included", "response__task_id", "revises__external_id",
    "revision__external_id", "revision__revises_id",
)  # fmt: skip
SEEN = Need(Role.REVIEWER)
HANDED_IN = [(state.value, state.label) for state in dict.fromkeys(queue.LISTS.values())]


class HandedInRow(serializers.ModelSerializer[WritingTask]):
    """A submitted response with its task. Money is in minor units of the study's currency."""

    response = serializers.CharField(source="response.external_id")
    topic = serializers.CharField(source="topic.external_id")
    style = serializers.CharField(source="style.name")  # type: ignore[assignment] # the name of an attribute of fields
    participant = serializers.CharField(source="participant.external_id", help_text="Pseudonym of the writer.")
    words = serializers.IntegerField(source="response.words")
    is_included = serializers.BooleanField(
        source="response.is_included",
        help_text="Whether the response is included in the analysis, or will be once it is accepted.",
    )
    revises = serializers.CharField(
        source="revises.external_id",
        default=None,
        allow_null=True,
        help_text="ID of the task that was returned for revision before this one. Null: none.",
    )
    revision = serializers.CharField(
        source="revision.external_id",
        default=None,
        allow_null=True,
        help_text="ID of the task that revises this one. Null: none.",
    )
    paid = serializers.IntegerField(help_text="Amount owed or paid to the writer so far.")
    held_by = serializers.SerializerMethodField(help_text="Reviewer who has it open now. Null: nobody.")
    assignee = serializers.EmailField(
        source="assignee.email",
        default=None,
        allow_null=True,
        help_text="Reviewer to whom it is assigned. Null: nobody.",
    )

    class Meta:
        model = WritingTask
        fields = ["external_id", "response", "topic", "style", "participant", "state", "is_trial", "is_included",
                  "words", "revises", "revision", "claimed_at", "submitted_at", "seconds", "active_seconds", "pay",
                  "paid", "held_by", "assignee"]  # fmt: skip
        extra_kwargs = {
            "external_id": {"help_text": "ID of the task, used in URLs."},
            "pay": {"help_text": "Pay that was promised when the writer claimed the task."},
            "seconds": {"help_text": "Seconds from the first to the last event of the writing log."},
            "active_seconds": {"help_text": "Seconds of active writing, without pauses."},
        }

    def get_held_by(self, task: WritingTask) -> str | None:
        """Return the email address of the reviewer who has the response open."""
        return task.reviewer.email if task.reviewer and review_locks.is_locked(task, timezone.now()) else None


class MomentRow(serializers.Serializer[Any]):
    """A moment in the writing log."""

    ms = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment] # a field, not an attribute


class LogSignalRow(serializers.Serializer[Any]):
    """A measure from the writing log, with its evidence. It is not a verdict."""

    name = serializers.CharField()
    title = serializers.CharField()
    level = serializers.CharField(help_text="The result. `stands_out` says whether a reviewer should look at it.")
    stands_out = serializers.BooleanField()
    figure = serializers.CharField()
    explanation = serializers.CharField()
    innocent = serializers.CharField(help_text="Harmless explanations.")
    moments = MomentRow(many=True)
    more = serializers.IntegerField(help_text="Number of further moments in the log.")


class SurveyAnswerRow(serializers.Serializer[Any]):
    """The writer's answer to a question before or after writing."""

    kind = serializers.ChoiceField(SurveyKind.choices)
    question = serializers.CharField()
    answer = serializers.CharField(help_text="The answer. Empty if the question was skipped.")


class TaskTransitionRow(serializers.ModelSerializer[TaskTransition]):
    """A change of state. The writer can read the note."""

    task = serializers.CharField(source="task.external_id")
    by = serializers.EmailField(source="by.email", default=None, allow_null=True)

    class Meta:
        model = TaskTransition
        fields = ["task", "before", "after", "cause", "note", "at", "by"]


class ResponseDecisionRow(serializers.ModelSerializer[ResponseDecision]):
    """A decision on a response. The latest decision counts."""

    by = serializers.EmailField(source="decided_by.email", default=None, allow_null=True)

    class Meta:
        model = ResponseDecision
        fields = ["about", "holds", "reason", "evidence", "decided_at", "by"]


class TaskPaymentRow(serializers.ModelSerializer[TaskPayment]):
    """A payment owed to a writer, in minor units of the study's currency."""

    by = serializers.EmailField(source="by.email", default=None, allow_null=True)

    class Meta:
        model = TaskPayment
        fields = ["amount", "reason", "at", "by"]


class RecordRow(serializers.Serializer[dossier.WriterRecord]):
    """The writer's responses in the study so far. A response and its revisions count once."""

    written = serializers.IntegerField()
    waiting = serializers.IntegerField()
    accepted = serializers.IntegerField()
    rejected = serializers.IntegerField()
    revision = serializers.IntegerField(help_text="Number of responses returned for revision and not submitted again.")
    others = serializers.SerializerMethodField(help_text="IDs of the writer's latest other submitted tasks.")
    notes = TaskTransitionRow(many=True, help_text="Notes that the writer received about these tasks.")

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_others(self, record: dossier.WriterRecord) -> list[str]:
        """IDs of the writer's latest other submitted tasks."""
        return [each.external_id for each in record.others]


class PartRow(serializers.Serializer[text_difference.Part]):
    """A part of the difference from the previous version."""

    kind = serializers.ChoiceField(["same", "gone", "new"])
    text = serializers.CharField()


class ReviewedRow(HandedInRow):
    """A response with its signals and decisions. The writing process is in its log."""

    written = ResponseRow(source="known_response", help_text="The response with its statements.")
    answers = SurveyAnswerRow(source="known.answers", many=True)
    signals = LogSignalRow(
        source="known_signals",
        many=True,
        allow_null=True,
        help_text="Signals from the log. Null: there is no readable log.",
    )
    history = TaskTransitionRow(source="known.history", many=True)
    decisions = ResponseDecisionRow(source="known.decisions", many=True)
    payments = TaskPaymentRow(source="known.payments", many=True)
    record = RecordRow(source="known.record")
    changes = PartRow(
        source="known.changes",
        many=True,
        help_text="For revisions: the differences from the previous version, in order.",
    )

    class Meta(HandedInRow.Meta):
        fields = [*HandedInRow.Meta.fields, "written", "answers", "signals", "history", "decisions", "payments",
                  "record", "changes"]  # fmt: skip


class HandedInFilter(django_filters.FilterSet):  # type: ignore[misc] # untyped base class
    """Filters of responses."""

    state = django_filters.ChoiceFilter(
        choices=HANDED_IN, help_text="State of the task. Responses in state `SUBMITTED` await review."
    )
    style = django_filters.CharFilter(field_name="style__name", max_length=100, help_text="Name of a style.")
    participant = django_filters.CharFilter(
        field_name="participant__external_id", max_length=200, help_text="Pseudonym of the participant."
    )
    assignee = django_filters.CharFilter(
        field_name="assignee__email", lookup_expr="iexact", max_length=254, help_text="Email address of a reviewer."
    )
    is_trial = StrictBooleanFilter(help_text="Whether the response was written on a trial topic.")
    is_included = StrictBooleanFilter(
        field_name="response__is_included", help_text="Whether the response is included in the analysis."
    )

    class Meta:
        model = WritingTask
        fields: ClassVar[list[str]] = []


class HandedIn(ListEndpoint):
    """List the submitted responses, both those that await review and those with a decision."""

    needs: ClassVar = {"GET": SEEN}
    shows = AuditedContent.PEOPLE
    queryset = WritingTask.objects.all()
    serializer_class = HandedInRow
    filterset_class = HandedInFilter
    order = ("id",)

    def rows(self) -> QuerySet[WritingTask]:
        """Return the responses submitted here; imported ones await no review."""
        return _paid(self).filter(is_imported=False).select_related(*IN_LIST).only(*SHOWN)


class OneHandedIn(Endpoint):
    """A submitted response."""

    needs: ClassVar = {"GET": SEEN}
    shows: ClassVar = AuditedContent.REVIEW
    serializer_class = ReviewedRow

    def get(self, request: Request, study: str, task: str) -> Answer:
        """Show a response with its signals and decisions."""
        return Answer(reviewed(self, task))


def handed_in_tasks(endpoint: Endpoint) -> QuerySet[WritingTask]:
    """Return the study's tasks with responses, with all data that is shown."""
    return _paid(endpoint).select_related(*WITH)


def _paid(endpoint: Endpoint) -> QuerySet[WritingTask]:
    """Return the study's tasks with responses, each with the sum of its payments."""
    return with_paid(WritingTask.objects.filter(study=endpoint.study, response__isnull=False))


def reviewed(endpoint: Endpoint, external_id: str) -> Any:
    """Return a response for a reviewer, and record the access in the audit log."""
    task: Any = endpoint.one(handed_in_tasks(endpoint), external_id=external_id)
    response = queries.with_statements(Response.objects.with_people()).get(pk=task.response.pk)
    endpoint.about(task.participant, response.pk)
    task.known, task.known_response = dossier.collect(task), response
    task.known_signals = signal_display.signals_of_response(getattr(task, "log", None), response)
    return ReviewedRow(task).data


LONGEST = 5000
# Errors of the request, with the invalid field. Other errors are conflicts with the current state.
REFUSED: dict[type[Exception], str] = {
    ActionError: "",
    NeedsReason: "reason",
    BadAmount: "pay_part",
    PaidOtherwise: "reason",
    NotAReviewer: "assignee",
}


class WordsOfReview(RequestBody):
    """An optional note to the writer."""

    note = serializers.CharField(
        max_length=LONGEST, required=False, allow_blank=True, default="", help_text="The writer can read it."
    )


class Note(RequestBody):
    """A required note to the writer."""

    note = serializers.CharField(max_length=LONGEST, help_text="The writer can read it.")


class ResponseRejection(RequestBody):
    """The reason for the rejection, and a partial payment."""

    reason = serializers.CharField(max_length=LONGEST, help_text="The writer can read it and contest the decision.")
    pay_part = serializers.IntegerField(
        min_value=0,
        max_value=MAX_AMOUNT,
        required=False,
        default=0,
        help_text="Amount to pay nevertheless, at most the promised pay.",
    )


class ResponseInclusion(RequestBody):
    """Whether a response is included in the analysis."""

    included = serializers.BooleanField()
    reason = serializers.CharField(max_length=LONGEST, help_text="Reason for the decision, stored with it.")


class ResponsePayment(RequestBody):
    """An additional payment. Repeating the same amount with the same reason pays nothing more."""

    amount = serializers.IntegerField(min_value=1, max_value=MAX_AMOUNT)
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="The writer can read it.")


class NextOne(NextWork):
    """Filters for the next response. Omitted filters do not apply."""

    style = serializers.CharField(max_length=100, required=False, allow_blank=True, default="")  # type: ignore[assignment]
    participant = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    is_trial = serializers.BooleanField(required=False, default=False, help_text="True: only trial responses.")
    signals = serializers.BooleanField(
        required=False, default=False, help_text="True: only responses with a signal that stands out."
    )


class ReviewEndpoint(review_endpoints.ReviewEndpoint):
    """An action on a submitted response."""

    def work(self) -> WritingTask:
        """Return the task that the address names."""
        return self.one(handed_in_tasks(self), external_id=self.kwargs["task"])

    def shown(self, external_id: str | None = None) -> Answer:
        """Answer with the response as it is now."""
        return Answer(reviewed(self, external_id or self.kwargs["task"]))

    def decided(self, do: Callable[..., object], **fields: str) -> Answer:
        """Have it decided by this call, and show the response; `fields` name others than usual."""
        try:
            do(by=self.user, now=timezone.now())
        except (WorkProblem, ActionError) as error:
            raise refusal_problem(error, REFUSED, fields) from None
        return self.shown()


class Accepted(ReviewEndpoint):
    """A response that is accepted."""

    @extend_schema(request=WordsOfReview, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Accept a submitted response. It is paid, and joins the analysis unless it was excluded. Idempotent."""
        instance, data = self.work(), self.validated(WordsOfReview)
        return self.decided(lambda **who: services.accept(task=instance, **data, **who), reason="note")


class Rejected(ReviewEndpoint):
    """A response that is rejected."""

    @extend_schema(request=ResponseRejection, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Reject a response with a reason. It is excluded, and another writer can take its place. Idempotent."""
        instance, data = self.work(), self.validated(ResponseRejection)
        return self.decided(lambda **who: services.reject(task=instance, **data, **who))


class SentBack(ReviewEndpoint):
    """A response with a requested revision."""

    @extend_schema(request=Note, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Request a revision from the writer, who sees this note and the text. `revision` is the new task."""
        instance, data = self.work(), self.validated(Note)
        return self.decided(lambda **who: services.send_back(task=instance, **data, **who), reason="note")


class Undone(ReviewEndpoint):
    """A decision that is undone."""

    @extend_schema(request=None, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Undo the last decision within ten minutes: the response awaits review again. Idempotent."""
        instance = self.work()
        return self.decided(lambda **who: services.undo_decision(task=instance, **who))


class Assigned(ReviewEndpoint):
    """The reviewer to whom a response is assigned."""

    needs: ClassVar = {"PUT": REVIEW_NEED}

    @extend_schema(request=Assignee, responses=ReviewedRow)
    def put(self, request: Request, study: str, task: str) -> Answer:
        """Assign a response to a reviewer, or to nobody. Other reviewers can still decide."""
        instance, to = self.work(), self.member(self.validated(Assignee)["assignee"])
        return self.decided(lambda **_who: assignees.assign(TASKS, instance, self.study, to))


class Reversed(ReviewEndpoint):
    """A rejection that is reversed."""

    @extend_schema(request=Note, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Accept a rejected response and pay the rest. It joins the analysis unless another writer took its place."""
        instance, data = self.work(), self.validated(Note)
        return self.decided(lambda **who: services.reverse_rejection(task=instance, **data, **who), reason="note")


class Included(ReviewEndpoint):
    """Whether a response counts."""

    @extend_schema(request=ResponseInclusion, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Include the response in the analysis or exclude it. This does not change the pay."""
        instance, data = self.work(), self.validated(ResponseInclusion)
        choose = services.include if data["included"] else services.exclude
        return self.decided(lambda **who: choose(response=instance.response, reason=data["reason"], **who))


class Paid(ReviewEndpoint):
    """An additional payment to a writer."""

    @extend_schema(request=ResponsePayment, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Record an additional payment to the writer, for example after a fault of the study."""
        instance, data = self.work(), self.validated(ResponsePayment)
        return self.decided(lambda **who: TASKS.pay(instance, **data, **who), pay_part="amount")


@extend_schema_view(
    post=extend_schema(request=Hold, responses=ReviewedRow), delete=extend_schema(request=None, responses={204: None})
)
class Held(ReviewEndpoint, review_endpoints.ReviewLockEndpoint):
    """A response that is open for review."""

    review_lock = queue.REVIEW_LOCK


class Following(ReviewEndpoint):
    """The response that is to be reviewed next."""

    @extend_schema(request=NextOne, responses=ReviewedRow)
    def post(self, request: Request, study: str) -> Answer:
        """Return the response that you have open, or reserve the oldest one that nobody has open for ten minutes."""
        data = self.validated(NextOne)
        after = self.one(handed_in_tasks(self), external_id=data["after"]) if data["after"] else None
        filters = queue.QueueFilter(data["style"], data["participant"], data["is_trial"], data["signals"])
        task = queue.take_next(study=self.study, by=self.user, now=timezone.now(), filters=filters, after=after)
        return self.shown(require_work(task).external_id)
