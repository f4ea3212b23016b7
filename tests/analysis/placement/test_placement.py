"""Placing a new system: the pairs that are drawn, the draft, the page and the API."""

from itertools import combinations

import numpy as np
import pytest
from django.urls import reverse

from analysis.placement import anchors, queries, services
from analysis.placement.services import PlacementOrder, PlacementProblem
from annotation.campaigns import launch, questionnaires, setup_cards
from annotation.campaigns.design import read_design
from annotation.enums import CampaignState, Judges
from annotation.models import Campaign, Item, Judgment
from crowdrag.studies.enums import ParticipantKind, Role
from crowdrag.studies.models import Participant, Study
from tests.analysis import small_study
from tests.analysis.page_visits import client_of
from tests.annotation.shared import made_once
from tests.api.conftest import by_token
from tests.factories import (
    NOW,
    MembershipFactory,
    ParticipantFactory,
    ResponseFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from writing.enums import Origin
from writing.models import Response

TOPICS, SYSTEMS = 8, "abcd"
JUDGES = tuple(f"w{number}" for number in range(5))


def votes_on(pairs, rng: np.random.Generator, judges: int = len(JUDGES)) -> dict:
    """Votes of a crowd: systems are the better the earlier their letter, `n` (new) lies between a and b."""
    place = {letter: number for number, letter in enumerate("anbcd")}
    found = {}
    for left, right in pairs:
        is_left = rng.random(judges) < 1 / (1 + np.exp(place[left[-1]] - place[right[-1]]))
        found[left, right] = ("".join("A" if each else "B" for each in is_left),)
    return found


def build() -> Study:
    study = StudyFactory()
    style = StyleFactory(study=study)
    rng = np.random.default_rng(0)
    for letter in SYSTEMS + "n":
        system = ParticipantFactory(study=study, external_id=f"system-{letter}", kind=ParticipantKind.SYSTEM)
        for number in range(TOPICS):
            topic = study.topics.filter(external_id=f"t{number}").first()
            topic = topic or TopicFactory(study=study, external_id=f"t{number}")
            ResponseFactory(
                topic=topic, style=style, origin=Origin.SYSTEM, participant=system, words=50,
                external_id=f"t{number}-{letter}", text="A claim in some words.",
            )  # fmt: skip
    pairs = [(f"t{t}-{one}", f"t{t}-{two}") for t in range(TOPICS) for one, two in combinations(SYSTEMS, 2)]
    small_study.campaign(study, votes_on(pairs, rng), names=JUDGES, dimensions=["clear"])
    small_study.analyse(study, resamples=40)
    return study


stored, study = made_once(build)


def new_system(study: Study) -> Participant:
    return Participant.objects.get(study=study, external_id="system-n")


def order(study: Study, **values) -> PlacementOrder:
    return PlacementOrder(system=new_system(study), **{"pairs": 12, "items": 4, "pay": 200} | values)


def judged(study: Study, pairs: int = 24, judges: str = Judges.CROWD, names=("p1", "p2", "p3")) -> None:
    others = [(f"t{t}-n", f"t{t}-{letter}") for t in range(TOPICS) for letter in SYSTEMS][:pairs]
    rng = np.random.default_rng(1)
    small_study.campaign(study, votes_on(others, rng, len(names)), names=names, dimensions=["clear"], judges=judges)


class TestDraw:
    def test_each_pair_joins_the_new_system_and_an_anchor_on_a_topic(self, study):
        draw = services.draw_pairs(study, order(study))
        assert len(draw.pairs) == len(set(draw.pairs)) == len(draw.chances) == 12
        for (new, other), anchor in zip(draw.pairs, draw.anchors, strict=True):
            assert (new[:2], new[-1]) == (other[:2], "n")
            assert anchor == f"system-{other[-1]}"
        # Topics take turns.
        assert len({new for new, _other in draw.pairs[:TOPICS]}) == TOPICS

    def test_every_choice_has_a_logged_probability(self, study):
        chances = services.draw_pairs(study, order(study, pairs=TOPICS)).chances
        # A tenth is random: each of four anchors has at least 1 / 40.
        assert all(1 / 40 <= chance <= 1 for chance in chances)

    def test_same_seed_draws_the_same(self, study):
        one, other, third = (services.draw_pairs(study, order(study, seed=seed)) for seed in (1, 1, 2))
        assert one == other != third

    def test_no_more_pairs_than_there_are(self, study):
        assert len(services.draw_pairs(study, order(study, pairs=500)).pairs) == TOPICS * len(SYSTEMS)

    def test_pairs_that_people_see_already_are_not_drawn_again(self, study):
        judged(study, pairs=24)
        assert len(services.draw_pairs(study, order(study, pairs=500)).pairs) == 8
        services.create_campaign(study=study, order=order(study, pairs=500), now=NOW)
        with pytest.raises(PlacementProblem):
            services.draw_pairs(study, order(study))

    def test_too_few_anchors(self, study):
        Response.objects.filter(study=study, external_id__endswith="-a").update(is_included=False)
        assert services.draw_pairs(study, order(study, pairs=500)).pairs
        bare = StudyFactory()
        lonely = ParticipantFactory(study=bare, kind=ParticipantKind.SYSTEM)
        with pytest.raises(PlacementProblem):
            services.draw_pairs(bare, PlacementOrder(system=lonely))


class TestCampaign:
    def test_draft_shows_exactly_the_drawn_pairs_with_the_questions_of_the_study(self, study):
        campaign = services.create_campaign(study=study, order=order(study), now=NOW)
        kept = read_design(campaign.design)
        assert campaign.state == CampaignState.DRAFT
        assert (campaign.k, campaign.pay) == (1, 200)
        assert [row.name for row in campaign.dimensions.all()] == ["clear"]
        questionnaires.build(campaign=campaign, now=NOW)
        shown = Item.objects.filter(campaign=campaign).values_list("pair__a__external_id", "pair__b__external_id")
        assert {frozenset(pair) for pair in shown} == {frozenset(pair) for pair in kept.chosen_pairs}
        assert len(shown) == 12
        noted = campaign.design["placement"]
        assert noted["system"] == "system-n"
        assert len(noted["chances"]) == 12
        assert services.campaigns_of(study, new_system(study)) == [campaign]

    def test_cost_before_is_the_cost_of_the_draft(self, study):
        draw = services.draw_pairs(study, order(study))
        before = services.forecast(study, order(study), draw)
        campaign = services.create_campaign(study=study, order=order(study), now=NOW)
        after = launch.forecasts.forecast(campaign)
        for name in ("units", "items", "questionnaires", "topics", "judgments", "total", "people"):
            assert getattr(before, name) == getattr(after, name), name
        assert before.total == 3 * 200
        cards = {card.name: card.text for card in setup_cards.setup_cards(campaign, after)}
        assert "12" in cards["items"]


class TestPlacement:
    def test_votes_of_people_place_the_system_between_its_neighbours(self, study):
        before = queries.page(study, new_system(study))["overall"].result
        judged(study, pairs=32)
        run = anchors.latest_run(study)
        board, row = queries.placements(study, run, new_system(study))[0]
        assert board.names == ("system-a", "system-b", "system-c", "system-d")
        assert row.result.votes == len(board.votes) == 32 * 3
        assert (row.of, row.result.rank) == (5, 2)
        assert row.result.rank_low <= 2 <= row.result.rank_high
        assert row.result.high - row.result.low < before.high - before.low

    def test_sides_and_labels_are_read_as_presented(self, study):
        judged(study, pairs=1, names=("p1",))
        judgment = Judgment.objects.filter(assignment__participant__external_id="p1").get()
        votes = queries.placements(study, anchors.latest_run(study), new_system(study))[0][0].votes
        assert votes.new_is_left.tolist() == [True]
        assert votes.label.tolist() == [judgment.value + 1]
        assert votes.anchor.tolist() == [0]
        assert np.isnan(votes.spam).all()

    def test_competence_of_known_judges_is_used(self, study):
        judged(study, pairs=2, names=("w0",))
        votes = queries.placements(study, anchors.latest_run(study), new_system(study))[0][0].votes
        assert 0 < votes.spam[0] < 1
        assert votes.experience[0] == 48  # six pairs on each of eight topics

    def test_votes_of_models_are_a_prior_and_no_votes(self, study):
        pairs = [(f"t{t}-{x}", f"t{t}-{y}") for t in range(TOPICS) for x, y in combinations(SYSTEMS + "n", 2)]
        votes = votes_on(pairs, np.random.default_rng(2), 1)
        small_study.campaign(study, votes, names=["a-model"], dimensions=["clear"], judges=Judges.MODEL)
        board, row = queries.placements(study, anchors.latest_run(study), new_system(study))[0]
        assert row.has_prior
        assert row.result.votes == len(board.votes) == 0
        context = queries.page(study, new_system(study))
        assert context["model_judgments"] == TOPICS * len(SYSTEMS)
        assert context["judgments"] == 0


class TestPages:
    def test_order_shows_the_cost_and_then_creates_the_draft(self, study):
        client, url = client_of(study, Role.EDITOR), reverse("placement_new", args=[study.slug])
        data = {"system": new_system(study).pk, "pairs": 12, "items": 4, "minutes": 10, "pay": "2.00", "seed": 0}
        assert "placement-cost" not in client.get(url).content.decode()
        answer = client.post(url, data | {"do": "estimate"})
        assert answer.status_code == 200
        assert "placement-cost" in answer.content.decode()
        assert not services.campaigns_of(study, new_system(study))
        answer = client.post(url, data | {"do": "create"})
        assert answer.url == reverse("placement", args=[study.slug, new_system(study).pk])
        (campaign,) = services.campaigns_of(study, new_system(study))
        assert (campaign.pay, campaign.minutes) == (200, 10)
        assert reverse("campaign_launch", args=[study.slug, campaign.pk]) in client.get(answer.url).content.decode()
        assert client.post(url, data | {"pairs": 0}).status_code == 422

    @pytest.mark.parametrize("state", ["nothing", "judged"])
    def test_page_of_a_system(self, study, state):
        if state == "judged":
            judged(study)
        page = client_of(study, Role.VIEWER).get(reverse("placement", args=[study.slug, new_system(study).pk]))
        assert page.status_code == 200
        assert ('data-testid="placement"' in page.content.decode()) == (state == "judged")

    def test_study_without_a_leaderboard(self, db):
        bare = StudyFactory()
        assert client_of(bare, Role.EDITOR).get(reverse("placement_new", args=[bare.slug])).status_code == 200
        writer = ResponseFactory(topic=TopicFactory(study=bare), origin=Origin.SYSTEM).participant
        assert client_of(bare).get(reverse("placement", args=[bare.slug, writer.pk])).status_code == 200

    def test_leaderboard_leads_editors_here(self, study):
        url, target = reverse("leaderboard", args=[study.slug]), reverse("placement_new", args=[study.slug])
        assert target in client_of(study, Role.EDITOR).get(url).content.decode()
        assert target not in client_of(study, Role.VIEWER).get(url).content.decode()
        assert client_of(study, Role.VIEWER).get(target).status_code == 403

    def test_people_cannot_be_placed(self, study):
        writer = ResponseFactory(topic=study.topics.first(), origin=Origin.HUMAN).participant
        assert client_of(study).get(reverse("placement", args=[study.slug, writer.pk])).status_code == 404


def test_api_orders_and_shows_a_placement(study):
    system = new_system(study).pk
    client = by_token(MembershipFactory(study=study, role=Role.EDITOR).user)
    url = reverse("api_placements", args=[study.slug])
    made = client.post(url, {"system": system, "pairs": 5}, format="json")
    assert made.status_code == 201
    assert Campaign.objects.get(pk=made.json()["id"]).design["placement"]["system"] == "system-n"
    judged(study)
    rows = client.get(reverse("api_placement", args=[study.slug, system])).json()["dimensions"]
    assert [row["dimension"] for row in rows] == ["all", "clear"]
    assert rows[0]["systems"] == 5
    assert rows[0]["judgments"] == 72
    assert rows[0]["merit_low"] < rows[0]["merit"] < rows[0]["merit_high"]
    assert client.post(url, {"system": 10**9}, format="json").status_code == 404
