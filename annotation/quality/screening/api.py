"""Endpoints of screening: queue, one questionnaire, decisions."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api import review_endpoints
from crowdrag.api.endpoints import Endpoint
from crowdrag.api.problems import refusal_problem
from crowdrag.api.review_endpoints import REVIEW_NEED, Assignee, Hold, NextWork, require_work
from crowdrag.api.serializers import RequestBody
from crowdrag.assignments import assignees, review_locks
from crowdrag.assignments.bulk import BulkResult
from crowdrag.assignments.problems import BadAmount, NeedsReason, NotAReviewer, PaidOtherwise, WorkProblem
from crowdrag.recruitment.enums import RejectionCategory
from crowdrag.recruitment.platform_actions import ActionError
from crowdrag.studies.enums import AuditedContent

from ...campaigns import api
from ...campaigns.api import MOST
from ...judging import decisions
from ...judging.api import SEEN, ScreenedRow, of, screened
from ...judging.lifecycle import ASSIGNMENTS
from ...models import Assignment, Campaign
from . import dossier, queue, services
from .forms import LONGEST
from .signals import ProposedAction

PROPOSALS = {each.name.lower(): each for each in ProposedAction}
# Errors in the request, with the field that is wrong. All other errors are conflicts with the current state.
REFUSED: dict[type[Exception], str] = {
    ActionError: "",
    NeedsReason: "reason",
    BadAmount: "pay_part",
    PaidOtherwise: "reason",
    NotAReviewer: "assignee",
    services.ShortReason: "reason",
    services.NeedsCategory: "category",
    services.SingleCheck: "category",
}


class Words(RequestBody):
    """An optional note."""

    note = serializers.CharField(
        max_length=LONGEST, required=False, allow_blank=True, default="",
        help_text="Note that the judge can read. For rejected work: why it is accepted after all.",
    )  # fmt: skip


class Rejection(RequestBody):
    """The reason of a rejection, and what is paid nevertheless."""

    reason = serializers.CharField(max_length=LONGEST, help_text="The judge can read it and contest the decision.")
    pay_part = serializers.IntegerField(
        min_value=0, max_value=MOST, required=False, default=0, help_text="At most `left_of_pay`."
    )
    category = serializers.ChoiceField(
        RejectionCategory.choices, required=False, default="",
        help_text="Required for judges from a platform, unless everything is paid.",
    )  # fmt: skip


class Inclusion(RequestBody):
    """Whether its judgments count."""

    included = serializers.BooleanField()
    reason = serializers.CharField(max_length=LONGEST, help_text="Reason for the decision, stored with it.")


class Payment(RequestBody):
    """An extra payment. The same amount with the same reason is the same payment."""

    amount = serializers.IntegerField(min_value=1, max_value=MOST)
    reason = serializers.CharField(max_length=200, help_text="The judge can read it.")


class Until(RequestBody):
    """Accept work submitted until this time."""

    until = serializers.DateTimeField(help_text="Work submitted later is not accepted. Use the value from GET.")


class CleanRow(serializers.Serializer[Any]):
    """Unflagged questionnaires that await review. Money is in minor units of the study's currency."""

    until = serializers.DateTimeField(help_text="Time of this list.")
    assignments = serializers.ListField(child=serializers.CharField())
    owed = serializers.IntegerField(help_text="Amount that becomes due if all are accepted.")


class BulkRow(serializers.Serializer[BulkResult]):
    """Result of the bulk acceptance."""

    accepted = serializers.IntegerField(source="done")
    passed_over = serializers.IntegerField(
        help_text=("Questionnaires that another reviewer has open or that were decided in the meantime.")
    )


class NextQuestionnaire(NextWork):
    """Filters for the next questionnaire. Omitted filters do not apply."""

    proposal = serializers.ChoiceField(list(PROPOSALS), required=False, default="", help_text="Filter by proposal.")


class ScreeningEndpoint(review_endpoints.ReviewEndpoint):
    """An action on a submitted questionnaire."""

    def work(self) -> Assignment:
        """Return the assignment that the address names."""
        return self.one(of(self, self.kwargs["campaign"]), external_id=self.kwargs["assignment"])

    def shown(self, external_id: str | None = None) -> Response:
        """Answer with the questionnaire as it is now."""
        return Response(screened(self, self.kwargs["campaign"], external_id or self.kwargs["assignment"]))


class Decision(ScreeningEndpoint):
    """A decision about a questionnaire."""

    def decided(self, do: Callable[..., object], **fields: str) -> Response:
        """Have it decided by this call, and show the questionnaire; `fields` name others than usual."""
        instance = self.work()
        try:
            do(assignment=instance, by=self.user, now=timezone.now())
        except (WorkProblem, ActionError) as error:
            raise refusal_problem(error, REFUSED, fields) from None
        return self.shown()


class Accepted(Decision):
    """A questionnaire that is accepted."""

    @extend_schema(request=Words, responses=ScreenedRow)
    def post(self, request: Request, study: str, campaign: int, assignment: str) -> Response:
        """Accept a submitted questionnaire. The judge is paid. Repeating the request has no further effect."""
        data = self.validated(Words)
        return self.decided(lambda **who: services.accept(**data, **who), reason="note")


class Rejected(Decision):
    """A questionnaire that is rejected."""

    @extend_schema(request=Rejection, responses=ScreenedRow)
    def post(self, request: Request, study: str, campaign: int, assignment: str) -> Response:
        """Reject a questionnaire with a reason. Its place opens again for another judge. Repeating has no effect."""
        data = self.validated(Rejection)
        return self.decided(lambda **who: services.reject(**data, **who))


class Undone(Decision):
    """A decision that is undone."""

    @extend_schema(request=None, responses=ScreenedRow)
    def post(self, request: Request, study: str, campaign: int, assignment: str) -> Response:
        """Undo the last decision, for ten minutes. The questionnaire awaits review again. Repeating has no effect."""
        return self.decided(services.undo_decision)


class Assigned(Decision):
    """Which reviewer takes care of a questionnaire."""

    needs: ClassVar = {"PUT": REVIEW_NEED}

    @extend_schema(request=Assignee, responses=ScreenedRow)
    def put(self, request: Request, study: str, campaign: int, assignment: str) -> Response:
        """Assign a questionnaire to a reviewer of the study, or to nobody. Others may still decide."""
        to = self.member(self.validated(Assignee)["assignee"])
        return self.decided(lambda assignment, **_who: assignees.assign(ASSIGNMENTS, assignment, self.study, to))


class Included(Decision):
    """Whether a questionnaire counts."""

    @extend_schema(request=Inclusion, responses=ScreenedRow)
    def post(self, request: Request, study: str, campaign: int, assignment: str) -> Response:
        """Include the judgments in the analysis or exclude them, regardless of payment."""
        data = self.validated(Inclusion)
        return self.decided(lambda **who: services.include(holds=data["included"], reason=data["reason"], **who))


class Paid(Decision):
    """What a judge is paid beside."""

    @extend_schema(request=Payment, responses=ScreenedRow)
    def post(self, request: Request, study: str, campaign: int, assignment: str) -> Response:
        """Add an extra payment to the judge, for example after a technical problem."""
        data = self.validated(Payment)
        return self.decided(lambda **who: services.pay(**data, **who), pay_part="amount")


class Restored(Decision):
    """A surplus questionnaire that has a place."""

    @extend_schema(request=None, responses=ScreenedRow)
    def post(self, request: Request, study: str, campaign: int, assignment: str) -> Response:
        """Give a surplus questionnaire an open place. It then awaits a decision."""
        return self.decided(decisions.take_up)


@extend_schema_view(
    post=extend_schema(request=Hold, responses=ScreenedRow), delete=extend_schema(request=None, responses={204: None})
)
class Held(ScreeningEndpoint, review_endpoints.ReviewLockEndpoint):
    """The review lock of a questionnaire."""

    review_lock = queue.REVIEW_LOCK


class Following(ScreeningEndpoint):
    """The next questionnaire to screen."""

    @extend_schema(request=NextQuestionnaire, responses=ScreenedRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Get the questionnaire that you have open, or the oldest free one. It is locked for you for ten minutes."""
        instance, data = handed_out(self, campaign), self.validated(NextQuestionnaire)
        after = self.one(of(self, campaign), external_id=data["after"]) if data["after"] else None
        what = PROPOSALS.get(data["proposal"])
        taken = queue.take_next(campaign=instance, by=self.user, now=timezone.now(), what=what, after=after)
        return self.shown(require_work(taken).external_id)


class Clean(Endpoint):
    """Unflagged questionnaires."""

    needs: ClassVar = {"GET": SEEN, "POST": REVIEW_NEED}
    shows: ClassVar = AuditedContent.PEOPLE
    serializer_class = CleanRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show the unflagged questionnaires that await review and that no other reviewer has open."""
        instance, now = handed_out(self, campaign), timezone.now()
        rows = [row.assignment for row in queue.proposing(instance, ProposedAction.ACCEPT, now)]
        free = [each for each in rows if not review_locks.locked_by_another(each, self.user, now)]
        owed = sum(dossier.owed_if_accepted(each) for each in free)
        names = [each.external_id for each in free]
        return Response(CleanRow({"until": now, "assignments": names, "owed": owed}).data)

    @extend_schema(request=Until, responses=BulkRow)
    def post(self, request: Request, study: str, campaign: int) -> Response:
        """Accept each unflagged questionnaire that was submitted by the given time."""
        instance, until = handed_out(self, campaign), self.validated(Until)["until"]
        done = services.accept_clean(campaign=instance, until=until, by=self.user, now=timezone.now())
        return Response(BulkRow(done).data)


def handed_out(endpoint: Endpoint, pk: int) -> Campaign:
    """Return a campaign with slots. Nothing is decided in imported campaigns and those of model judges."""
    return endpoint.one(api.campaigns_of_people(endpoint).filter(has_slots=True), pk=pk)
