"""Endpoints of review locks (`assignments.review_locks`).

It is held, put back, and given out.
"""

from typing import Any, ClassVar, TypeVar

from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.assignments.review_locks import ReviewLock
from crowdrag.studies.enums import AuditedContent, Role

from .endpoints import Endpoint, Need
from .problems import Problem
from .serializers import RequestBody

REVIEW_NEED = Need(Role.REVIEWER, Scope.WRITE)
W = TypeVar("W", bound=Model)


class Hold(RequestBody):
    """Whether to take it from whoever has it."""

    over = serializers.BooleanField(
        required=False, default=False, help_text="Take it from another reviewer who has it open; tell them."
    )


class NextWork(RequestBody):
    """What was before; what else there is to say which is to be next narrows it."""

    after = serializers.CharField(
        max_length=200, required=False, allow_blank=True, default="",
        help_text="What was just put aside, by its name: the search goes on behind it.",
    )  # fmt: skip


class ReviewEndpoint(Endpoint):
    """Something that is done with work that was handed in."""

    needs: ClassVar = {"POST": REVIEW_NEED}
    shows: ClassVar = AuditedContent.REVIEW

    def work(self) -> Any:
        """Return the work that the address names."""
        raise NotImplementedError

    def shown(self, external_id: str | None = None) -> Response:
        """Answer with the work as it is now: the one that the address names unless it is said."""
        raise NotImplementedError


class ReviewLockEndpoint(ReviewEndpoint):
    """Work that somebody has open. A subclass names the lock, and describes what is answered."""

    needs: ClassVar = {"POST": REVIEW_NEED, "DELETE": REVIEW_NEED}
    review_lock: ClassVar[ReviewLock[Any]]

    def post(self, request: Request, *args: Any, **named: Any) -> Response:
        """Have it open for ten minutes more, so that no other reviewer gets it meanwhile."""
        instance, over = self.work(), self.validated(Hold)["over"]
        take = self.review_lock.take_over if over else self.review_lock.hold
        if not take(instance, self.user, timezone.now()):
            message = _("Another reviewer has it open, or it is decided already: `held_by` and `state` say which.")
            raise Problem("conflict", message)
        return self.shown()

    def delete(self, request: Request, *args: Any, **named: Any) -> Response:
        """Put it back for others. What another reviewer has open stays theirs."""
        self.review_lock.let_go(self.work(), self.user)
        return Response(status=204)


def require_work(row: W | None) -> W:
    """Return what was given out to a reviewer; say so where there is nothing."""
    if row is None:
        raise Problem("conflict", _("Nothing waits for you: all is decided, or open with another reviewer."))
    return row
