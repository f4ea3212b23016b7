"""The pages of a running campaign: what they count, what they do, and who may do it."""

import csv
import io
import re

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation.domain import assignments, live
from annotation.domain.campaigns import BadCampaign, WrongState
from annotation.domain.live import counting, working
from annotation.enums import AssignmentState, CampaignKind, CampaignState, Inference, Judges
from annotation.models import Assignment, Campaign, Place
from crowdrag.studies.enums import Role
from tests.factories import CampaignFactory, StudyFactory

from . import campaigns, judging, screened
from .judging import DAY, HOUR, MINUTE, NOW

pytestmark = pytest.mark.django_db
S = AssignmentState


def signed_in(here: campaigns.World, role: Role = Role.EDITOR) -> Client:
    client = Client()
    client.force_login(here.member(role))
    return client


def url(name: str, here: campaigns.World, *rest: object) -> str:
    return reverse(name, args=[here.study.slug, here.campaign.pk, *rest])


def busy() -> campaigns.World:
    """Two questionnaires of three pairs, four judges each: everything that can become of one has become of one."""
    here = campaigns.world(k=4, pay=400, fee=100, tax=20, wage_floor=1200)
    by = here.member()
    # The first four hold the first questionnaire's places.
    minutes = (10, 20, 40)
    done = [screened.handed_in(here, start=NOW, after=each * MINUTE) for each in minutes]
    for each, took in zip(done, minutes, strict=True):
        # Half of the time the page was away.
        Assignment.objects.filter(pk=each.pk).update(active_seconds=took * 30)
    assignments.accept(assignment=done[0], by=by, now=NOW + HOUR)
    assignments.reject(assignment=done[1], reason="All the same.", by=by, now=NOW + HOUR, pay_part=150)
    returned = judging.claim(here, here.judge(), NOW)
    assignments.give_back(assignment=returned, now=NOW)
    late = judging.claim(here, here.judge(), NOW)
    judging.answer_all(late, NOW)
    # In work until now; the other two are given out since.
    judging.claim(here, here.judge(), NOW + DAY)
    judging.claim(here, here.judge(), NOW + DAY)
    assignments.expire(now=NOW + DAY)
    judging.claim(here, here.judge(), NOW + DAY)
    here.judge(consents=False)
    return here


def test_counts_are_those_of_what_happened() -> None:
    here = busy()
    found = live.overview(here.campaign)
    whole = found.whole
    states = dict.fromkeys(S.values, 0) | {S.ACCEPTED: 1, S.SUBMITTED: 1, S.REJECTED: 1, S.RETURNED: 1}
    assert whole.counts == states | {S.ASSIGNED: 3, S.TIMED_OUT: 1}
    assert (whole.asked, whole.collected, whole.in_work, whole.free, whole.given) == (8, 2, 3, 3, 8)
    assert whole.free == here.free()
    assert [(each.asked, each.collected + each.in_work + each.free) for each in found.questionnaires] == [(4, 4)] * 2
    rates = {each.name: (each.count, each.share.n, each.share.estimate) for each in found.rates}
    assert rates["returned"] == (1, 5, 0.2)
    assert rates["timed_out"] == (1, 5, 0.2)
    assert rates["rejected"] == (1, 2, 0.5)
    assert rates["accepted"] == (1, 2, 0.5)


def test_time_and_wage_by_hand() -> None:
    here = busy()
    work = live.overview(here.campaign).work
    # Of the two that stand: 10 and 40 minutes, half of them active, at 4.00 each.
    assert (work.whole.estimate, work.active.estimate, work.whole.clusters) == (25 * 60, 12.5 * 60, 2)
    assert work.wage.estimate == pytest.approx((4800 + 1200) / 2)
    assert work.wage_of_whole.estimate == pytest.approx((2400 + 600) / 2)
    assert (work.below.count, work.below.n) == (0, 2)
    here.change(wage_floor=1201)
    found = live.overview(here.campaign)
    assert (found.work.below.count, found.work.below.n) == (1, 2)
    assert [paid.wage for paid in found.below] == [1200]
    here.change(wage_floor=None)
    found = live.overview(here.campaign)
    assert found.work.below is None
    assert found.below == []


@pytest.mark.parametrize(("questionnaires", "has_ends"), [(5, False), (6, True)])
def test_medians_of_few_questionnaires_have_no_interval(questionnaires: int, has_ends: bool) -> None:
    here = campaigns.world(topics=1, k=questionnaires)
    for number in range(questionnaires):
        screened.handed_in(here, start=NOW, after=(10 + number) * MINUTE)
    work = live.overview(here.campaign).work
    found = [work.whole, work.wage_of_whole]
    assert [each.clusters for each in found] == [questionnaires] * 2
    assert [each.has_ends for each in found] == [has_ends] * 2
    page = signed_in(here).get(url("campaign", here)).content.decode()
    assert (re.search("min \\d+\u00a0s – ", page) is not None) == has_ends


@pytest.mark.parametrize("times", [{"seconds": 5, "active_seconds": 5}, {"seconds": 5, "active_seconds": None}])
def test_a_questionnaire_of_seconds_pays_no_wage_on_any_page(times: dict[str, int | None]) -> None:
    here = busy()
    quick = Assignment.objects.get(state=S.SUBMITTED)
    Assignment.objects.filter(pk=quick.pk).update(**times)
    found = live.overview(here.campaign)
    # The other one that stands: 10 minutes, half of them active, at 4.00.
    assert (found.work.wage.estimate, found.work.wage_of_whole.estimate) == pytest.approx((4800, 2400))
    assert (found.work.too_short, found.work.below.n) == (1, 1)
    assert {judge.wage for judge in found.judges} == {4800, None}
    client = signed_in(here)
    for page in ("campaign", "campaign_judges"):
        shown = client.get(url(page, here)).content.decode()
        assert "2,880" not in shown  # what 4.00 for 5 seconds would come to
    assert client.get(url("campaign", here)).content.decode().count('data-testid="too-short"') == 1


def test_cost_by_hand() -> None:
    spending = live.overview(busy().campaign).spending
    assert (spending.granted, spending.charges) == (400 + 150, 2 * 120)
    assert (spending.waiting, spending.in_work, spending.to_come) == (520, 3 * 520, 3 * 520)
    assert spending.total == 790 + 520 + 6 * 520
    assert spending.surplus == 0


def test_surplus_is_counted_apart_and_in_no_sum() -> None:
    here = campaigns.world(k=1, topics=1, pay=400, fee=100)
    late = judging.claim(here, here.judge(), NOW)
    judging.answer_all(late, NOW)
    assignments.expire(now=NOW + DAY)
    quick = screened.handed_in(here, start=NOW + DAY)
    assignments.submit(assignment=late, now=NOW + DAY)
    found = live.overview(here.campaign)
    assert (found.whole.surplus, found.whole.collected, found.whole.free) == (1, 1, 0)
    assert (found.spending.surplus, found.spending.waiting, found.spending.total) == (500, 500, 500)
    assert found.phase == live.Phase.OPEN
    assignments.accept(assignment=quick, by=here.member(), now=NOW + DAY)
    assert live.overview(here.campaign).phase == live.Phase.COMPLETE


def test_the_funnel_counts_people_of_this_campaign_only() -> None:
    here = busy()
    other = campaigns.world(study=here.study, name="Another")
    other.campaign.consent_text = here.campaign.consent_text
    other.campaign.save()
    other.judge()
    stages = {each.name: each.people for each in live.overview(here.campaign).stages}
    assert stages == {"invited": 0, "arrived": 9, "consented": 8, "claimed": 8, "submitted": 3, "accepted": 1}
    assert [each.name for each in live.overview(other.campaign).stages][1:3] == ["arrived", "consented"]
    assert live.overview(other.campaign).stages[2].people == 1


@pytest.mark.parametrize("count", [1, 5])
def test_queries_do_not_grow(count, django_assert_num_queries) -> None:
    here = campaigns.world(topics=count, k=2)
    for number in range(count):
        screened.handed_in(here, start=NOW + number * MINUTE)
    with django_assert_num_queries(14):
        live.overview(here.campaign)


def test_each_state_has_its_page() -> None:
    study = StudyFactory()
    shown = {}
    for state in CampaignState.values:
        here = campaigns.world(study=study, name=state, state=state)
        shown[state] = signed_in(here).get(url("campaign", here)).content.decode()
    assert "is a draft" in shown["DRAFT"]
    assert "data-polls" not in shown["DRAFT"]
    for state, offered, missing in (
        ("OPEN", ("pause", "close"), ("reopen",)),
        ("PAUSED", ("reopen", "close"), ("pause",)),
        ("CLOSED", ("reopen",), ("pause", "close")),
    ):
        for name in offered:
            assert f'id="{name}-campaign"' in shown[state]
        for name in missing:
            assert f'id="{name}-campaign"' not in shown[state]
        assert "data-polls" in shown[state]
    assert "Nobody has come yet" in shown["OPEN"]


@pytest.mark.parametrize("fields", [{"judges": Judges.MODEL, "inference": Inference.COMBINED}, {}])
def test_campaigns_that_do_not_run_here_have_their_own_page(fields) -> None:
    campaign = CampaignFactory(state=CampaignState.CLOSED, **fields)
    here = campaigns.World(campaign, [], [], [])
    client = signed_in(here)
    page = client.get(url("campaign", here))
    assert page.status_code == 200
    assert b"data-polls" not in page.content
    for name in ("campaign_moving", "campaign_judges"):
        assert client.get(url(name, here)).status_code == 404
    for name in ("campaign_pause", "campaign_close", "campaign_reopen"):
        assert client.post(url(name, here)).status_code in (302, 404)
    assert client.post(url("campaign_extend", here), {"k": 9}).status_code in (404, 422)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.k) == (CampaignState.CLOSED, CampaignFactory.build().k)


@pytest.mark.parametrize("role", list(Role))
def test_who_may_do_what(role) -> None:
    here = campaigns.world()
    client = signed_in(here, role)
    page = client.get(url("campaign", here))
    assert page.status_code == 200
    may = role >= Role.EDITOR
    assert (b"pause-campaign" in page.content) == may
    for name in ("campaign_pause", "campaign_close", "campaign_reopen", "campaign_extend"):
        data = {"k": 3} if name == "campaign_extend" else {}
        assert client.post(url(name, here), data).status_code == (302 if may else 403)
    assert client.get(url("campaign_extend", here)).status_code == (200 if may else 403)
    assert Campaign.objects.get(pk=here.campaign.pk).k == (3 if may else 2)
    for name in ("campaign_judges", "campaign_moving"):
        assert client.get(url(name, here)).status_code == 200


def test_nobody_else_sees_anything() -> None:
    here, there = campaigns.world(), campaigns.world()
    client = signed_in(there)
    for name in ("campaign", "campaign_moving", "campaign_judges", "campaign_extend"):
        assert client.get(url(name, here)).status_code == 404
        assert client.get(reverse(name, args=[there.study.slug, here.campaign.pk])).status_code == 404
    assert client.get(url("campaign_table", here, "judges")).status_code == 404
    for name in ("campaign_pause", "campaign_close", "campaign_reopen"):
        assert client.post(reverse(name, args=[there.study.slug, here.campaign.pk])).status_code == 404
        assert signed_in(here).get(url(name, here)).status_code == 405
    assert Campaign.objects.get(pk=here.campaign.pk).state == CampaignState.OPEN


def test_pausing_closing_and_reopening_twice_is_once() -> None:
    here = busy()
    client = signed_in(here)
    in_work = live.overview(here.campaign).whole.in_work
    for name, state in (("pause", "PAUSED"), ("close", "CLOSED"), ("reopen", "OPEN")):
        for _ in range(2):
            assert client.post(url(f"campaign_{name}", here), follow=True).status_code == 200
            assert Campaign.objects.get(pk=here.campaign.pk).state == state
        assert live.overview(here.campaign).whole.in_work == in_work
    client.post(url("campaign_close", here))
    answer = client.post(url("campaign_pause", here), follow=True)
    assert "cannot become" in answer.content.decode()


def test_whoever_is_in_the_middle_of_a_closed_campaign_finishes() -> None:
    here = campaigns.world()
    mine = judging.claim(here, here.judge())
    signed_in(here).post(url("campaign_close", here))
    assert judging.hand_in(mine).state == S.SUBMITTED


def test_asking_for_more_says_what_it_costs_and_does_it_once() -> None:
    here = campaigns.world(k=2, pay=400, fee=100, tax=20)
    client = signed_in(here)
    page = url("campaign_extend", here)
    said = client.get(page, {"k": 5}).content.decode()
    assert "USD\u00a031.20" in said  # 2 questionnaires, 3 more each, 5.20 a piece
    assert Place.objects.count() == 4  # looking at it makes none
    for _ in range(2):
        assert client.post(page, {"k": 5}).status_code == 302
        assert (Place.objects.count(), Campaign.objects.get().k) == (10, 5)
    for bad in ("4", "0", "-1", "1001", "99999999999999999999", "x", "", "5.5"):
        assert client.post(page, {"k": bad}).status_code == 422
        assert client.get(page, {"k": bad}).status_code == 422
    assert (Place.objects.count(), Campaign.objects.get().k) == (10, 5)


def test_a_draft_cannot_be_extended() -> None:
    here = campaigns.world(state=CampaignState.DRAFT)
    with pytest.raises(WrongState):
        live.extend(campaign=here.campaign, k=9, now=NOW)
    here.change(state=CampaignState.OPEN)
    with pytest.raises(BadCampaign):
        live.extend(campaign=here.campaign, k=1, now=NOW)
    assert Campaign.objects.get(pk=here.campaign.pk).k == 2


def test_the_moving_part_comes_when_something_moved() -> None:
    here = campaigns.world()
    client = signed_in(here)
    found = client.get(url("campaign", here)).context["found"]
    page = url("campaign_moving", here)
    assert client.get(page, {"seen": found.digest, "page": 1}).status_code == 204
    mine = screened.handed_in(here)
    moved = client.get(page, {"seen": found.digest})
    assert moved.status_code == 200
    assert b"<html" not in moved.content
    digest = moved.context["found"].digest
    assert client.get(page, {"seen": digest}).status_code == 204
    live.refresh(campaign=here.campaign, now=NOW + HOUR, rng=np.random.default_rng(0))
    assert client.get(page, {"seen": digest}).status_code == 200
    digest = live.overview(here.campaign).digest
    assignments.accept(assignment=mine, by=here.member(), now=NOW + HOUR)
    assert client.get(page, {"seen": digest}).status_code == 200


def test_much_comes_in_pages() -> None:
    here = judging.sheets(45)
    client = signed_in(here)
    first, last = (client.get(url("campaign", here), {"page": n}) for n in (1, "nonsense"))
    assert len(first.context["page"].object_list) == 20
    assert last.status_code == 200
    assert len(client.get(url("campaign", here), {"page": 3}).context["page"].object_list) == 5


def test_tables_hold_what_the_page_shows() -> None:
    here = busy()
    live.refresh(campaign=here.campaign, now=NOW + DAY, rng=np.random.default_rng(0))
    client = signed_in(here, Role.VIEWER)
    found = {}
    for name in live.TABLES:
        answer = client.get(url("campaign_table", here, name))
        assert answer["Content-Type"].startswith("text/csv")
        found[name] = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert client.get(url("campaign_table", here, "nothing")).status_code == 404
    assert len(found["questionnaires"]) == 2
    assert sum(int(row["accepted"]) for row in found["questionnaires"]) == 1
    assert len(found["assignments"]) == 8
    assert len(found["judges"]) == 8
    assert {row["earned"] for row in found["judges"]} == {"4.00", "1.50", "0.00"}
    assert [row["judgments"] for row in found["agreement"]] == ["6", "6"]
    assert {row["stage"] for row in found["funnel"]} >= {"arrived", "accepted"}
    assert {row["share"] for row in found["outcomes"]} == {"0.2", "0.5", "0.0"}
    rejected = [row for row in found["assignments"] if row["state"] == "REJECTED"]
    assert [(row["paid"], row["wage_per_active_hour"]) for row in rejected] == [("1.50", "")]
    names = {row["judge"] for row in found["competence"]}
    assert len(names) == 2  # the rejected one's judgments do not count


def test_judges_of_whom_nothing_is_known_stand_last() -> None:
    here = busy()
    live.refresh(campaign=here.campaign, now=NOW + DAY, rng=np.random.default_rng(0))
    page = signed_in(here).get(url("campaign_judges", here))
    assert page.status_code == 200
    known = [judge.mean is not None for judge, _trusts in page.context["judges"]]
    assert known == [True, True] + [False] * 6
    trusted = [judge.mean for judge, _trusts in page.context["judges"][:2]]
    assert trusted == sorted(trusted)


def test_the_list_and_the_home_say_how_each_stands() -> None:
    here = busy()
    client = signed_in(here)
    text = client.get(reverse("campaigns", args=[here.study.slug])).content.decode()
    assert "2 of 8" in text
    home = client.get(reverse("study", args=[here.study.slug])).content.decode()
    assert "2 of 8 questionnaires" in home


def test_experts_who_are_not_paid_cost_nothing() -> None:
    here = campaigns.world(kind=CampaignKind.EXPERT, pay=None, fee=None)
    found = live.overview(here.campaign)
    assert found.spending.total == 0
    assert found.work.below is not None


def test_nothing_at_all_is_no_share() -> None:
    nothing = counting.Standing()
    assert (nothing.share, nothing.is_complete, nothing.free) == (None, False, 0)
    assert all(np.isnan(each.share.estimate) for each in counting.rates(nothing))
    assert working.work([], 1200).wage is None
