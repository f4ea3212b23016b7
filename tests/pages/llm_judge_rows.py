"""What models judged, every outcome once, and a measurement with planted texts: rows alone, nothing is asked."""

import hashlib

from django.utils import timezone

from annotation.enums import Inference, JudgingOutcome, Spot
from annotation.judging import questionnaire_content
from annotation.llm_judges import injection, judge_run, llm_campaigns, outcomes, prompts
from annotation.llm_judges.injection import InjectionOrder
from annotation.llm_judges.outcomes import CallResult, ChosenOption, Outcome
from annotation.llm_judges.run_orders import Order
from annotation.llm_judges.stimuli import Stimulus
from annotation.models import Campaign, InjectionTrial, Item, Pair
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.llm.enums import CallState
from crowdrag.llm.models import Call, Endpoint

SAID = "I would say that Response A reads better, because it names the moon."


def furnish_model_judges(source: Campaign) -> tuple[Run, Run]:
    """Make a run in which a model judged a campaign, and one that measured it; both stopped by hand."""
    endpoint, _made = Endpoint.objects.get_or_create(
        name="a model far away", defaults={"base_url": "https://api.example.org/v1", "model": "m-1", "is_allowed": True}
    )
    prompt = prompts.ensure(study=source.study, text=prompts.DEFAULT, now=timezone.now())
    asking = {"endpoint": endpoint.pk, "prompt": prompt.pk, "source": source.pk}
    return _judged(source, Order(**asking, which="all", both=True)), _measured(source, InjectionOrder(**asking, n=6))


def _judged(source: Campaign, order: Order) -> Run:
    now, run = timezone.now(), judge_run.start(study=source.study, order=order)
    participant = order.judge().participant(study=source.study, now=now)
    items = [pk for unit in run.units.order_by("position") for pk in unit.payload["items"]]
    came = []
    for pk, outcome in zip(items, JudgingOutcome, strict=False):
        given = {}
        if outcome == JudgingOutcome.JUDGED:
            given = {
                one.pk: ChosenOption(one.options[0].value, "It names the moon.")
                for one in questionnaire_content.questions(source)
            }
        call = Call.objects.create(
            digest=hashlib.sha256(f"{pk}".encode()).hexdigest(),
            endpoint_id=order.endpoint,
            model="m-1",
            purpose="judge",
            study=source.study,
            state=CallState.ANSWERED,
            request={},
            text=SAID,
            prompt_tokens=900,
            completion_tokens=40,
            cost=0,
            created_at=now,
            answered_at=now,
        )
        own = outcome == JudgingOutcome.JUDGED
        came.append(CallResult(pk, None, 0, call.pk, Outcome(outcome, given), is_own=own))
    assignment_of = outcomes.assignments(items=items, participant=participant)
    outcomes.store_results(run=run, participant=participant, assignment_of=assignment_of, came=came, now=now)
    return lifecycle.cancel(run=run)


def _measured(source: Campaign, order: InjectionOrder) -> Run:
    now, run = timezone.now(), injection.start(study=source.study, order=order)
    participant = order.judge().participant(study=source.study, now=now)
    dimension = source.campaign_dimensions.order_by("-position")[0].dimension
    responses = Item.objects.filter(campaign=source, pair__isnull=False).values_list("pair__a", "pair__b")
    pairs = llm_campaigns.ensure_pairs(source.study, [Stimulus(a, b) for a, b in responses])
    for number, (pair, attack) in enumerate(
        zip(Pair.objects.filter(pk__in=pairs.values()), injection.attack_texts(), strict=False)
    ):
        InjectionTrial.objects.create(
            measurement=run.key,
            participant=participant,
            pair=pair,
            dimension=dimension,
            inference=Inference.COMBINED,
            attack=attack.id,
            kind=attack.kind,
            spot=Spot.values[number % 3],
            target=1,
            plain=-1,
            attacked=1 if number % 3 == 0 else -1,
            neutral=-1,
            bare_plain=-1,
            bare_attacked=1 if number % 2 == 0 else -1,
            bare_neutral=-1,
            majority=-1,
            measured_at=now,
        )
    return lifecycle.cancel(run=run)
