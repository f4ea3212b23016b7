"""What reviewers decide about a response that was handed in, and whose desk it is on meanwhile."""

from collections.abc import Callable

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response as Answer

from crowdrag.api import review_endpoints
from crowdrag.api.problems import refusal_problem
from crowdrag.api.review_endpoints import Hold, NextWork, require_work
from crowdrag.api.serializers import RequestBody
from crowdrag.recruitment.platform_actions import OrderError

from ..domain.reviewing import queue
from ..domain.tasks import paying, problems, reviewing
from ..models import WritingTask
from .review import ReviewedRow, of, reviewed

LONGEST = 5000
# What is wrong with what was sent, and in which field; all else is as things stand.
REFUSED: dict[type[Exception], str] = {
    OrderError: "",
    problems.NeedsReason: "reason",
    problems.BadAmount: "pay_part",
    problems.PaidOtherwise: "reason",
}


class WordsOfReview(RequestBody):
    """Words with it."""

    note = serializers.CharField(
        max_length=LONGEST, required=False, allow_blank=True, default="", help_text="The writer reads them."
    )


class Note(RequestBody):
    """What the writer has to be told."""

    note = serializers.CharField(max_length=LONGEST, help_text="The writer reads it.")


class ResponseRejection(RequestBody):
    """Why it is rejected, and what is paid all the same."""

    reason = serializers.CharField(max_length=LONGEST, help_text="The writer reads it, and may contest it.")
    pay_part = serializers.IntegerField(
        min_value=0, max_value=paying.MOST, required=False, default=0, help_text="At most its `pay`."
    )


class ResponseInclusion(RequestBody):
    """Whether it counts."""

    included = serializers.BooleanField()
    reason = serializers.CharField(max_length=LONGEST, help_text="For the record.")


class ResponsePayment(RequestBody):
    """What is paid beside. The same amount for the same reason is the same payment."""

    amount = serializers.IntegerField(min_value=1, max_value=paying.MOST)
    reason = serializers.CharField(max_length=paying.LONGEST_REASON, help_text="The writer reads it.")


class NextOne(NextWork):
    """Which response is to be next; what is left out narrows nothing."""

    style = serializers.CharField(max_length=100, required=False, allow_blank=True, default="")  # type: ignore[assignment]
    participant = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    is_trial = serializers.BooleanField(required=False, default=False, help_text="True: trials alone.")
    signals = serializers.BooleanField(
        required=False, default=False, help_text="True: those alone of which some signal stands out."
    )


class OnADesk(review_endpoints.ReviewEndpoint):
    """Something that is done with a response that was handed in."""

    def work(self) -> WritingTask:
        """Return the task that the address names."""
        return self.one(of(self), external_id=self.kwargs["task"])

    def shown(self, external_id: str | None = None) -> Answer:
        """Answer with the response as it is now."""
        return Answer(reviewed(self, external_id or self.kwargs["task"]))

    def decided(self, do: Callable[..., object], **fields: str) -> Answer:
        """Have it decided by this call, and show the response; `fields` name others than usual."""
        try:
            do(by=self.user, now=timezone.now())
        except (problems.TaskProblem, OrderError) as error:
            raise refusal_problem(error, REFUSED, fields) from None
        return self.shown()


class Accepted(OnADesk):
    """A response that is accepted."""

    @extend_schema(request=WordsOfReview, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Accept what was handed in: it is paid, and counts unless it was decided otherwise before. Twice is once."""
        found, given = self.work(), self.given(WordsOfReview)
        return self.decided(lambda **who: reviewing.accept(task=found, **given, **who), reason="note")


class Rejected(OnADesk):
    """A response that is rejected."""

    @extend_schema(request=ResponseRejection, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Reject it, for a reason: left out of the analysis, and somebody else may write. Twice is once."""
        found, given = self.work(), self.given(ResponseRejection)
        return self.decided(lambda **who: reviewing.reject(task=found, **given, **who))


class SentBack(OnADesk):
    """A response that is sent back."""

    @extend_schema(request=Note, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Ask its writer for a revision: they find these words and their text. `revision` is the new task."""
        found, given = self.work(), self.given(Note)
        return self.decided(lambda **who: reviewing.send_back(task=found, **given, **who), reason="note")


class Reversed(OnADesk):
    """A rejection that is taken back."""

    @extend_schema(request=Note, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Accept after all what was rejected, and pay the rest. It counts where nobody else writes in its place."""
        found, given = self.work(), self.given(Note)
        return self.decided(lambda **who: reviewing.reverse(task=found, **given, **who), reason="note")


class Included(OnADesk):
    """Whether a response counts."""

    @extend_schema(request=ResponseInclusion, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Let it count in the analysis or leave it out, whatever is paid."""
        found, given = self.work(), self.given(ResponseInclusion)
        choose = reviewing.include if given["included"] else reviewing.exclude
        return self.decided(lambda **who: choose(response=found.response, reason=given["reason"], **who))


class Paid(OnADesk):
    """What a writer is paid beside."""

    @extend_schema(request=ResponsePayment, responses=ReviewedRow)
    def post(self, request: Request, study: str, task: str) -> Answer:
        """Owe its writer something beside: when the fault was ours, say."""
        found, given = self.work(), self.given(ResponsePayment)
        return self.decided(lambda **who: paying.pay(task=found, **given, **who), pay_part="amount")


@extend_schema_view(
    post=extend_schema(request=Hold, responses=ReviewedRow), delete=extend_schema(request=None, responses={204: None})
)
class Held(OnADesk, review_endpoints.ReviewLockEndpoint):
    """A response that somebody has open."""

    desk = queue.DESK


class Following(OnADesk):
    """The response that is to be reviewed next."""

    @extend_schema(request=NextOne, responses=ReviewedRow)
    def post(self, request: Request, study: str) -> Answer:
        """Take the one that you have open, else the oldest that nobody has open; it is yours for ten minutes."""
        given = self.given(NextOne)
        after = self.one(of(self), external_id=given["after"]) if given["after"] else None
        wanted = queue.Wanted(given["style"], given["participant"], given["is_trial"], given["signals"])
        found = queue.take_next(study=self.study, by=self.user, now=timezone.now(), wanted=wanted, after=after)
        return self.shown(require_work(found).external_id)
