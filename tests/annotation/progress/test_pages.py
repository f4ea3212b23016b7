"""The pages of a running campaign: what they count, what they do, and who may do it."""

import csv
import io
from datetime import timedelta

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.problems import BadCampaign, WrongState
from annotation.enums import AssignmentState, CampaignKind, CampaignState, Inference, Judges
from annotation.judging import claims, decisions, leases, submission
from annotation.models import Assignment, AttentionCheck, Campaign, Slot
from annotation.progress import overview, queries, services, time_left, wages
from annotation.progress.csv_export import TABLES
from crowdrag.studies.enums import Role
from crowdrag.studies.models import EntryLink
from tests.annotation import judge_actions, open_campaign
from tests.annotation.judge_actions import DAY, HOUR, MINUTE, NOW
from tests.annotation.quality import screened
from tests.annotation.shared import signed_in
from tests.factories import CampaignFactory, StudyFactory

pytestmark = pytest.mark.django_db
S = AssignmentState


def url(name: str, here: open_campaign.World, *rest: object) -> str:
    return reverse(name, args=[here.study.slug, here.campaign.pk, *rest])


def source_of(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def busy() -> open_campaign.World:
    """Two questionnaires of three pairs, four judges each: everything that can become of one has become of one."""
    here = open_campaign.world(k=4, pay=400, fee=100, tax=20, wage_floor=1200)
    by = here.member()
    # The first four hold the first questionnaire's places.
    minutes = (10, 20, 40)
    done = [screened.handed_in(here, start=NOW, after=each * MINUTE) for each in minutes]
    for each, took in zip(done, minutes, strict=True):
        # Half of the time the page was away.
        Assignment.objects.filter(pk=each.pk).update(active_seconds=took * 30)
    decisions.accept(assignment=done[0], by=by, now=NOW + HOUR)
    decisions.reject(assignment=done[1], reason="All the same.", by=by, now=NOW + HOUR, pay_part=150)
    returned = judge_actions.claim(here, here.judge(), NOW)
    leases.give_back(assignment=returned, now=NOW)
    late = judge_actions.claim(here, here.judge(), NOW)
    judge_actions.answer_all(late, NOW)
    # In work until now; the other two are given out since.
    judge_actions.claim(here, here.judge(), NOW + DAY)
    judge_actions.claim(here, here.judge(), NOW + DAY)
    leases.expire(now=NOW + DAY)
    judge_actions.claim(here, here.judge(), NOW + DAY)
    here.judge(consents=False)
    return here


def test_counts_are_those_of_what_happened() -> None:
    here = busy()
    found = overview.overview(here.campaign, NOW)
    whole = found.whole
    states = dict.fromkeys(S.values, 0) | {S.ACCEPTED: 1, S.SUBMITTED: 1, S.REJECTED: 1, S.RETURNED: 1}
    assert whole.counts == states | {S.ASSIGNED: 3, S.TIMED_OUT: 1}
    assert (whole.planned, whole.collected, whole.in_work, whole.free, whole.assigned_total) == (8, 2, 3, 3, 8)
    assert whole.free == here.free()
    places = [(each.planned, each.collected + each.in_work + each.free) for each in found.rows.questionnaires]
    assert places == [(4, 4)] * 2
    rates = {each.name: (each.count, each.share.n, each.share.estimate) for each in found.rates}
    assert rates["returned"] == (1, 5, 0.2)
    assert rates["timed_out"] == (1, 5, 0.2)
    assert rates["rejected"] == (1, 2, 0.5)
    assert rates["accepted"] == (1, 2, 0.5)


def test_time_and_wage_by_hand() -> None:
    here = busy()
    work = overview.overview(here.campaign, NOW).work
    # Of the two that stand: 10 and 40 minutes, half of them active, at 4.00 each.
    assert (work.whole.estimate, work.active.estimate, work.whole.clusters) == (25 * 60, 12.5 * 60, 2)
    assert work.wage.estimate == pytest.approx((4800 + 1200) / 2)
    assert work.wage_of_whole.estimate == pytest.approx((2400 + 600) / 2)
    assert (work.below.count, work.below.n) == (0, 2)
    here.change(wage_floor=1201)
    found = overview.overview(here.campaign, NOW)
    assert (found.work.below.count, found.work.below.n) == (1, 2)
    assert [paid.wage for paid in found.below] == [1200]
    here.change(wage_floor=None)
    found = overview.overview(here.campaign, NOW)
    assert found.work.below is None
    assert found.below == []


@pytest.mark.parametrize(("questionnaires", "has_ends"), [(5, False), (6, True)])
def test_medians_of_few_questionnaires_have_no_interval(questionnaires: int, has_ends: bool) -> None:
    here = open_campaign.world(topics=1, k=questionnaires)
    for number in range(questionnaires):
        screened.handed_in(here, start=NOW, after=(10 + number) * MINUTE)
    work = overview.overview(here.campaign, NOW).work
    medians = [(each.clusters, each.has_ends) for each in (work.whole, work.wage_of_whole)]
    assert medians == [(questionnaires, has_ends)] * 2


@pytest.mark.extended
@pytest.mark.parametrize("active", [5, None])
def test_a_questionnaire_of_seconds_pays_no_wage_on_any_page(active: int | None) -> None:
    here = busy()
    Assignment.objects.filter(state=S.SUBMITTED).update(seconds=5, active_seconds=active)
    found = overview.overview(here.campaign, NOW)
    # The other one that stands: 10 minutes, half of them active, at 4.00.
    assert (found.work.wage.estimate, found.work.wage_of_whole.estimate) == pytest.approx((4800, 2400))
    assert (found.work.too_short, found.work.below.n) == (1, 1)
    assert {judge.wage for judge in found.rows.judges} == {4800, None}
    client = signed_in(here.study)
    pages = [source_of(client, url(page, here)) for page in ("campaign", "campaign_quality")]
    assert not any("2,880" in page for page in pages)  # what 4.00 for 5 seconds would come to
    assert pages[0].count('data-testid="too-short"') == 1


def test_cost_by_hand() -> None:
    spending = overview.overview(busy().campaign, NOW).spending
    assert (spending.granted, spending.charges) == (400 + 150, 2 * 120)
    assert (spending.waiting, spending.in_work, spending.to_come) == (520, 3 * 520, 3 * 520)
    assert spending.total == 790 + 520 + 6 * 520
    assert spending.surplus == 0


def test_surplus_is_counted_apart_and_in_no_sum() -> None:
    here = open_campaign.world(k=1, topics=1, pay=400, fee=100)
    late = judge_actions.claim(here, here.judge(), NOW)
    judge_actions.answer_all(late, NOW)
    leases.expire(now=NOW + DAY)
    quick = screened.handed_in(here, start=NOW + DAY)
    submission.submit(assignment=late, now=NOW + DAY)
    found = overview.overview(here.campaign, NOW)
    assert (found.whole.surplus, found.whole.collected, found.whole.free) == (1, 1, 0)
    assert (found.spending.surplus, found.spending.waiting, found.spending.total) == (500, 500, 500)
    assert found.phase == overview.Phase.OPEN
    decisions.accept(assignment=quick, by=here.member(), now=NOW + DAY)
    assert overview.overview(here.campaign, NOW).phase == overview.Phase.COMPLETE


def test_the_funnel_counts_people_of_this_campaign_only() -> None:
    here = busy()
    other = open_campaign.world(study=here.study, name="Another")
    other.campaign.consent_text = here.campaign.consent_text
    other.campaign.save()
    other.judge()
    stages = {each.name: each.people for each in overview.overview(here.campaign, NOW).stages}
    assert stages == {"invited": 0, "arrived": 9, "consented": 8, "claimed": 8, "submitted": 3, "accepted": 1}
    assert [each.name for each in overview.overview(other.campaign, NOW).stages][1:3] == ["arrived", "consented"]
    assert overview.overview(other.campaign, NOW).stages[2].people == 1


@pytest.mark.parametrize("count", [1, 5])
def test_queries_do_not_grow(count, django_assert_num_queries) -> None:
    here = open_campaign.world(topics=count, k=2)
    for number in range(count):
        screened.handed_in(here, start=NOW + number * MINUTE)
    with django_assert_num_queries(17):
        overview.overview(here.campaign, NOW)


def test_each_state_has_its_page() -> None:
    offers = {"DRAFT": set(), "OPEN": {"pause", "close"}, "PAUSED": {"reopen", "close"}, "CLOSED": {"reopen"}}
    study = StudyFactory()
    for state, steps in offers.items():
        here = open_campaign.world(study=study, name=state, state=state)
        page = source_of(signed_in(study), url("campaign", here))
        shown = {step for step in ("pause", "close", "reopen") if f'id="{step}-campaign"' in page}
        assert (shown, "data-polls" in page) == (steps, state != "DRAFT"), state
        assert "-campaign-title" not in source_of(signed_in(study, Role.VIEWER), url("campaign", here))


@pytest.mark.parametrize("fields", [{"judges": Judges.MODEL, "inference": Inference.COMBINED}, {}])
def test_campaigns_that_do_not_run_here_have_their_own_page(fields) -> None:
    campaign = CampaignFactory(state=CampaignState.CLOSED, **fields)
    here = open_campaign.World(campaign, [], [], [])
    client = signed_in(here.study)
    page = client.get(url("campaign", here))
    assert (page.status_code, b"data-polls" in page.content) == (200, False)
    for name in ("campaign_live", "campaign_participants"):
        assert client.get(url(name, here)).status_code == 404
    expected = 404 if fields else 200
    assert client.get(url("campaign_quality", here)).status_code == expected
    assert client.get(url("campaign_setup", here)).status_code == expected
    for name in ("campaign_pause", "campaign_close", "campaign_reopen"):
        assert client.post(url(name, here)).status_code in (302, 404)
    assert client.post(url("campaign_extend", here), {"k": 9}).status_code in (404, 422)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.k) == (CampaignState.CLOSED, CampaignFactory.build().k)


def test_a_campaign_of_another_study_is_not_found() -> None:
    here, there = open_campaign.world(), open_campaign.world()
    client = signed_in(there.study)
    for name in (
        "campaign", "campaign_live", "campaign_quality", "campaign_participants", "campaign_setup", "campaign_extend"
    ):  # fmt: skip
        assert client.get(reverse(name, args=[there.study.slug, here.campaign.pk])).status_code == 404
    for name in ("campaign_pause", "campaign_close", "campaign_reopen"):
        assert client.post(reverse(name, args=[there.study.slug, here.campaign.pk])).status_code == 404
        assert signed_in(here.study).get(url(name, here)).status_code == 405
    assert Campaign.objects.get(pk=here.campaign.pk).state == CampaignState.OPEN


@pytest.mark.extended
def test_pausing_closing_and_reopening_twice_is_once() -> None:
    here = busy()
    client = signed_in(here.study)
    in_work = overview.overview(here.campaign, NOW).whole.in_work
    for name, state in (("pause", "PAUSED"), ("close", "CLOSED"), ("pause", "CLOSED"), ("reopen", "OPEN")):
        for _ in range(2):
            assert client.post(url(f"campaign_{name}", here), follow=True).status_code == 200
            assert Campaign.objects.get(pk=here.campaign.pk).state == state
        assert overview.overview(here.campaign, NOW).whole.in_work == in_work


def test_asking_for_more_says_what_it_costs_and_does_it_once() -> None:
    here = open_campaign.world(k=2, pay=400, fee=100, tax=20)
    client, page = signed_in(here.study), url("campaign_extend", here)
    assert "31.20" in client.get(page, {"k": 5}).content.decode()  # 2 questionnaires, 3 more each, 5.20 a piece
    assert Slot.objects.count() == 4  # looking at it makes none
    for _ in range(2):
        assert client.post(page, {"k": 5}).status_code == 302
        assert (Slot.objects.count(), Campaign.objects.get().k) == (10, 5)
    for bad in ("4", "0", "-1", "1001", "99999999999999999999", "x", "", "5.5"):
        assert client.post(page, {"k": bad}).status_code == client.get(page, {"k": bad}).status_code == 422
    assert (Slot.objects.count(), Campaign.objects.get().k) == (10, 5)


def test_a_draft_cannot_be_extended() -> None:
    here = open_campaign.world(state=CampaignState.DRAFT)
    with pytest.raises(WrongState):
        services.extend(campaign=here.campaign, k=9, now=NOW)
    here.change(state=CampaignState.OPEN)
    with pytest.raises(BadCampaign):
        services.extend(campaign=here.campaign, k=1, now=NOW)
    assert Campaign.objects.get(pk=here.campaign.pk).k == 2


def test_the_moving_part_comes_when_something_moved() -> None:
    here = open_campaign.world()
    client, page = signed_in(here.study), url("campaign_live", here)
    digest = client.get(url("campaign", here)).context["found"].digest
    done = screened.handed_in(here)
    for change in (
        lambda: None,
        lambda: services.refresh(campaign=here.campaign, now=NOW + HOUR, rng=np.random.default_rng(0)),
        lambda: decisions.accept(assignment=done, by=here.member(), now=NOW + HOUR),
    ):
        change()
        moved = client.get(page, {"seen": digest, "page": 1})
        assert (moved.status_code, b"<html" in moved.content) == (200, False)
        digest = moved.context["found"].digest
        assert client.get(page, {"seen": digest, "page": 1}).status_code == 204


def test_much_comes_in_pages() -> None:
    here = judge_actions.sheets(45)
    client = signed_in(here.study)
    pages = [client.get(url("campaign", here), {"page": page}).context["page"] for page in (1, 3, "nonsense")]
    assert [len(page.object_list) for page in pages] == [20, 5, 20]


def test_tables_hold_what_the_page_shows() -> None:
    here = busy()
    services.refresh(campaign=here.campaign, now=NOW + DAY, rng=np.random.default_rng(0))
    client = signed_in(here.study, Role.VIEWER)
    tables = {}
    for name in TABLES:
        answer = client.get(url("campaign_table", here, name))
        assert answer["Content-Type"].startswith("text/csv")
        tables[name] = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert client.get(url("campaign_table", here, "nothing")).status_code == 404
    assert [int(row["accepted"]) for row in tables["questionnaires"]] == [1, 0]
    assert (len(tables["assignments"]), len(tables["judges"])) == (8, 8)
    assert {row["earned"] for row in tables["judges"]} == {"4.00", "1.50", "0.00"}
    assert [row["judgments"] for row in tables["agreement"]] == ["6", "6"]
    assert {row["stage"] for row in tables["funnel"]} >= {"arrived", "accepted"}
    assert {row["share"] for row in tables["outcomes"]} == {"0.2", "0.5", "0.0"}
    rejected = [row for row in tables["assignments"] if row["state"] == "REJECTED"]
    assert [(row["paid"], row["wage_per_active_hour"]) for row in rejected] == [("1.50", "")]
    assert len({row["judge"] for row in tables["competence"]}) == 2  # the rejected one's judgments do not count


@pytest.mark.extended
def test_judges_of_whom_nothing_is_known_stand_last() -> None:
    here = busy()
    services.refresh(campaign=here.campaign, now=NOW + DAY, rng=np.random.default_rng(0))
    judges = signed_in(here.study).get(url("campaign_quality", here)).context["judges"]
    means = [row.judge.mean for row in judges]
    assert [mean is not None for mean in means] == [True, True] + [False] * 6
    assert means[0] <= means[1]


def test_experts_who_are_not_paid_cost_nothing() -> None:
    here = open_campaign.world(kind=CampaignKind.EXPERT, pay=None, fee=None)
    found = overview.overview(here.campaign, NOW)
    assert found.spending.total == 0
    assert found.work.below is not None


def test_nothing_at_all_is_no_share() -> None:
    nothing = queries.StateCounts()
    assert (nothing.share, nothing.is_complete, nothing.free) == (None, False, 0)
    assert all(np.isnan(each.share.estimate) for each in queries.rates(nothing))
    assert wages.work_times([], 1200).wage is None


@pytest.mark.extended
def test_the_rest_takes_as_long_as_the_pace_says() -> None:
    here = busy()
    found = overview.overview(here.campaign, NOW)
    # Two stand, submitted 10 and 40 minutes after the start: six are missing.
    later = time_left.measure_pace(found.rows.assignments, found.whole, NOW + 2 * HOUR)
    assert (later.submitted, later.window, later.left) == (2, 2 * HOUR, 6 * HOUR)
    assert (later.text, later.period) == ("about 6 hours", "2 h")
    exact = time_left.measure_pace(found.rows.assignments, found.whole, NOW + 2 * HOUR + 10 * MINUTE)
    assert (exact.left, exact.period) == (6.5 * HOUR, "2 h 10 min")
    assert time_left.measure_pace(found.rows.assignments, found.whole, NOW + 30 * DAY).left is None
    found.whole.planned = found.whole.collected
    assert time_left.measure_pace(found.rows.assignments, found.whole, NOW + 2 * HOUR) is None
    assert time_left.measure_pace([], queries.StateCounts(planned=3), NOW) is None


def test_quality_shows_flagged_judges_and_failed_checks() -> None:
    here = open_campaign.world(topics=1, k=3)
    options = [{"value": 0, "label": "no"}, {"value": 1, "label": "yes"}]
    of_sheet = {"questionnaire": here.questionnaires[0], "position": 0, "options": options}
    AttentionCheck.objects.create(text="Choose no.", expected=0, **of_sheet)  # whoever answers all chooses yes
    hasty = screened.handed_in(here, start=NOW, after=timedelta(seconds=5))
    found = signed_in(here.study, Role.REVIEWER).get(url("campaign_quality", here))
    [row] = found.context["judges"]
    assert [each.external_id for each in row.flagged] == [hasty.external_id]
    passed = found.context["checks"].passed
    assert (passed.count, passed.n) == (0, 1)
    nobody = open_campaign.world(study=here.study, name="Nobody yet")
    page = signed_in(here.study).get(url("campaign_quality", nobody))
    assert not page.context["has_judgments"]
    assert b"<table" not in page.content


def test_the_tab_of_participants_leads_to_what_awaits_review() -> None:
    here = judge_actions.sheets(1, k=1)
    client, page, screening = signed_in(here.study), url("campaign_participants", here), url("screening", here)
    assignment = judge_actions.claim(here, here.judge(), NOW)
    assert screening not in client.get(page).content.decode()
    judge_actions.answer_all(assignment)
    judge_actions.hand_in(assignment)
    assert screening in client.get(page).content.decode()


def test_links_are_made_where_they_are_needed() -> None:
    here = open_campaign.world()
    other = open_campaign.world(study=here.study, name="Another")
    judge_actions.claim(here, here.judge(), NOW)
    client, page = signed_in(here.study), url("campaign_participants", here)
    purpose = claims.purpose(here.campaign)
    sent = {"kind": "OPEN", "open-label": "Poster", "open-purpose": purpose}
    assert client.post(page, sent).status_code == 302
    assert client.post(page, sent | {"open-purpose": claims.purpose(other.campaign)}).status_code == 422
    shown = client.get(page).context
    assert [row.link.label for row in shown["shared"] if row.link.label == "Poster"] == ["Poster"]
    assert {row.link.purpose for row in shown["shared"]} == {purpose}
    assert (len(shown["at_work"]), shown["waiting"]) == (1, 0)
    made = client.post(page, {"kind": "PERSONAL", "personal-labels": "One", "personal-purpose": purpose})
    assert [each["label"] for each in made.context["made"]] == ["One"]
    assert signed_in(here.study, Role.REVIEWER).get(page).status_code == 403
    [poster] = EntryLink.objects.filter(label="Poster")
    close = reverse("entry_link_close", args=[here.study.slug, poster.pk])
    everywhere = reverse("entry_links", args=[here.study.slug])
    assert client.post(close, {"back": "https://elsewhere.example/"}).url == everywhere
    assert client.post(close, {"back": page}).url == page
