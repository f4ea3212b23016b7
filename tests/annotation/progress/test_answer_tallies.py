"""Numbers of judgments: sums kept by the database, and tallies of answers of large campaigns."""

from datetime import timedelta

import pytest

from annotation import invariants
from annotation.enums import AssignmentState as S
from annotation.models import AnswerTally, Assignment, Judgment, JudgmentSums
from annotation.progress import answer_tallies
from crowdrag.studies.invariants import Tally
from tests.analysis import small_study
from tests.annotation.judge_actions import answer_all, claim, hand_in, sheets
from tests.factories import NOW, JudgmentFactory

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def wrong() -> int:
    tally = Tally()
    invariants.sums(tally)
    return tally.broken


def total(campaign: int) -> int:
    return answer_tallies.count_stored([campaign])[campaign]


def test_sums_follow_every_change_of_judgments_and_their_assignment() -> None:
    judgment = JudgmentFactory(assignment__state=S.SUBMITTED, value=-1)
    [kept] = JudgmentSums.objects.all()
    assert (kept.stored, kept.judgments, kept.id_sum, kept.answer_sum) == (1, 1, judgment.pk, -judgment.pk)
    Judgment.objects.filter(pk=judgment.pk).update(value=1)
    assert JudgmentSums.objects.get().answer_sum == judgment.pk
    assert not JudgmentSums.objects.counted().exists()
    Assignment.objects.update(state=S.ACCEPTED)
    assert JudgmentSums.objects.counted().get().judgments == 1
    Assignment.objects.update(is_included=False)
    assert not JudgmentSums.objects.counted().exists()
    Judgment.objects.filter(pk=judgment.pk).update(repeat=1)
    kept.refresh_from_db()
    assert (kept.stored, kept.judgments, kept.id_sum) == (1, 0, 0)
    Judgment.objects.all().delete()
    kept.refresh_from_db()
    assert (kept.stored, wrong()) == (0, 0)
    Assignment.objects.all().delete()
    assert not JudgmentSums.objects.exists()


def test_an_assignment_in_progress_has_no_sums_and_its_answers_are_counted_live() -> None:
    here = sheets(1, k=1)
    assignment = claim(here, here.judge())
    answer_all(assignment)
    n = Judgment.objects.count()
    assert n > 0
    assert (total(here.campaign.pk), JudgmentSums.objects.exists()) == (n, False)
    hand_in(assignment)
    assert (total(here.campaign.pk), JudgmentSums.objects.get().stored, wrong()) == (n, n, 0)
    # Resumed, it changes with every answer again.
    Assignment.objects.filter(pk=assignment.pk).update(state=S.ASSIGNED)
    assert (total(here.campaign.pk), JudgmentSums.objects.exists(), wrong()) == (n, False, 0)


def test_sums_that_are_not_those_of_the_judgments_are_found() -> None:
    small_study.make()
    assert wrong() == 0
    one = JudgmentSums.objects.order_by("pk").first()
    assert one is not None
    JudgmentSums.objects.filter(pk=one.pk).update(answer_sum=one.answer_sum + 1)
    assert wrong() == 1
    one.delete()
    assert wrong() == 1


def test_answers_of_a_large_campaign_are_looked_up_and_counted_again_when_they_changed(monkeypatch) -> None:
    judgment = JudgmentFactory(assignment__state=S.SUBMITTED, value=-1)
    campaign = judgment.item.campaign_id
    before, after = {(judgment.dimension_id, -1, True): 1}, {(judgment.dimension_id, 1, True): 1}
    assert answer_tallies.tally(campaign) == before
    assert not AnswerTally.objects.exists()  # few: counted each time
    monkeypatch.setattr(answer_tallies, "MANY", 1)
    assert answer_tallies.tally(campaign) == before
    assert answer_tallies.refresh_due(now=NOW) == 0
    Judgment.objects.filter(pk=judgment.pk).update(value=1)
    assert answer_tallies.tally(campaign) == before
    counted_at = AnswerTally.objects.get().counted_at
    # Counting so many again is worth it only after a while.
    assert answer_tallies.refresh_due(now=counted_at) == 0
    assert answer_tallies.refresh_due(now=counted_at + MINUTE) == 1
    assert answer_tallies.tally(campaign) == after
    assert answer_tallies.refresh_due(now=counted_at + 2 * MINUTE) == 0
    assert AnswerTally.objects.get().counted_at == counted_at + MINUTE
