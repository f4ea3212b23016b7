"""Look at campaigns' goals as judgments come in, and close campaigns that are decided (docs/methods/sequential.md).

A job of the sweep looks at each campaign whose judgments changed since the last look. A look and the run that closes
the campaign are stored in one transaction; the run's effect closes the campaign once, whatever is killed in between.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from math import isfinite
from typing import Any, Final

import numpy as np
from django.db import InterfaceError, OperationalError, transaction
from django.urls import reverse
from django.utils import timezone
from numpy.typing import NDArray

from analysis.stats import goal_decisions
from analysis.stats.sequential import Votes, system_means
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.models import Run

from ..campaigns import goals, launch, questionnaires
from ..enums import CampaignState, GoalOutcome, Judges
from ..models import Assignment, Campaign, CampaignGoal, GoalLook, Item, Judgment, KnownLabel
from ..policies import choice_weights
from . import services
from .agreement import COUNTED, PORTION, count_judgments
from .queries import total_counts

KIND: Final = "campaign.close"
AT_ONCE: Final = 4
Ints = NDArray[np.int64]
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class GoalVotes:
    """The votes on a goal's dimension, with what is needed to look at them.

    Attributes
    ----------
    votes : Votes
    systems : tuple of str
        The names of the systems.
    responses : ndarray of shape (n_systems,)
        How many responses each system has to a topic, on average over the campaign's topics.
    topics : int
        How many topics the campaign has.
    """

    votes: Votes
    systems: tuple[str, ...]
    responses: NDArray[np.float64]
    topics: int


def refresh_due(*, now: datetime, at_once: int = AT_ONCE) -> int:
    """Look at the goals of campaigns whose judgments changed; return how many were looked at."""
    done = 0
    for goal in due(now=now, at_once=at_once):
        try:
            take_look(goal=goal, now=now)
        except (InterfaceError, OperationalError):
            raise  # the sweep waits for the database
        except Exception:
            # A campaign that fails must not stop the others.
            log.exception("The goal of campaign %s could not be looked at", goal.campaign_id)
        else:
            done += 1
    return done


def due(*, now: datetime, at_once: int = AT_ONCE) -> list[CampaignGoal]:
    """Return the goals of campaigns whose judgments changed since the last look, longest wait first.

    Those with very many judgments wait longer, as their other live figures do.
    """
    known = CampaignGoal.objects.filter(campaign__has_slots=True).exclude(campaign__state=CampaignState.DRAFT)
    latest = {look.campaign_id: look for look in _latest(known)}
    waiting = sorted(
        known.select_related("campaign", "dimension"),
        key=lambda goal: (
            goal.campaign_id in latest,
            getattr(latest.get(goal.campaign_id), "at", None) or now,
            goal.pk,
        ),
    )
    return list(islice((goal for goal in waiting if _is_due(goal, latest.get(goal.campaign_id), now)), at_once))


def _latest(known: Any) -> Any:
    looks = GoalLook.objects.filter(campaign__in=known.values("campaign"))
    return looks.order_by("campaign", "-at").distinct("campaign")


def _is_due(goal: CampaignGoal, latest: GoalLook | None, now: datetime) -> bool:
    assignments = Assignment.objects.filter(questionnaire__campaign=goal.campaign_id)
    if latest is None:
        return assignments.filter(state__in=COUNTED).exists()
    if latest.judgments >= services.MANY and now - latest.at < latest.judgments * services.WAIT:
        return False
    return bool(
        services.changed_since(assignments, latest.at, COUNTED) or latest.judgments != count_judgments(goal.campaign)
    )


def take_look(*, goal: CampaignGoal, now: datetime) -> GoalLook | None:
    """Look at a goal with the judgments so far, and store it; None if there is a later look already.

    If it is the first that decides, and the campaign is to be closed, a run that closes it starts in the same
    transaction. A campaign that people reopened is not closed again.
    """
    campaign, judgments = goal.campaign, count_judgments(goal.campaign)
    read = load_votes(goal)
    means = system_means(read.votes, read.responses)
    left = _votes_left(campaign, means.votes)
    decision = goal_decisions.look(
        goals.statistical_goal(goal), means, systems=read.systems, scale=float(read.responses.sum()), votes_left=left,
        topics_in_all=read.topics, rng=np.random.default_rng([campaign.pk, means.votes]),
    )  # fmt: skip
    row = GoalLook(
        campaign=campaign,
        at=now,
        judgments=judgments,
        votes=means.votes,
        topics=means.topics,
        judges=means.judges if isfinite(means.judges) else 0,
        outcome=GoalOutcome(decision.outcome),
        answer=None if decision.answer is None else list(decision.answer),
        comparisons=[_finite(asdict(each)) for each in decision.comparisons],
        grades=[_finite(asdict(each)) for each in decision.grades],
        forecast=None if decision.forecast is None else {
            "chance": decision.forecast.chance,
            "votes": [votes if isfinite(votes) else None for votes in decision.forecast.votes],
            "left": left,
        },
    )  # fmt: skip
    return _keep(goal, row, now)


@transaction.atomic
def _keep(goal: CampaignGoal, look: GoalLook, now: datetime) -> GoalLook | None:
    campaign = questionnaires.lock_campaign(goal.campaign)
    earlier = GoalLook.objects.filter(campaign=campaign)
    # The goal may have been changed or removed while the judgments were read.
    current = goals.find_goal(campaign)
    if earlier.filter(at__gte=now).exists() or current is None or not _is_same(current, goal):
        return None
    is_first = not earlier.filter(outcome=GoalOutcome.DECIDED, closed_at__isnull=False).exists()
    look.save()
    is_active = campaign.state in (CampaignState.OPEN, CampaignState.PAUSED)
    closes = look.outcome == GoalOutcome.DECIDED and current.closes_campaign and is_first and is_active
    if closes and not _is_closing(campaign):
        lifecycle.start(study=campaign.study, kind=KIND, parameters={"campaign": campaign.pk, "look": look.pk}, now=now)
    return look


def _is_same(one: CampaignGoal, other: CampaignGoal) -> bool:
    return goals.statistical_goal(one) == goals.statistical_goal(other) and one.dimension_id == other.dimension_id


def _is_closing(campaign: Campaign) -> bool:
    return Run.objects.filter(study=campaign.study, kind=KIND, parameters__campaign=campaign.pk).active().exists()


def load_votes(goal: CampaignGoal) -> GoalVotes:
    """Return the votes that count on a goal's dimension, without those on items with known labels."""
    items = Item.objects.filter(campaign=goal.campaign_id, pair__isnull=False)
    sides = (f"pair__{side}__{column}" for side in "ab" for column in ("origin", "participant__external_id"))
    columns = items.order_by().values_list("pk", "topic_id", "pair__a_id", "pair__b_id", *sides)
    system_of_response: dict[int, str] = {}
    topic_of_response: dict[int, int] = {}
    pairs: dict[int, tuple[int, int, int]] = {}
    for pk, topic, a, b, a_origin, a_name, b_origin, b_name in columns.iterator(chunk_size=PORTION):
        system_of_response[a] = goals.system_of(a_origin, a_name)
        system_of_response[b] = goals.system_of(b_origin, b_name)
        topic_of_response[a] = topic_of_response[b] = topic
        pairs[pk] = (topic, a, b)
    systems = tuple(sorted({*goal.systems, *system_of_response.values()}))
    index = {name: number for number, name in enumerate(systems)}
    topics = len({topic for topic, _a, _b in pairs.values()})
    counts = np.bincount([index[name] for name in system_of_response.values()], minlength=len(systems))
    rows = _rows(goal)
    known = set(KnownLabel.objects.filter(item__campaign=goal.campaign_id).values_list("item", flat=True))
    compared = {
        pk: (index[system_of_response[a]], index[system_of_response[b]], topic)
        for pk, (topic, a, b) in pairs.items()
        if system_of_response[a] != system_of_response[b] and pk not in known
    }
    rows = rows[np.isin(rows[:, 0], np.fromiter(compared, dtype=np.int64, count=len(compared)))]
    first, second, topic_of_vote = np.array([compared[item] for item in rows[:, 0].tolist()]).reshape(-1, 3).T
    votes = Votes(
        first.astype(np.int64), second.astype(np.int64), _scores(goal, rows[:, 2]), topic_of_vote.astype(np.int64),
        rows[:, 1] if goal.campaign.judges == Judges.CROWD else None, _weights(goal.campaign, rows[:, 3]),
    )  # fmt: skip
    return GoalVotes(votes, systems, counts / max(topics, 1), topics)


def _weights(campaign: Campaign, assignments: Ints) -> NDArray[np.float64] | None:
    """Return the weight of each vote that makes up for what a policy chose; None if nothing was chosen by votes."""
    weights = choice_weights.assignment_weights(campaign)
    if all(weight == 1.0 for weight in weights.values()):
        return None
    return np.array([weights.get(pk, 1.0) for pk in assignments.tolist()])


def _scores(goal: CampaignGoal, value: Ints) -> NDArray[np.float64]:
    """Return 1 where the first of a pair was preferred, on the left, 0 where the second was."""
    low, high = min(goal.dimension.values), max(goal.dimension.values)
    return np.asarray((high - value) / (high - low), dtype=np.float64)


def _rows(goal: CampaignGoal) -> Ints:
    """Return item, judge, value and assignment of the judgments that count, shape (n, 4), in portions."""
    judgments = Judgment.objects.filter(
        assignment__questionnaire__campaign=goal.campaign_id,
        assignment__state__in=COUNTED,
        assignment__is_included=True,
        dimension=goal.dimension_id,
        repeat=0,
    )
    columns = judgments.order_by().values_list("item_id", "assignment__participant_id", "value", "assignment_id")
    rows = iter(columns.iterator(chunk_size=PORTION))
    parts: list[Ints] = []
    while part := list(islice(rows, PORTION)):
        parts.append(np.array(part, dtype=np.int64))
    return np.concatenate(parts) if parts else np.empty((0, 4), dtype=np.int64)


def _votes_left(campaign: Campaign, votes: int) -> int:
    """Return how many more votes the open slots give, at the present number of votes in a questionnaire."""
    counts = total_counts([campaign.pk])[campaign.pk]
    return round(votes / counts.collected * max(counts.planned - counts.collected, 0)) if counts.collected else 0


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """Replace numbers that are not finite by None, which JSON can hold."""
    return {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in values.items()}


def work(unit: kinds.Work) -> kinds.Effect:
    """Close a campaign whose goal is decided; the effect happens once, and leaves a closed campaign closed."""
    pk, look = unit.run.parameters["campaign"], unit.run.parameters["look"]

    def effect() -> None:
        campaign = Campaign.objects.filter(pk=pk, study=unit.run.study_id).first()
        if campaign is None:
            return
        campaign, now = questionnaires.lock_campaign(campaign), timezone.now()
        if campaign.state in (CampaignState.OPEN, CampaignState.PAUSED):
            launch.close_campaign(campaign=campaign, now=now)
        GoalLook.objects.filter(pk=look, closed_at__isnull=True).update(closed_at=now)

    return effect


def _subjects(runs: Sequence[Run]) -> Mapping[int, str]:
    names = dict(Campaign.objects.filter(pk__in=[run.parameters["campaign"] for run in runs]).values_list("pk", "name"))
    return {run.pk: names.get(run.parameters["campaign"], "") for run in runs}


def _result_url(run: Run) -> str | None:
    campaign = Campaign.objects.filter(pk=run.parameters["campaign"], study=run.study_id).first()
    return reverse("campaign", args=[run.study.slug, campaign.pk]) if campaign else None


def register_kind() -> None:
    """Register the kind of run that closes campaigns; called when the app is ready."""
    kinds.register(
        kinds.Kind(
            name=KIND,
            title="Campaign closed because its goal is decided",
            work=work,
            result_url=_result_url,
            result_label="View campaign",
            describe=lambda run: {"Campaign": _subjects([run])[run.pk]},
            subjects=_subjects,
        )
    )
