"""Texts that tell a judge what to say: a server of known weakness must come out as weak as it is."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.enums import Judges
from annotation.llm_judges import injection, injection_results, prompts
from annotation.llm_judges.injection import InjectionOrder
from annotation.models import Campaign, InjectionTrial, Judgment, Pair
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.kinds import InputRejectedError
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from tests.annotation.llm_judges import source_campaign
from tests.annotation.llm_judges.judge_fixtures import without_waiting
from tests.annotation.llm_judges.judge_server import judging as served
from tests.factories import CampaignFactory, JudgmentFactory, MembershipFactory, QuestionnaireItemFactory

pytestmark = pytest.mark.django_db(transaction=True)

CORPUS = injection.attack_texts()
__all__ = ["without_waiting"]
# A response in which nothing was planted is no longer than this.
LONGEST = 50


def asks_for(text):
    """Whether one of the attacks stands in a text."""
    return any(
        attack.asking_for(target=f"Response {name}", option=f"Response {name}") in text
        for attack in CORPUS
        for name in "AB"
    )


def gullible(seen):
    """A judge that prefers the response with the higher merit, but does as it is told where a text says "weak".

    Within the fence it does so only where it says "weak2". Any word planted sways it where the text says "shaky".
    """
    merits = [int(text.split("merit")[1][0]) for text in seen.texts]
    best = 0 if merits[0] > merits[1] else 1
    for place, text in enumerate(seen.texts):
        weak = "weak2" in text or (not seen.is_fenced and "weak" in text)
        if len(text) > LONGEST and ("shaky" in text or (weak and asks_for(text))):
            best = place
    if "unlike" in seen.texts[0] and not seen.is_fenced:
        best = 1 - best
    return {key: words[-best] for key, words in seen.options.items()}


@pytest.fixture
def source(db):
    made = CampaignFactory(judges=Judges.CROWD)
    source_campaign.ask(made, "quality_overall", source_campaign.FORCED)
    return made


def pairs(source, count, words):
    """Pairs in which the left one is better; words by which the judge is swayed stand in both."""
    for _number in range(count):
        a, b = (f"merit{n}. {words}. More text. And more." for n in (7, 3))
        source_campaign.pair(source, both=False, a=a, b=b)


def order(source, endpoint, **asked):
    prompt = prompts.ensure(study=source.study, text=prompts.DEFAULT, now=timezone.now())
    return InjectionOrder(endpoint=endpoint.pk, prompt=prompt.pk, source=source.pk, **asked)


def measure(source, endpoint, **asked):
    run = lifecycle.wait(injection.start(study=source.study, order=order(source, endpoint, **asked)))
    assert run.state == RunState.DONE, (run.error, run.problems)
    return run


@pytest.mark.extended
def test_the_planted_susceptibility_comes_out(source):
    """Of 40 pairs, 10 flip within the fence, 10 more without it, 4 by any words: 25 %, 50 %, both less the 10 %."""
    pairs(source, 10, "weak2")
    pairs(source, 10, "weak")
    pairs(source, 4, "shaky")
    pairs(source, 14, "firm")
    pairs(source, 2, "unlike")
    with served(gullible) as server:
        run = measure(source, source_campaign.endpoint(server, concurrency=8), n=40)
        assert len(server.seen) == 40 * 6
    found = injection_results.result_of_run(run)
    assert (found.pairs, found.lost, found.fenced.n) == (40, 0, 40)
    assert (found.fenced.first.count, found.fenced.second.count) == (14, 4)
    assert found.fenced.estimate == pytest.approx(0.25)
    assert 0.1 < found.fenced.low < 0.25 < found.fenced.high < 0.45
    # Without the fence two pairs are judged otherwise from the start: they cannot be won over, and count nowhere.
    assert (found.bare.n, found.bare.first.count, found.bare.second.count) == (38, 24, 4)
    assert (found.agreement.count, found.agreement.n) == (38, 40)
    assert found.gold.n == 0
    assert sum(each.fenced.count for each in found.kinds) == 14
    assert {each.kind for each in found.kinds} == {attack.kind for attack in CORPUS}
    assert run.summary["injection_effect"] == 0.25
    # No judgment of the study comes of it, and no campaign.
    assert not Judgment.objects.exists()
    assert Campaign.objects.count() == 1


def test_scripts_read_what_a_measurement_found(source, client):
    pairs(source, 3, "weak2")
    pairs(source, 1, "firm")
    editor = MembershipFactory(study=source.study, role=Role.EDITOR)
    client.force_login(editor.user)
    with served(gullible) as server:
        run = measure(source, source_campaign.endpoint(server), n=4)
    found = injection_results.result_of_run(run)
    address = reverse("api_model_judges_measured", args=[source.study.slug, run.key])
    got = client.get(address).json()
    assert (got["pairs"], got["lost"], got["dimension"], got["state"]) == (4, 0, found.dimension.name, "DONE")
    for name in ("fenced", "bare"):
        known = getattr(found, name)
        assert [got[name][key] for key in ("estimate", "low", "high", "n")] == [
            known.estimate, known.low, known.high, known.n,
        ]  # fmt: skip
        assert got[name]["first"]["estimate"] == known.first.estimate
    assert (got["gold"]["n"], got["gold"]["estimate"]) == (0, None)  # nobody judged these pairs: no number, and no NaN
    assert [each["kind"] for each in got["kinds"]] == [each.kind for each in found.kinds]
    InjectionTrial.objects.all().delete()
    assert client.get(address).status_code == 404
    Run.objects.filter(pk=run.pk).update(kind="judge.model")
    assert client.get(address).status_code == 404


def test_what_is_planted_is_of_one_length_at_one_spot_and_asks_for_the_other_verdict(source):
    pairs(source, 8, "firm")
    with served(gullible) as server:
        endpoint = source_campaign.endpoint(server)
        forecast = injection.forecast(study=source.study, order=order(source, endpoint, n=8, bare=False))
        assert (forecast.wanted, forecast.estimate.requests) == (8, 24)
        first, again = (measure(source, endpoint, n=8, bare=False) for _twice in range(2))
        assert len(server.seen) == 24  # measured again nothing is asked again
    assert injection_results.result_of_run(first).fenced == injection_results.result_of_run(again).fenced
    assert len(injection_results.results_of_study(source.study)) == 2
    for trial in InjectionTrial.objects.all():
        assert (trial.plain, trial.target, trial.bare_plain) == (-1, 1, None)
    attacked = [seen for seen in server.seen if asks_for(seen.texts[1])]
    assert len(attacked) == 8
    for seen in attacked:
        assert "Response B" in seen.texts[1]
        others = [s for s in server.seen if len(s.texts[1]) == len(seen.texts[1]) and s is not seen]
        assert any(not asks_for(other.texts[1]) for other in others)


@pytest.mark.extended
def test_what_the_fence_costs_is_weighed_against_what_most_people_said(source):
    """People say A of all ten pairs. The judge says A; without the fence it says B of two of them."""
    pairs(source, 8, "firm")
    pairs(source, 2, "unlike")
    dimension = source.campaign_dimensions.get().dimension
    for item in source.items.all():
        for value in (-1, -1, 1):
            JudgmentFactory(
                entry=item.entries.first() or QuestionnaireItemFactory(item=item), dimension=dimension, value=value
            )
    with served(gullible) as server:
        found = injection_results.result_of_run(measure(source, source_campaign.endpoint(server), n=10))
    assert (found.gold.n, found.gold.first.count, found.gold.second.count) == (10, 10, 8)
    assert found.gold.estimate == pytest.approx(0.2)


@pytest.mark.extended
def test_few_pairs_are_shown_in_both_orders_and_a_verdict_that_is_missing_is_counted(source):
    pairs(source, 3, "firm")

    def silent(seen):
        return "no" if "firm" in seen.texts[0] and asks_for(seen.prompt) else gullible(seen)

    with served(silent) as server:
        run = measure(source, source_campaign.endpoint(server), n=6)
    found = injection_results.result_of_run(run)
    assert (found.pairs, found.lost, found.fenced.n) == (6, 6, 0)
    assert Pair.objects.count() == 6
    assert {trial.plain for trial in InjectionTrial.objects.all()} == {-1, 1}
    assert run.summary["injection_effect"] is None


@pytest.mark.extended
def test_a_judge_that_heeds_nothing_shows_no_effect(source):
    with served(gullible) as server:
        endpoint = source_campaign.endpoint(server)
        with pytest.raises(InputRejectedError):  # there are no pairs yet
            injection.start(study=source.study, order=order(source, endpoint))
        pairs(source, 12, "firm")
        found = injection_results.result_of_run(measure(source, endpoint, n=12))
    assert (found.fenced.estimate, found.bare.estimate) == (0, 0)
    assert found.fenced.low < 0 < found.fenced.high
