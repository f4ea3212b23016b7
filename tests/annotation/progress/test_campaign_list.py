"""Pages of campaigns."""

from unittest.mock import ANY

import pytest
from django.test import Client

from annotation.enums import AssignmentState, CampaignState, Inference, Judges
from annotation.models import Assignment, Campaign
from annotation.progress import campaign_summary
from crowdrag.studies.enums import Role
from tests.annotation import judge_actions
from tests.annotation.shared import made_once
from tests.factories import CampaignDimensionFactory, CampaignFactory, JudgmentFactory, MembershipFactory

pytestmark = pytest.mark.django_db


stored, member = made_once(lambda: MembershipFactory(role=Role.VIEWER))


@pytest.fixture
def client(member) -> Client:
    client = Client()
    client.force_login(member.user)
    return client


@pytest.mark.parametrize("count", [1, 3])
def test_campaigns_take_the_same_queries_for_one_and_three(member, client, count, django_assert_num_queries) -> None:
    for _ in range(count):
        CampaignFactory(study=member.study)
    CampaignFactory()  # of another study
    with django_assert_num_queries(12):
        answer = client.get(f"/studies/{member.study.slug}/campaigns/")
    assert len(answer.context["campaigns"]) == count
    assert b"data-sortable" in answer.content


def test_of_many_campaigns_the_list_has_pages_and_the_home_shows_some(member, client) -> None:
    study, slug = member.study, member.study.slug
    oldest = CampaignFactory(study=study, name="The oldest", state=CampaignState.OPEN)
    made = [CampaignFactory(study=study, name=f"Number {n}", state=CampaignState.CLOSED) for n in range(52)]
    first = client.get(f"/studies/{slug}/campaigns/")
    assert [row.campaign for row in first.context["campaigns"]] == made[:1:-1]
    # One page can be sorted by itself, which would say nothing of the others.
    assert b"data-sortable" not in first.content
    second = client.get(f"/studies/{slug}/campaigns/?page=2").context["campaigns"]
    assert [row.campaign for row in second] == [*made[1::-1], oldest]
    home = client.get(f"/studies/{slug}/")
    card = next(card for card in home.context["cards"] if "campaigns" in card)
    assert [row.campaign for row in card["campaigns"]] == [oldest, *made[:-10:-1]]
    assert "43" in home.content.decode()


def test_a_campaign_shows_what_came_in(member, client) -> None:
    judgment = JudgmentFactory(
        entry__item__pair__a__topic__study=member.study, assignment__state=AssignmentState.SUBMITTED, value=-1
    )
    campaign = judgment.item.campaign
    CampaignDimensionFactory(campaign=campaign, dimension=judgment.dimension)
    answer = client.get(f"/studies/{member.study.slug}/campaigns/{campaign.pk}/")
    [row] = answer.context["dimensions"]
    assert [(given["label"], given["n"]) for given in row["answers"]] == [("A", 1), ("neither", 0), ("B", 0)]
    # Answers count where the agreement counts them: not those of a questionnaire that is not submitted.
    Assignment.objects.filter(pk=judgment.assignment_id).update(state=AssignmentState.ASSIGNED)
    described = campaign_summary.describe_campaign(campaign)
    assert (described["dimensions"][0]["n"], described["judgments"]) == (0, 1)
    Assignment.objects.filter(pk=judgment.assignment_id).update(state=AssignmentState.SUBMITTED)
    assert [count for _label, count in answer.context["states"]] == [1]
    assert (answer.context["judgments"], answer.context["campaign"].item_count) == (1, 1)
    # A model's assignment is no work that somebody handed in.
    assert b'id="assignments"' in answer.content
    Campaign.objects.filter(pk=campaign.pk).update(judges=Judges.MODEL, inference=Inference.COMBINED)
    assert b'id="assignments"' not in client.get(answer.request["PATH_INFO"]).content


def test_the_home_page_offers_judging_only_while_judges_are_needed() -> None:
    here = judge_actions.sheets(1, k=1)
    link, judge = here.link, here.judge()
    assert campaign_summary.study_card(here.study) == {"campaigns": ANY, "more": 0, "link": link}
    assignment = judge_actions.claim(here, judge)
    assert campaign_summary.study_card(here.study) == {"campaigns": ANY, "more": 0, "link": link}
    judge_actions.answer_all(assignment)
    judge_actions.hand_in(assignment)
    assert campaign_summary.study_card(here.study) == {"campaigns": ANY, "more": 0, "link": None}
