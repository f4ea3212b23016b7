"""The run of a model judge: units, work, outcome."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.urls import reverse
from django.utils import timezone

from crowdrag.jobs import lifecycle
from crowdrag.jobs.kinds import InputRejectedError, Work
from crowdrag.jobs.models import Run
from crowdrag.llm import forecasts, gateway
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study, User
from writing.models import Response

from ..enums import Inference, JudgingOutcome
from ..judging.questionnaire_content import Question
from ..models import JudgingAnswer
from . import llm_campaigns, outcomes, stimuli
from .judge import CampaignQuestions, Judge, questions_of_campaign
from .outcomes import CallResult
from .run_orders import PURPOSE, Order
from .stimuli import Stimulus


def register_kinds() -> None:
    """Register the types of runs of model judges. Called once, when the app is ready."""

    from crowdrag.jobs.enums import Queue
    from crowdrag.jobs.kinds import Kind, register

    from . import injection, queries, trained_judge  # not at the top, because models are not loaded yet

    register(
        Kind(
            name=KIND,
            title="Model judgments",
            queue=Queue.LLM,
            plan=plan,
            work=work,
            finish=finish,
            result_url=queries.result_url,
            describe=queries.describe_parameters,
            subjects=queries.run_subjects,
        )
    )
    register(
        Kind(
            name=injection.KIND,
            title="Prompt injection test",
            queue=Queue.LLM,
            plan=injection.plan,
            work=injection.work,
            finish=injection.finish,
            result_url=queries.result_url,
            describe=queries.describe_parameters,
            subjects=queries.run_subjects,
        )
    )
    register(
        Kind(
            name=trained_judge.KIND,
            title="Training of a judge",
            work=trained_judge.work,
            result_url=lambda run: reverse("model_judges", args=[run.study.slug]),
            describe=queries.describe_parameters,
            subjects=queries.run_subjects,
        )
    )


KIND: Final = "judge.model"
# The endpoint idles at the end of a unit, until the last answers arrive and the next unit begins. Long units reduce
# this. Answers are stored in the meantime.
ROUNDS: Final = 32
# Answers are stored in batches: small enough to lose little, large enough to cost little.
BATCH: Final = 32
KEPT_EVERY: Final = 2.0  # seconds: slow models' answers become results soon, and are kept if the run is cancelled


@dataclass(frozen=True)
class _Call:
    """One request to the model; `responses` are those to judge."""

    item: int
    thing: Stimulus
    responses: tuple[Response, ...]
    questions: tuple[Question, ...]
    dimension: int | None
    repeat: int


def start(*, study: Study, order: Order, by: User | None = None, kind: str = KIND) -> Run:
    """Start a run of a model judge.

    Raises
    ------
    InputRejectedError
        if there is nothing to judge.
    """
    return lifecycle.start(study=study, kind=kind, parameters=order.kept, by=by, seed=order.seed)


def plan(run: Run) -> Iterable[dict[str, Any]]:
    """Plan units of many calls each. Items are created here, so that a resumed run has the same ones."""
    order, now = Order.of(run), timezone.now()
    things = order.things(run.study)
    if not things:
        raise InputRejectedError(
            [{"field": "which", "message": "There is nothing to judge, because the campaign has no matching items."}]
        )
    source, judge = order.campaign(run.study), order.judge()
    questions = questions_of_campaign(source)
    if not questions.questions:
        raise InputRejectedError([{"field": "source", "message": "The campaign has no questions yet."}])
    participant = judge.participant(study=run.study, now=now)
    items = list(llm_campaigns.ensure_items(source=source, inference=order.inference, things=things, now=now).values())
    llm_campaigns.ensure_assignments(items=items, participant=participant, now=now)
    content = [order.kept, [[*thing.responses] for thing in things]]
    run.inputs_digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    parts = len(questions.parts(order.inference))
    size = max(1, Endpoint.objects.get(pk=order.endpoint).slots * ROUNDS // parts)
    return [
        {"items": missing[at : at + size], "repeat": repeat}
        for repeat in range(order.repeats)
        if (missing := _not_judged(items, participant.pk, repeat, parts))
        for at in range(0, len(missing), size)
    ]


def work(work: Work) -> Callable[[], None]:
    """Have a model judge some items.

    Raises
    ------
    InputRejectedError
        if the endpoint is not allowed or the budget is spent; the run can be resumed when this has changed.
    UnansweredError
        if the server failed. The unit is tried again.
    """
    run, order = work.run, Order.of(work.run)
    judge, questions = order.judge(), questions_of_campaign(order.campaign(run.study))
    calls = _calls(work, order, questions)
    participant = judge.participant(study=run.study, now=timezone.now())
    assignment_of = outcomes.assignments(items=[call.item for call in calls], participant=participant)
    ready: list[CallResult] = []
    done, kept_at = 0, time.monotonic()
    work.report(0, len(calls), forecasts.describe_wait(judge.endpoint))

    def note_answer(answer: gateway.Answer) -> None:
        nonlocal done, kept_at
        call = calls[answer.index]
        if answer.fault not in forecasts.TRANSIENT_FAULTS:
            ready.append(_came(call, answer, judge))
        done += 1
        if ready and (len(ready) >= BATCH or time.monotonic() - kept_at >= KEPT_EVERY):
            work.keep(effect)
            kept_at = time.monotonic()
        work.report(done, len(calls), _about(call))

    def effect() -> None:
        outcomes.store_results(
            run=run, participant=participant, assignment_of=assignment_of, came=ready, now=timezone.now()
        )
        # Answers that are not committed are requested again, and come from the gateway's store.
        ready.clear()

    texts = {response.pk: response for call in calls for response in call.responses}

    def request(call: _Call) -> gateway.Request:
        shown = stimuli.show_stimulus(call.thing, texts)
        return judge.request(shown=shown, campaign_questions=questions, questions=call.questions, repeat=call.repeat)

    try:
        answers = gateway.complete_many(
            endpoint=judge.endpoint,
            requests=map(request, calls),
            study=run.study,
            purpose=PURPOSE,
            on_answer=note_answer,
            check=work.check,
        )
    except gateway.GatewayError as error:
        work.keep(effect)
        raise InputRejectedError([{"message": str(error)}]) from error
    try:
        forecasts.check_answered(judge.endpoint, answers)
    except forecasts.UnansweredError:
        work.keep(effect)
        raise
    return effect


def finish(run: Run) -> None:
    """Store a summary of the outcomes."""
    answers = JudgingAnswer.objects.filter(run=run)
    counted = Counter(answers.values_list("outcome", flat=True))
    summary: dict[str, Any] = {"answers": counted.total()}
    summary |= {str(outcome).lower(): counted[outcome] for outcome in JudgingOutcome if counted[outcome]}
    lifecycle.note(run=run, summary=summary)


def _calls(work: Work, order: Order, questions: CampaignQuestions) -> list[_Call]:
    # A response is part of many items, so each is loaded once.
    stimuli_of_unit = stimuli.stimuli_of_items(work.unit.payload["items"])
    texts = stimuli.texts(stimuli_of_unit.values())
    repeat = work.unit.payload["repeat"]
    parts = questions.parts(order.inference)
    # Responses that were excluded or erased since the run was planned are not judged.
    items = [pk for pk in work.unit.payload["items"] if stimuli.can_be_judged(stimuli_of_unit[pk], texts)]
    is_combined = order.inference == Inference.COMBINED
    return [
        _Call(
            item,
            stimuli_of_unit[item],
            tuple(texts[pk] for pk in stimuli_of_unit[item].responses),
            part,
            None if is_combined else part[0].pk,
            repeat,
        )
        for item in items
        for part in parts
    ]


def _not_judged(items: list[int], participant: int, repeat: int, parts: int) -> list[int]:
    """Return the items that still have a question without an answer."""
    rows = JudgingAnswer.objects.filter(
        participant=participant, item__in=items, repeat=repeat, outcome=JudgingOutcome.JUDGED
    )
    answered = Counter(rows.values_list("item", flat=True))
    return [item for item in items if answered[item] < parts]


def _came(call: _Call, answer: gateway.Answer, judge: Judge) -> CallResult:
    return CallResult(
        item=call.item,
        dimension=call.dimension,
        repeat=call.repeat,
        call=answer.call,
        outcome=outcomes.classify(answer, questions=call.questions),
        is_own=any(judge.wrote(one.participant) for one in call.responses),
    )


def _about(call: _Call) -> str:
    return call.responses[0].topic.title
