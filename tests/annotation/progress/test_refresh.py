"""Agreement and competence of a campaign while judgments come in."""

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone

from analysis.inputs import queries
from analysis.methods import fits
from analysis.methods.settings import AnalysisSettings
from analysis.stats import mace
from analysis.stats.agreement import alpha
from annotation.enums import AssignmentState, CampaignKind, CampaignState
from annotation.judging import decisions, leases
from annotation.models import Assignment, Campaign, KnownLabel, LiveAgreement, LiveCompetence
from annotation.progress import agreement as progress_agreement
from annotation.progress import overview, services
from crowdrag.jobs import schedules
from tests.annotation import judge_actions, open_campaign
from tests.annotation.judge_actions import HOUR, MINUTE, NOW
from tests.annotation.progress import judged_campaign
from tests.annotation.quality import screened
from tests.annotation.shared import signed_in
from tests.concurrency import DiedError, together

pytestmark = pytest.mark.django_db
LATER = NOW + HOUR


def refresh(here: open_campaign.World, seed: int = 0, now=LATER) -> services.LiveFigures:
    return services.refresh(campaign=here.campaign, now=now, rng=np.random.default_rng(seed))


def test_very_many_judgments_are_not_computed_again_at_once(monkeypatch) -> None:
    here = open_campaign.world(topics=1, k=2)
    screened.handed_in(here, start=NOW)
    refresh(here)
    screened.handed_in(here, start=LATER)
    assert services.due(now=LATER) == [here.campaign]
    monkeypatch.setattr(services, "MANY", 1)
    monkeypatch.setattr(services, "WAIT", MINUTE)
    judgments = LiveAgreement.objects.aggregate(n=Sum("judgments"))["n"]
    assert services.due(now=LATER + (judgments - 1) * MINUTE) == []
    assert services.due(now=LATER + judgments * MINUTE) == [here.campaign]


def agreement(here: open_campaign.World, dimension: int = 0) -> LiveAgreement:
    return LiveAgreement.objects.get(campaign=here.campaign, dimension=here.dimensions[dimension])


def spam_of(here: open_campaign.World) -> dict[int, float]:
    """Spam probabilities on the first dimension, by participant."""
    rows = LiveCompetence.objects.filter(dimension=here.dimensions[0])
    return dict(rows.values_list("participant", "spam_probability"))


def alternating(item: int, _dimension: int) -> int:
    return 1 - item % 2 * 2


def two_judges(*votes: Callable[[int, int], int], **fields: object) -> open_campaign.World:
    """One questionnaire of three pairs and two dimensions, answered by judges who vote like this."""
    here = open_campaign.world(topics=1, k=max(2, len(votes)), **fields)
    for number, values in enumerate(votes):
        screened.handed_in(here, values=values, start=NOW + number * MINUTE, after=MINUTE)
    return here


def test_what_is_not_defined_has_no_value_and_a_reason() -> None:
    problems = set()
    same = lambda _item, _dim: 1  # noqa: E731
    for votes, items, judgments in (([], 0, 0), ([alternating], 0, 3), ([same, same], 3, 6)):
        here = two_judges(*votes)
        refresh(here)
        row = agreement(here)
        assert (row.alpha, row.low, row.high, row.items, row.judgments) == (None, None, None, items, judgments)
        problems.add(overview.overview(here.campaign, NOW).agreement[0].problem)
    assert not LiveCompetence.objects.exists()
    assert len(problems) == 3
    assert "" not in problems


def test_alpha_is_that_of_the_textbook() -> None:
    # Votes of two judges on three pairs: (A, A), (A, B), (B, B). Of six values three are A, three B.
    # Nominal, ordinal and interval are the same for two values: alpha = 1 - (n - 1) D / (nA nB), here 1 - 5 * 1 / 9.
    here = two_judges(lambda item, _dim: (-1, -1, 1)[item], lambda item, _dim: (-1, 1, 1)[item])
    refresh(here)
    found = agreement(here)
    assert found.alpha == pytest.approx(4 / 9)
    assert (found.items, found.judgments) == (3, 6)
    # One topic says nothing of how other topics would do.
    assert (found.low, found.high) == (None, None)


def test_figures_are_those_of_the_analysis_on_the_same_judgments(monkeypatch) -> None:
    # Both search until they reach the optimum, wherever they start; as they are used, they stop before.
    thorough = mace.MaceSettings(restarts=20, max_iter=2000, tolerance=1e-10)
    monkeypatch.setattr(progress_agreement, "MACE", thorough)
    monkeypatch.setattr(fits.mace, "MaceSettings", lambda **_fewer: thorough)
    here = judged_campaign.crowded(topics=6, dimensions=3, people=24)
    refresh(here)
    Assignment.objects.filter(questionnaire__campaign=here.campaign).update(state=AssignmentState.ACCEPTED)
    inputs = queries.load(here.study)
    fitted = fits.fit(inputs, "crowd", settings=AnalysisSettings(), seed=1, report=lambda _: None, capped=True)
    names = {each.name: each.pk for each in here.dimensions}
    for fit in fitted.fits:
        dimension = names[fit.dimension.name]
        row = LiveAgreement.objects.get(dimension=dimension)
        assert row.alpha == pytest.approx(alpha(fit.counts), abs=1e-12)
        assert row.low < row.alpha < row.high
        mine = {each.participant.external_id: each for each in LiveCompetence.objects.filter(dimension=dimension)}
        assert mine.keys() == set(fitted.pool.participants)
        for name, spam in zip(fitted.pool.participants, fit.model.spam_probability, strict=True):
            assert mine[name].spam_probability == pytest.approx(spam, abs=0.02)
            assert mine[name].low < mine[name].spam_probability < mine[name].high


@pytest.mark.extended
def test_an_interval_holds_its_estimate_or_is_not_shown() -> None:
    # The fit takes two for nearly perfect; by the posterior, nobody of this crowd is.
    votes = [(1, 1, -1), (-1, 0, 1), (1, 0, 1), (1, 1, 1), (1, 1, 1), (-1, -1, 1)]
    here = two_judges(*(lambda item, _dim, row=row: row[item] for row in votes))
    refresh(here)
    rows = list(LiveCompetence.objects.filter(dimension=here.dimensions[0]))
    shown = [each for each in rows if each.low is not None]
    assert 0 < len(shown) < len(rows) == len(votes)
    assert all(each.low < each.spam_probability < each.high for each in shown)
    assert all(each.high is None for each in rows if each.low is None)
    page = signed_in(here.study).get(reverse("campaign_quality", args=[here.study.slug, here.campaign.pk]))
    trusts = [trust for row in page.context["judges"] for trust in row.trusts if trust]
    intervals = LiveCompetence.objects.filter(low__isnull=False).count()
    assert sum(trust.low is not None for trust in trusts) == intervals


def test_what_does_not_count_is_left_out() -> None:
    votes = [lambda item, _dim: (-1, -1, 1)[item]] * 3
    here = two_judges(*votes)
    by = here.member()
    left_out, rejected, stays = Assignment.objects.order_by("pk")
    decisions.exclude(assignment=left_out, reason="a test", by=by, now=LATER)
    decisions.reject(assignment=rejected, reason="All the same.", by=by, now=LATER)
    half = judge_actions.claim(here, here.judge(), NOW)
    judge_actions.answer_all(half, NOW)
    refresh(here)
    assert agreement(here).judgments == 3
    assert set(LiveCompetence.objects.values_list("participant", flat=True)) <= {stays.participant_id}


def test_only_the_first_k_of_an_item_count_for_agreement_and_all_for_competence() -> None:
    here = judged_campaign.crowded(topics=2, dimensions=1, k=4)
    [found] = progress_agreement.load_judgments(here.campaign)
    three = progress_agreement.agreement(found, k=3)
    four = progress_agreement.agreement(found, k=4)
    assert (three.judgments, four.judgments) == (len(found.unit), len(found.unit))
    assert three.alpha != four.alpha
    assert sum(each.judgments for each in progress_agreement.competence(found, rng=np.random.default_rng(0))) == len(
        found.unit
    )


def test_known_labels_are_told_to_the_model() -> None:
    # Two who agree are wrong on all that is known; alone against them stands who is right.
    wrong, right = (lambda item, _dim: (-1, 1, -1)[item]), (lambda item, _dim: (1, -1, 1)[item])
    here = two_judges(wrong, wrong, right)
    people = list(Assignment.objects.order_by("pk").values_list("participant", flat=True))
    refresh(here)
    assert spam_of(here)[people[2]] > spam_of(here)[people[0]]
    for entry, value in zip(here.questionnaires[0].entries.order_by("position"), (1, -1, 1), strict=True):
        KnownLabel.objects.create(item=entry.item, dimension=here.dimensions[0], value=value)
    refresh(here)
    assert spam_of(here)[people[2]] < spam_of(here)[people[0]]


def test_ratings_count_along_their_scale() -> None:
    here = open_campaign.world(
        topics=3, responses=2, per_questionnaire=6, dimensions=1, k=2, kind=CampaignKind.POINTWISE
    )
    for number, values in enumerate(((-3, -1, 1, 3, 3, 1), (-3, 1, 1, 3, 1, 1))):
        screened.handed_in(here, values=lambda item, _dim, v=values: v[item], start=NOW + number * MINUTE)
    refresh(here)
    counts = [[2, 0, 0, 0], [0, 1, 1, 0], [0, 0, 2, 0], [0, 0, 0, 2], [0, 0, 1, 1], [0, 0, 2, 0]]
    assert agreement(here).alpha == pytest.approx(alpha(counts))


@pytest.mark.extended
def test_the_same_judgments_give_the_same_figures() -> None:
    here = judged_campaign.crowded(topics=2, dimensions=2)
    fields = ("dimension", "participant", "spam_probability", "low", "high", "judgments")
    figures_of_each = []
    for _ in range(2):
        refresh(here, seed=7)
        rows = [*LiveCompetence.objects.order_by("dimension", "participant").values_list(*fields)]
        figures_of_each.append(
            [*rows, *LiveAgreement.objects.order_by("dimension").values_list("alpha", "low", "high")]
        )
    assert figures_of_each[0] == figures_of_each[1]


def test_only_what_changed_is_computed_again() -> None:
    here, still = two_judges(alternating), open_campaign.world(topics=1)
    assert still.campaign.state == CampaignState.OPEN
    assert services.due(now=LATER) == [here.campaign]
    assert services.refresh_due(now=LATER) == 1
    assert services.refresh_due(now=LATER + MINUTE) == 0
    assert agreement(here).computed_at == LATER


@pytest.mark.extended
def test_each_change_of_what_counts_is_seen() -> None:
    here = open_campaign.world(topics=1, k=3)
    done, by, now = screened.handed_in(here, after=MINUTE), here.member(), LATER
    about = {"assignment": done, "reason": "a test", "by": by}
    changes: list[tuple[Callable[[], object], int]] = [
        (lambda: None, 3),
        (lambda: decisions.exclude(**about, now=now), 0),
        (lambda: decisions.include(**about, now=now), 3),
        (lambda: screened.handed_in(here, start=now - MINUTE, after=MINUTE), 6),
        (lambda: decisions.reject(**about, now=now), 3),
        (lambda: leases.on_erase(Assignment.objects.latest("pk").participant, now), 0),
    ]
    for number, (change, judgments) in enumerate(changes):
        change()
        assert services.refresh_due(now=now + MINUTE) == 1, number
        assert agreement(here).judgments == judgments, number
        now += HOUR


@pytest.mark.extended
def test_what_was_not_committed_when_it_was_read_is_seen_by_its_number() -> None:
    here = open_campaign.world(topics=1, k=3)
    done = screened.handed_in(here, after=MINUTE)
    services.refresh_due(now=LATER)
    # Handed in before the figures were computed, by a transaction that was open then.
    other = screened.handed_in(here, start=NOW, after=MINUTE)
    assert services.due(now=LATER) == [here.campaign]
    # Others of the same number are seen by what became of them.
    services.refresh_due(now=LATER)
    decisions.reject(assignment=done, reason="All the same.", by=here.member(), now=LATER + MINUTE)
    third = screened.handed_in(here, start=LATER, after=MINUTE)
    assert (
        progress_agreement.count_judgments(here.campaign)
        == 12
        == sum(LiveAgreement.objects.values_list("judgments", flat=True))
    )
    assert services.refresh_due(now=LATER + 2 * MINUTE) == 1
    live_judges = set(LiveCompetence.objects.values_list("participant", flat=True))
    assert live_judges <= {other.participant_id, third.participant_id}


def test_what_is_older_does_not_replace_what_is_newer() -> None:
    here = two_judges(alternating)
    refresh(here, now=LATER)
    refresh(here, now=LATER - MINUTE)
    assert agreement(here).computed_at == LATER


@pytest.mark.extended
def test_who_dies_in_the_middle_leaves_the_figures_as_they_were(monkeypatch) -> None:
    here = two_judges(alternating, alternating)
    refresh(here)

    def die(*_args: object, **_kwargs: object) -> None:
        raise DiedError

    with monkeypatch.context() as patch:
        patch.setattr(LiveCompetence.objects, "bulk_create", die)
        with pytest.raises(DiedError):
            refresh(here, now=LATER + MINUTE)
    assert agreement(here).computed_at == LATER
    assert LiveCompetence.objects.count() == 4
    refresh(here, now=LATER + MINUTE)
    assert agreement(here).computed_at == LATER + MINUTE


def test_one_that_cannot_be_computed_keeps_no_other_from_it(monkeypatch) -> None:
    first, second = (two_judges(alternating) for _ in range(2))
    load = progress_agreement.load_judgments

    def broken(campaign: Campaign):
        if campaign == first.campaign:
            raise ValueError("no")
        return load(campaign)

    monkeypatch.setattr(progress_agreement, "load_judgments", broken)
    assert services.refresh_due(now=LATER) == 1
    assert agreement(second).judgments == 3


def test_one_pass_computes_so_many_and_the_next_goes_on() -> None:
    made = [two_judges(alternating) for _ in range(3)]
    assert services.refresh_due(now=LATER, at_once=2) == 2
    [duty] = [each for each in schedules.all_schedules() if each.name == "annotation.live"]
    assert duty.every == timedelta(minutes=1)
    assert "annotation.live" in schedules.run_due(now=timezone.now())
    assert LiveAgreement.objects.values("campaign").distinct().count() == len(made)


@pytest.mark.extended
def test_few_starts_are_enough_for_a_clear_crowd() -> None:
    here = judged_campaign.crowded(topics=3, dimensions=1)
    [found] = progress_agreement.load_judgments(here.campaign)
    few = [each.spam_probability for each in progress_agreement.competence(found, rng=np.random.default_rng(0))]
    votes = (found.unit, found.coder, found.value)
    many = mace.fit(*votes, rng=np.random.default_rng(1), labels=3, settings=mace.MaceSettings(restarts=50))
    assert few == pytest.approx(many.spam_probability, abs=0.02)
    # Every fifth judges at random, and is told from the others.
    assert min(few[::5]) > max(spam for place, spam in enumerate(few) if place % 5)


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_many_at_once_leave_the_figures_of_one_moment() -> None:
    here = two_judges(alternating, alternating)
    together([lambda turn=turn: refresh(here, now=LATER + turn * MINUTE) for turn in range(4)])
    assert {each.computed_at for each in LiveAgreement.objects.all()} == {LATER + 3 * MINUTE}
    assert LiveAgreement.objects.count() == 2
    assert LiveCompetence.objects.count() == 4


@pytest.mark.soak
def test_a_campaign_as_large_as_the_published_one_takes_seconds() -> None:
    here = judged_campaign.crowded(topics=90)
    began = timezone.now()
    found = refresh(here)
    assert timezone.now() - began < timedelta(seconds=20)
    assert sum(each.judgments for each in found.agreement) == 47_250
