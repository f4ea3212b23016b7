"""Goals of campaigns: looks at judgments as they come in, closing once, and what the page and the API show."""

from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse

from analysis.stats.sequential import system_means
from annotation.campaigns import goals, launch, services
from annotation.campaigns.goals import GoalTerms
from annotation.campaigns.problems import BadCampaign
from annotation.enums import Arm, AssignmentPolicy, AssignmentState, CampaignState, GoalKind, GoalOutcome
from annotation.models import Assignment, AssignmentChoice, Campaign, CampaignGoal, GoalLook, Judgment, Slot
from annotation.policies import choice_weights, pools
from annotation.progress import goal_looks
from annotation.progress.goal_progress import goal_progress
from annotation.progress.queries import total_counts
from crowdrag.jobs import kinds, worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from tests.annotation import open_campaign
from tests.annotation.progress import judged_campaign
from tests.annotation.quality import screened
from tests.annotation.shared import signed_in
from tests.factories import NOW

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def systems(here: open_campaign.World) -> list[str]:
    return goals.systems_of(here.study)


def set_goal(here: open_campaign.World, **terms: object) -> CampaignGoal:
    named = tuple(systems(here)[:2])
    usual = {"kind": GoalKind.BEST, "dimension": here.dimensions[0].name, "systems": named}
    return goals.set_goal(campaign=here.campaign, terms=GoalTerms(**{**usual, **terms}))


@pytest.fixture
def decisive() -> open_campaign.World:
    """A campaign in which the first of two systems wins every comparison, on enough topics by enough judges."""
    here = judged_campaign.crowded(topics=10, responses=3, dimensions=1, k=10, people=20)
    read = {}
    for item in here.campaign.items.select_related("pair__a__participant", "pair__b__participant"):
        sides = [goals.system_of(one.origin, one.participant.external_id) for one in (item.pair.a, item.pair.b)]
        read[item.pk] = -1 if sides[0] < sides[1] else 1
    Assignment.objects.filter(questionnaire__campaign=here.campaign).update(state=AssignmentState.ASSIGNED)
    for value in (-1, 1):
        Judgment.objects.filter(item__in=[pk for pk, side in read.items() if side == value]).update(value=value)
    Assignment.objects.filter(questionnaire__campaign=here.campaign).update(state=AssignmentState.SUBMITTED)
    return here


def run_all() -> int:
    """Work on all runs that close campaigns; return how many there were."""
    waiting = list(Run.objects.filter(kind=goal_looks.KIND).active())
    for run in waiting:
        assert worker.work_next(run)
        run.refresh_from_db()
        assert run.state == RunState.DONE
    return len(waiting)


def worker_of(run: Run) -> kinds.Work:
    return kinds.Work(run, run.units.get())


def test_votes_are_those_of_the_judgments_that_count() -> None:
    here = judged_campaign.crowded(topics=4, responses=3, dimensions=2, k=3)
    goal = set_goal(here)
    read = goal_looks.load_votes(goal)
    rows = Judgment.objects.filter(dimension=here.dimensions[0]).select_related("item__pair__a__participant")
    wins = {name: [] for name in read.systems}
    for row in rows.select_related("item__pair__b__participant", "assignment"):
        a, b = (goals.system_of(one.origin, one.participant.external_id) for one in (row.item.pair.a, row.item.pair.b))
        wins[a].append((1 - row.value) / 2)
        wins[b].append((1 + row.value) / 2)
    assert len(read.votes.score) == rows.count()
    assert read.responses.tolist() == [1, 1, 1]
    assert read.topics == 4
    for index, name in enumerate(read.systems):
        of_first, of_second = read.votes.first == index, read.votes.second == index
        scores = np.concatenate([read.votes.score[of_first], 1 - read.votes.score[of_second]])
        assert scores.sum() == pytest.approx(sum(wins[name]))
    Assignment.objects.filter(pk=rows[0].assignment_id).update(is_included=False)
    assert len(goal_looks.load_votes(goal).votes.score) < rows.count()


def test_a_look_stores_what_the_analysis_says(decisive) -> None:
    goal = set_goal(decisive)
    look = goal_looks.take_look(goal=goal, now=NOW + HOUR)
    read = goal_looks.load_votes(goal)
    means = system_means(read.votes, read.responses)
    assert (look.outcome, look.answer) == (GoalOutcome.DECIDED, [systems(decisive)[0]])
    assert (look.votes, look.topics, look.judges) == (means.votes, means.topics, means.judges)
    index = read.systems.index(look.grades[0]["system"])
    assert look.grades[0]["grade"] == pytest.approx(means.grade[index])
    assert look.comparisons[0]["low"] > 0


def test_looks_are_taken_after_new_judgments_only(decisive) -> None:
    assert goal_looks.refresh_due(now=NOW + HOUR) == 0
    set_goal(decisive)
    assert goal_looks.refresh_due(now=NOW + HOUR) == 1
    assert goal_looks.refresh_due(now=NOW + 2 * HOUR) == 0
    excluded = Assignment.objects.filter(questionnaire__campaign=decisive.campaign)[:1]
    Assignment.objects.filter(pk__in=excluded.values("pk")).update(is_included=False)
    assert goal_looks.refresh_due(now=NOW + 3 * HOUR) == 1
    assert GoalLook.objects.count() == 2


def test_a_decided_campaign_is_closed_once_if_asked(decisive) -> None:
    goal = set_goal(decisive)
    goal_looks.take_look(goal=goal, now=NOW + HOUR)
    assert not Run.objects.filter(kind=goal_looks.KIND).exists()
    goal = set_goal(decisive, closes_campaign=True)
    begun = decisive.held()
    goal_looks.take_look(goal=goal, now=NOW + 2 * HOUR)
    goal_looks.take_look(goal=goal, now=NOW + 3 * HOUR)
    assert run_all() == 1
    decisive.campaign.refresh_from_db()
    assert decisive.campaign.state == CampaignState.CLOSED
    assert decisive.held() == begun
    assert GoalLook.objects.filter(closed_at__isnull=False).count() == 1
    launch.reopen_campaign(campaign=decisive.campaign, now=NOW + 4 * HOUR)
    goal_looks.take_look(goal=goal, now=NOW + 5 * HOUR)
    assert run_all() == 0
    decisive.campaign.refresh_from_db()
    assert decisive.campaign.state == CampaignState.OPEN


def test_closing_twice_is_closing_once(decisive) -> None:
    """A killed worker's unit is worked on again, perhaps after somebody closed the campaign by hand."""
    goal_looks.take_look(goal=set_goal(decisive, closes_campaign=True), now=NOW + HOUR)
    run = Run.objects.get(kind=goal_looks.KIND)
    first, second = (goal_looks.work(worker_of(run)) for _ in range(2))
    launch.close_campaign(campaign=decisive.campaign, now=NOW + 2 * HOUR)
    closed_at = Campaign.objects.get(pk=decisive.campaign.pk).closed_at
    first()
    marked = GoalLook.objects.get().closed_at
    second()
    assert Campaign.objects.get(pk=decisive.campaign.pk).closed_at == closed_at
    assert GoalLook.objects.get().closed_at == marked


def test_a_look_and_its_run_are_stored_together(decisive, monkeypatch) -> None:
    goal = set_goal(decisive, closes_campaign=True)

    def killed(**_parameters: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(goal_looks.lifecycle, "start", killed)
    with pytest.raises(KeyboardInterrupt):
        goal_looks.take_look(goal=goal, now=NOW + HOUR)
    assert not GoalLook.objects.exists()
    monkeypatch.undo()
    goal_looks.refresh_due(now=NOW + HOUR)
    assert run_all() == 1


def test_a_goal_is_fixed_after_the_first_look(decisive) -> None:
    goal = set_goal(decisive)
    set_goal(decisive, kind=GoalKind.RANKING)
    goal_looks.take_look(goal=goals.find_goal(decisive.campaign), now=NOW + HOUR)
    assert GoalLook.objects.exists()
    for change in ({"kind": GoalKind.BEST}, {"kind": GoalKind.RANKING, "confidence": 0.9}):
        with pytest.raises(BadCampaign):
            set_goal(decisive, **change)
    with pytest.raises(BadCampaign):
        goals.remove_goal(campaign=decisive.campaign)
    assert set_goal(decisive, kind=GoalKind.RANKING, closes_campaign=True).closes_campaign
    assert goal.kind == GoalKind.BEST


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"systems": ("human",)}, "systems"),
        ({"systems": ("human", "nobody")}, "systems"),
        ({"dimension": "nothing"}, "dimension"),
        ({"margin": 1.0}, "margin"),
        ({"width": 1.0}, "width"),
        ({"kind": GoalKind.WIDTH}, "width"),
        ({"confidence": 0.4}, "confidence"),
        ({"kind": "other"}, "kind"),
    ],
)
def test_impossible_goals_are_refused(wrong: dict, field: str) -> None:
    here = open_campaign.world(topics=1)
    with pytest.raises(BadCampaign) as refused:
        set_goal(here, **wrong)
    assert field in refused.value.problems


def test_copies_have_the_same_goal() -> None:
    here = open_campaign.world(topics=1)
    goal = set_goal(here, kind=GoalKind.BETTER, margin=0.5, closes_campaign=True)
    copy = services.clone_campaign(campaign=here.campaign, now=NOW)
    assert goals.terms_of(copy.goal) == goals.terms_of(goal)
    assert not copy.goal_looks.exists()


def test_few_judgments_are_undecided_and_say_what_is_expected() -> None:
    here = open_campaign.world(topics=2, k=3)
    screened.handed_in(here, start=NOW)
    goal_looks.take_look(goal=set_goal(here), now=NOW + HOUR)
    shown = goal_progress(here.campaign, total_counts([here.campaign.pk])[here.campaign.pk])
    assert shown.outcome == GoalOutcome.UNDECIDED
    assert (shown.answer, shown.expected) == ("", None)


def test_the_page_shows_state_answer_and_looks(decisive) -> None:
    client = signed_in(decisive.study)
    set_goal(decisive)
    page = reverse("campaign", args=[decisive.study.slug, decisive.campaign.pk])
    assert 'data-state="waiting"' in client.get(page).content.decode()
    goal_looks.refresh_due(now=NOW + HOUR)
    content = client.get(page).content.decode()
    assert 'data-state="decided"' in content
    assert goals.label_of(systems(decisive)[0]) in content
    chart = reverse("campaign_goal_chart", args=[decisive.study.slug, decisive.campaign.pk, "svg"])
    assert client.get(chart)["Content-Type"] == "image/svg+xml"


def test_the_policy_asks_for_the_goal_of_the_campaign(decisive: open_campaign.World) -> None:
    assert pools.load_pool(decisive.campaign).goal is None
    goal = set_goal(decisive)
    loaded = pools.load_pool(decisive.campaign)
    asked = loaded.goal
    assert asked is not None
    assert (asked.kind, asked.confidence) == (goal.kind, goal.confidence)
    keys = [loaded.system_names[int(index)] for index in asked.systems]
    names = dict(decisive.study.participants.values_list("pk", "external_id"))
    assert [names.get(key, goals.PEOPLE) for key in keys] == goal.systems
    assert len(loaded.pool.votes) == 1


def test_votes_that_a_policy_chose_weigh_what_makes_up_for_it(decisive: open_campaign.World) -> None:
    goal = set_goal(decisive)
    assert goal_looks.load_votes(goal).votes.weight is None
    campaign = decisive.change(policy=AssignmentPolicy.INFORMATION, has_slots=True)
    first, *_others = Assignment.objects.filter(questionnaire__campaign=campaign).order_by("pk")
    AssignmentChoice.objects.create(
        assignment=first, policy=AssignmentPolicy.INFORMATION, epoch=1, arm=Arm.POLICY, probability=0.5,
        tier="trusted", free_slots=4,
    )  # fmt: skip
    Slot.objects.bulk_create(
        Slot(campaign=campaign, questionnaire=first.questionnaire, number=n, rank=n) for n in range(900, 909)
    )
    weights = choice_weights.assignment_weights(campaign)
    votes = goal_looks.load_votes(CampaignGoal.objects.get(pk=goal.pk)).votes
    assert weights[first.pk] != 1.0
    assert votes.weight is not None
    assert set(votes.weight.tolist()) == {1.0, weights[first.pk]}
