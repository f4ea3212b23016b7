"""What was erased while it waited for review: apart from what can be reviewed, since it can still be paid."""

import pytest
from django.utils import timezone

from crowdrag.studies.enums import Role
from tests.factories import MembershipFactory
from writing.domain.reviewing import queue
from writing.models import Response

from .test_review import submitted

pytestmark = pytest.mark.django_db


def test_erased_responses_have_a_list_of_their_own() -> None:
    member, now = MembershipFactory(role=Role.REVIEWER), timezone.now()
    task = submitted(member.study)
    Response.objects.filter(task=task).update(erased_at=now, text="", words=0, is_included=False)
    assert list(queue.listed(member.study, "waiting", queue.Wanted())) == []
    assert list(queue.listed(member.study, "erased", queue.Wanted())) == [task]
    counted = queue.counts(member.study, now)
    assert (counted.waiting, counted.erased) == (0, 1)
    assert queue.take_next(study=member.study, by=member.user, now=now) is None
