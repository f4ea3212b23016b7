"""A campaign's goal is stated by keyboard, and its page shows when it is decided."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.campaigns import goals
from annotation.campaigns.goals import GoalTerms
from annotation.enums import GoalKind
from annotation.progress import goal_looks
from crowdrag.studies.enums import Role
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.annotation.progress import judged_campaign
from tests.factories import NOW, MembershipFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_goal_is_stated_by_keyboard(page: Page, live_server: Any, sign_in: Any) -> None:
    study = corpus(topics=4)
    campaign = draft(study)
    sign_in(MembershipFactory(study=study, role=Role.EDITOR).user)
    page.goto(f"{live_server.url}/studies/{study.slug}/campaigns/{campaign.pk}/edit/goal/")
    page.locator("input[name=kind][value=best]").press("Space")
    for box in page.locator("input[name=systems]").all():
        box.press("Space")
    page.locator("input[name=closes_campaign]").press("Space")
    page.get_by_role("button", name="Save").press("Enter")
    page.wait_for_url("**/setup/")
    goal = goals.find_goal(campaign)
    assert goal is not None
    assert (goal.kind, goal.closes_campaign) == (GoalKind.BEST, True)
    assert goal.systems == goals.systems_of(study)


def test_the_chart_and_the_table_follow_the_looks(page: Page, live_server: Any, sign_in: Any) -> None:
    here = judged_campaign.crowded(topics=10, responses=3, dimensions=1, k=10, people=20)
    systems = tuple(goals.systems_of(here.study))
    terms = GoalTerms(GoalKind.RANKING, here.dimensions[0].name, systems)
    goal = goals.set_goal(campaign=here.campaign, terms=terms)
    for hour in range(1, 3):
        goal_looks.take_look(goal=goal, now=NOW + timedelta(hours=hour))
    sign_in(MembershipFactory(study=here.study, role=Role.EDITOR).user)
    page.goto(f"{live_server.url}/studies/{here.study.slug}/campaigns/{here.campaign.pk}/")
    expect(page.locator("#goal .chart img")).to_have_js_property("complete", True)
    assert page.locator("#goal .chart img").evaluate("image => image.naturalWidth") > 0
    assert page.locator("#goal tbody tr").count() == 2
