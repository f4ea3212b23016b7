"""Figures of campaigns with very many questionnaires: kept, equal to those that are computed, and renewed."""

import itertools

import numpy as np
import pytest

from annotation.judging import decisions
from annotation.models import Assignment, Campaign, ProgressFigures
from annotation.progress import figures, overview, services
from annotation.progress.campaign_rows import CampaignRows
from annotation.progress.campaign_summary import spending_line
from tests.annotation import judge_actions, open_campaign
from tests.annotation.judge_actions import DAY, MINUTE, NOW
from tests.annotation.progress.test_pages import busy, url
from tests.annotation.shared import signed_in

pytestmark = pytest.mark.django_db
LATER = NOW + 2 * DAY


@pytest.fixture
def many(monkeypatch) -> None:
    """Campaigns count as large from one questionnaire."""
    monkeypatch.setattr(figures, "MANY", 1)


def shown(campaign: Campaign) -> tuple[object, ...]:
    rows = CampaignRows(campaign)
    return (
        figures.figures(campaign, rows, LATER)[0],
        figures.judge_order(campaign, rows, LATER),
        figures.check_results(campaign, rows, LATER),
        sorted(figures.hourly_pay(campaign, rows, LATER)),
    )


def work_with_checks() -> open_campaign.World:
    here = busy()
    check = judge_actions.add_check(here.questionnaires[0])
    here.change(wage_floor=1201)
    assert check.pk
    services.refresh(campaign=here.campaign, now=NOW + DAY, rng=np.random.default_rng(0))
    return here


def test_kept_figures_equal_those_that_are_computed(monkeypatch) -> None:
    here = work_with_checks()
    computed, order, checks, pay = shown(here.campaign)
    assert not ProgressFigures.objects.exists()  # few: computed each time
    monkeypatch.setattr(figures, "MANY", 1)
    for _ in range(2):  # stored, then read
        kept, *others = shown(here.campaign)
        # NaN, of an interval that cannot be had, equals nothing: compared as text.
        assert repr(kept) == repr(computed)
        assert (others[0], repr(others[1]), others[2]) == (order, repr(checks), pay)
    assert ProgressFigures.objects.count() == 1


@pytest.mark.usefixtures("many")
def test_pages_show_the_kept_figures_until_the_sweep_renews_them() -> None:
    here = busy()
    client = signed_in(here.study)
    before = client.get(url("campaign", here)).context["found"]
    kept_at = before.kept_at
    assert kept_at is not None
    decisions.accept(assignment=Assignment.objects.get(state="SUBMITTED"), by=here.member(), now=NOW + DAY)
    found = client.get(url("campaign", here)).context["found"]
    assert (found.whole, found.kept_at, found.digest) == (before.whole, kept_at, before.digest)
    assert figures.refresh_due(now=LATER) == 1
    found = client.get(url("campaign", here)).context["found"]
    assert (found.whole.accepted, found.whole.waiting) == (before.whole.accepted + 1, before.whole.waiting - 1)
    assert (found.kept_at, found.digest != before.digest) == (LATER, True)
    assert figures.refresh_due(now=LATER) == 0


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    "page",
    ["campaign", *(pytest.param(each, marks=pytest.mark.extended) for each in ("campaign_live", "campaign_quality"))],
)
def test_pages_of_large_campaigns_read_no_list_of_all_questionnaires(page: str, monkeypatch) -> None:
    here = work_with_checks()
    figures.keep(here.campaign, CampaignRows(here.campaign), NOW)
    for name in ("assignments", "questionnaires", "competence", "judges"):
        monkeypatch.delattr(CampaignRows, name)
    assert signed_in(here.study).get(url(page, here)).status_code == 200
    assert spending_line(here.study) is not None


@pytest.mark.usefixtures("many")
def test_places_that_somebody_added_are_shown_at_once() -> None:
    here = busy()
    planned = overview.overview(here.campaign, NOW).whole.planned
    services.extend(campaign=here.campaign, k=here.campaign.k + 1, now=NOW)
    assert overview.overview(here.campaign, NOW).whole.planned == planned + len(here.questionnaires)


@pytest.mark.usefixtures("many")
def test_figures_that_cannot_be_computed_do_not_stop_those_of_other_campaigns(monkeypatch, caplog) -> None:
    first, second = busy(), busy()
    keep = figures.keep

    def fails(campaign, rows, now):
        if campaign == first.campaign:
            raise ValueError("broken")
        return keep(campaign, rows, now)

    monkeypatch.setattr(figures, "keep", fails)
    assert figures.refresh_due(now=NOW + MINUTE) == 1
    assert ProgressFigures.objects.get().campaign == second.campaign
    assert str(first.campaign.pk) in caplog.text


def test_a_closed_campaign_is_computed_again_once_an_hour() -> None:
    campaign = replace_state(busy().campaign, "CLOSED")
    marks = [figures._mark(campaign, NOW + n * 20 * MINUTE) for n in range(7)]
    assert 2 <= sum(before != after for before, after in itertools.pairwise(marks)) <= 3


def replace_state(campaign: Campaign, state: str) -> Campaign:
    campaign.state = state
    campaign.save()
    return campaign
