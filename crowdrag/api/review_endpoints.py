"""Endpoints of review locks (`assignments.review_locks`): hold, release, and next work."""

from typing import Any, ClassVar, TypeVar

from django.db.models import Model
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.assignments.review_locks import ReviewLock
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import User

from .endpoints import Endpoint
from .permissions import Need
from .problems import Problem
from .serializers import RequestBody

REVIEW_NEED = Need(Role.REVIEWER, Scope.WRITE)
W = TypeVar("W", bound=Model)


class Hold(RequestBody):
    """Whether to take over work that another reviewer has open."""

    over = serializers.BooleanField(
        required=False,
        default=False,
        help_text=("True: take the work over from another reviewer who has it open. Tell them if you do."),
    )


class NextWork(RequestBody):
    """The body of a request for the next work; subclasses add filters."""

    after = serializers.CharField(
        max_length=200, required=False, allow_blank=True, default="",
        help_text="ID of the work that was just skipped. The search continues after it.",
    )  # fmt: skip


class Assignee(RequestBody):
    """The assigned reviewer."""

    assignee = serializers.EmailField(
        allow_null=True, help_text="Email address of a reviewer of the study. Null: nobody."
    )


class ReviewEndpoint(Endpoint):
    """An action on submitted work."""

    needs: ClassVar = {"POST": REVIEW_NEED}
    shows: ClassVar = AuditedContent.REVIEW

    def work(self) -> Any:
        """Return the work with the ID in the URL."""
        raise NotImplementedError

    def member(self, email: str | None) -> User | None:
        """Return the member with this email address; None without an address."""
        if email is None:
            return None
        user = User.objects.filter(email__iexact=email, memberships__study=self.study).first()
        if user is None:
            detail = {"pointer": "#/assignee", "detail": "No member has this address.", "code": "unknown"}
            raise Problem("invalid", "This study has no such member.", errors=[detail])
        return user

    def shown(self, external_id: str | None = None) -> Response:
        """Return a response with the current work; by default, the one in the URL."""
        raise NotImplementedError


class ReviewLockEndpoint(ReviewEndpoint):
    """Work that a reviewer has open. A subclass names the lock and the schema of the answer."""

    needs: ClassVar = {"POST": REVIEW_NEED, "DELETE": REVIEW_NEED}
    review_lock: ClassVar[ReviewLock[Any]]

    def post(self, request: Request, *args: Any, **named: Any) -> Response:
        """Keep the work open for ten more minutes, so that no other reviewer gets it."""
        instance, over = self.work(), self.validated(Hold)["over"]
        take = self.review_lock.take_over if over else self.review_lock.hold
        if not take(instance, self.user, timezone.now()):
            message = "Another reviewer has it open, or it is already decided. See `held_by` and `state`."
            raise Problem("conflict", message)
        return self.shown()

    def delete(self, request: Request, *args: Any, **named: Any) -> Response:
        """Release the work for other reviewers. Work that another reviewer has open stays with them."""
        self.review_lock.let_go(self.work(), self.user)
        return Response(status=204)


def require_work(row: W | None) -> W:
    """Return the work that a reviewer got; raise a problem if there is none."""
    if row is None:
        raise Problem("conflict", "There is nothing to review. All work is decided or open with another reviewer.")
    return row
