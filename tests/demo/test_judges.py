"""The demo's campaign is open to everybody; its simulated judges judge through the page's own calls."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client

from annotation.enums import AssignmentState, CampaignState
from annotation.judging import claims, submission
from annotation.models import Assignment, Campaign, CheckAnswer, ItemTime, Judgment
from crowdrag.demo import judges, setup, writers
from crowdrag.studies.entry import links
from crowdrag.studies.models import EntryLink, Study, User
from tests.demo.demo_runs import demo_in
from tests.factories import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def demo(shared_rows: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Set up the demo once; its runs are planned and not done."""
    with demo_in(tmp_path_factory.mktemp("demo")) as demo:
        yield demo.study.pk


@pytest.fixture
def study(demo: int, db: None) -> Study:
    return Study.objects.get(pk=demo)


def given(campaign: Campaign) -> list[Assignment]:
    return list(Assignment.objects.filter(questionnaire__campaign=campaign).order_by("pk"))


@pytest.mark.extended
def test_the_campaign_is_open_and_some_of_it_waits_for_screening(study: Study) -> None:
    campaign = judges.campaign_of(study)
    assert (campaign.state, campaign.is_simulated, campaign.k) == (CampaignState.OPEN, True, 3)
    found = given(campaign)
    assert [each.state for each in found] == [
        *[AssignmentState.SUBMITTED] * 4, AssignmentState.RETURNED, AssignmentState.SUBMITTED,
    ]  # fmt: skip
    assert all(each.participant.is_simulated for each in found)
    assert campaign.slots.open().count() > campaign.questionnaires.count()
    for each in found:
        if each.state == AssignmentState.SUBMITTED:
            assert not submission.missing_answers(each)
            assert ItemTime.objects.filter(assignment=each).count() == each.questionnaire.entries.count()


def test_the_hasty_one_and_the_one_sided_one_can_be_told(study: Study) -> None:
    careful, _second, hasty, one_sided, _gone, _last = given(judges.campaign_of(study))
    limit = judges.TERMS["minimum_seconds"]
    assert hasty.seconds < limit < careful.seconds
    assert set(Judgment.objects.filter(assignment=one_sided).values_list("value", flat=True)) == {-1}
    passed = {
        who: {answer.value == answer.check_asked.expected for answer in CheckAnswer.objects.filter(assignment=who)}
        for who in (careful, one_sided)
    }
    assert passed == {careful: {True}, one_sided: {False}}


def test_again_changes_nothing_and_what_was_closed_stays_closed(study: Study) -> None:
    campaign = judges.campaign_of(study)
    before = [list(each) for each in (Assignment.objects.values_list(), Judgment.objects.values_list())]
    user = User.objects.get(email=setup.EMAIL)
    later = NOW + timedelta(days=1)
    link = judges.ensure(study=study, user=user, now=later)
    assert [list(each) for each in (Assignment.objects.values_list(), Judgment.objects.values_list())] == before
    links.close(link=link, now=later)
    assert judges.ensure(study=study, user=user, now=later) is None
    Campaign.objects.filter(pk=campaign.pk).update(state=CampaignState.CLOSED)
    judges.ensure(study=study, user=user, now=later)
    assert judges.campaign_of(study).state == CampaignState.CLOSED


def test_the_study_leads_to_the_questionnaire(study: Study) -> None:
    link = judges.open_link(study)
    client = Client()
    client.force_login(User.objects.get(email=setup.EMAIL))
    home = client.get("/studies/demo/").content.decode()
    assert home.count(writers.address(link)) == 1
    links.close(link=link, now=NOW)
    assert writers.address(link) not in client.get("/studies/demo/").content.decode()


def test_the_link_lets_anybody_in(study: Study) -> None:
    link = EntryLink.objects.get(purpose=claims.purpose(judges.campaign_of(study)))
    page = Client().get(writers.address(link))
    assert page.status_code == 200
    assert "2.50" in page.content.decode()
