"""A response that is erased while somebody judges it keeps nobody from handing in."""

import pytest
from django.urls import reverse

from annotation import invariants
from annotation.enums import AssignmentState as S
from annotation.enums import CampaignKind
from annotation.judging import answers, questionnaire_content, submission
from annotation.models import Judgment
from crowdrag.studies.invariants import Tally
from tests.annotation.judge_actions import add_check, answer_all, claim
from tests.annotation.llm_judges.source_campaign import erase
from tests.annotation.open_campaign import world
from tests.annotation.shared import client_of
from tests.factories import NOW

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("kind", "side"), [(CampaignKind.PAIRWISE, "a"), (CampaignKind.PAIRWISE, "b"), (CampaignKind.POINTWISE, "")]
)
def test_it_is_not_asked_and_the_rest_is_handed_in(kind: str, side: str) -> None:
    here = world(kind=kind)
    add_check(here.questionnaires[0])
    mine = claim(here, here.judge())
    item, dimension = next(here.questions(mine))
    answers.answer(assignment=mine, item=item.pk, dimension=dimension.pk, value=1, revision=1, now=NOW)
    address = reverse("judging_questionnaire", args=[here.study.slug, here.campaign.pk, mine.external_id])

    def gone_on_page() -> int:
        return client_of(mine.participant).get(address).content.decode().count("data-gone")

    before = len(submission.missing_answers(mine))
    assert gone_on_page() == 0
    erase(item.response or getattr(item.pair, side))
    missing = submission.missing_answers(mine)
    assert item.pk not in {one.item for one in missing if one.check is None}
    assert len(missing) < before
    assert len([one for one in missing if one.check]) == 1
    page = questionnaire_content.load_page(mine)
    gone = [entry.shown.item for entry in page.entries if entry.shown.is_gone]
    assert item.pk in gone
    assert page.open == len(missing)
    # What was answered before stays on the page, and the check is asked.
    assert len(page.entries[0].questions) == 2
    assert gone_on_page() == len(gone)
    answer_all(mine)
    assert Judgment.objects.filter(assignment=mine, item=item).count() == 1
    assert submission.submit(assignment=mine, now=NOW).state == S.SUBMITTED
    tally = Tally()
    invariants.complete(tally)
    assert not tally.broken, tally.examples
