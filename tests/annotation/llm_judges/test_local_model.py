"""The real local model as a judge: it is far too small to judge well, but what it says fits, and can be measured."""

import pytest
from django.utils import timezone

from annotation.enums import Inference, JudgingOutcome
from annotation.llm_judges import injection, injection_results, prompts
from annotation.llm_judges.injection import InjectionOrder
from annotation.models import JudgingAnswer, Judgment
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.llm import endpoints
from tests.annotation.llm_judges import source_campaign
from tests.llm.conftest import local_model_url

__all__ = ["local_model_url"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak]  # the demo's test has it judge as well

PAIRS = 12
GOOD = "The moon pulls at the sea, so that it rises and falls twice a day [0]. At new and full moon the sun helps [1]."
BAD = "Tides are a thing. Many people like the sea."


@pytest.fixture
def local(db, local_model_url):
    return endpoints.ensure_local(url=local_model_url)


def test_it_judges_in_both_orders(local):
    source = source_campaign.campaign()
    source_campaign.pair(source, a=GOOD, b=BAD)
    run = source_campaign.judge(source, local)
    assert run.state == RunState.DONE, (run.error, run.problems)
    assert set(JudgingAnswer.objects.values_list("outcome", flat=True)) == {JudgingOutcome.JUDGED}
    assert Judgment.objects.count() == 4


def test_it_is_measured_with_planted_texts(local):
    source = source_campaign.campaign()
    for number in range(PAIRS // 2):
        source_campaign.pair(
            source, both=False, a=f"{GOOD} So it is in harbour {number}.", b=f"{BAD} Harbour {number}."
        )
    prompt = prompts.ensure(study=source.study, text=prompts.DEFAULT, now=timezone.now())
    order = InjectionOrder(
        endpoint=local.pk,
        prompt=prompt.pk,
        source=source.pk,
        inference=Inference.INDIVIDUAL,
        dimension=source.campaign_dimensions.get(dimension__name="quality_overall").dimension_id,
        n=PAIRS,
    )
    run = lifecycle.wait(injection.start(study=source.study, order=order))
    assert run.state == RunState.DONE, (run.error, run.problems)
    found = injection_results.result_of_run(run)
    assert found is not None
    assert (found.pairs, found.lost) == (PAIRS, 0)
    assert -1 <= found.fenced.low <= found.fenced.estimate <= found.fenced.high <= 1
    print(found)
