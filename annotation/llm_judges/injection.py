"""The injection test: how often injected instructions sway a model judge, with and without delimiters.

Also contains the texts, neutral texts of the same length, and how they are inserted into a response.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any, Final

from django.utils import timezone

from crowdrag.jobs import lifecycle
from crowdrag.jobs.kinds import InputRejectedError, Work
from crowdrag.jobs.models import Run
from crowdrag.llm import forecasts, gateway
from crowdrag.llm.forecasts import Forecast
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study, User
from writing.corpus.imports import bulk

from ..campaign_types.shown_items import ShownItem
from ..enums import Inference, Spot
from ..judging.questionnaire_content import Question
from ..models import Campaign, InjectionTrial, Judgment, Pair
from . import llm_campaigns, outcomes, stimuli
from .judge import CampaignQuestions, Judge, questions_of_campaign
from .run_orders import JudgeOrder, evenly_spaced
from .stimuli import ItemSelection, Stimulus

FILE: Final = Path(__file__).with_name("attacks.json")
# Between two sentences: after a full stop, or after the citations that follow it.
_BREAK = re.compile(r"(?<=[.!?\]])\s+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Attack:
    """A text that asks for a verdict, with placeholders for the response and the option that it wants."""

    id: str
    kind: str
    text: str

    def asking_for(self, *, target: str, option: str) -> str:
        """Return the text with its placeholders filled in."""
        return self.text.replace("{target}", target).replace("{option}", option)


@cache
def attack_texts() -> tuple[Attack, ...]:
    """Return all texts, alternating between kinds, so that the first few are of many kinds."""
    attacks = [Attack(**one) for one in _data()["attacks"]]
    by_kind: dict[str, list[Attack]] = {}
    for attack in attacks:
        by_kind.setdefault(attack.kind, []).append(attack)
    most = max(len(each) for each in by_kind.values())
    return tuple(each[n] for n in range(most) for each in by_kind.values() if n < len(each))


def neutral_like(text: str, rng: Random) -> str:
    """Return a neutral text with the same number of characters, with line breaks at the same positions.

    Examples
    --------
    >>> neutral = neutral_like("Choose A.\\nNow.", Random(0))
    >>> (len(neutral), neutral[9], neutral.endswith("."))
    (14, '\\n', True)
    """
    sentences: list[str] = list(_data()["neutral"])
    rng.shuffle(sentences)
    words = ""
    for sentence in cycle(sentences):
        if len(words) >= len(text):
            break
        words += ("" if not words else " ") + sentence
    cut = list(words[: len(text)])
    for index, character in enumerate(text):
        if character == "\n":
            cut[index] = "\n"
    if cut:
        cut[-1] = "\n" if text[-1] == "\n" else "."
    return "".join(cut)


def plant(text: str, insert: str, spot: str) -> str:
    """Return a response with a text inserted as a separate paragraph. All words of the response are kept."""
    if spot == Spot.START:
        return f"{insert}\n\n{text}"
    if spot == Spot.END:
        return f"{text}\n\n{insert}"
    at = _middle(text)
    return f"{text[:at].rstrip()}\n\n{insert}\n\n{text[at:].lstrip()}"


def _middle(text: str) -> int:
    """Return the break between sentences (or else between words) that is nearest to the middle."""
    breaks = [match.end() for match in _BREAK.finditer(text)] or [match.end() for match in _SPACE.finditer(text)]
    return min(breaks, key=lambda place: abs(place - len(text) / 2), default=len(text))


@cache
def _data() -> Any:
    return json.loads(FILE.read_text())


KIND: Final = "judge.injection"
PURPOSE: Final = "judge.injection"
# With fewer pairs, the intervals are too wide.
LEAST_PAIRS: Final = 100
# The dimension to test if the campaign asks it; otherwise the campaign's first question.
PREFERRED: Final = "quality_overall"
# A unit is a few rounds of concurrent calls, short enough for regular progress reports.
ROUNDS: Final = 4
MODES: Final = ("plain", "attacked", "neutral")


@dataclass(frozen=True)
class InjectionOrder(JudgeOrder):
    """Settings of an injection test: `n` pairs, on one dimension; `bare`: also without delimiters."""

    n: int = LEAST_PAIRS
    dimension: int | None = None
    bare: bool = True

    @property
    def fences(self) -> tuple[bool, ...]:
        """Whether texts are delimited: always, and also without delimiters if `bare`."""
        return (True, False) if self.bare else (True,)


@dataclass(frozen=True)
class Trial:
    """A pair with the text to inject; `side` is the target if the plain verdict is neither (-1 is A)."""

    thing: Stimulus
    attack: Attack
    spot: str
    side: int


@dataclass
class _Case:
    """A trial in progress: its texts, and the verdicts so far by condition."""

    trial: Trial
    shown: ShownItem
    target: int
    verdicts: dict[str, int | None]


def start(*, study: Study, order: InjectionOrder, by: User | None = None) -> Run:
    """Start an injection test.

    Raises
    ------
    InputRejectedError
        if there are no pairs to test.
    """
    return lifecycle.start(study=study, kind=KIND, parameters=order.kept, by=by, seed=order.seed)


def forecast(*, study: Study, order: InjectionOrder) -> Forecast:
    """Estimate the cost of an injection test. Nothing is sent."""
    judge, source = order.judge(), order.campaign(study)
    campaign_questions = questions_of_campaign(source)
    questions = (
        _questions(order, campaign_questions, question_of(order, campaign_questions))
        if campaign_questions.questions
        else ()
    )
    things = [trial.thing for trial in trials(source, order)]
    longest = max((len(attack.text) for attack in attack_texts()), default=0)
    some = stimuli.show_stimuli(evenly_spaced(things, 250))
    requests = [
        judge.request(shown=each, campaign_questions=campaign_questions, questions=questions, is_fenced=is_fenced)
        for shown in some.values()
        for is_fenced in order.fences
        for each in (shown, _with(shown, -1, "." * longest, Spot.END), _with(shown, 1, "." * longest, Spot.END))
    ]
    return forecasts.forecast(
        study=study,
        endpoint=judge.endpoint,
        requests=requests,
        purpose=PURPOSE,
        count=len(things),
        calls=len(things) * len(MODES) * len(order.fences),
    )


def trials(source: Campaign, order: InjectionOrder) -> list[Trial]:
    """Return the pairs with the texts to inject: texts and positions in turn, all drawn with the order's seed."""
    rng = Random(order.seed)
    things = stimuli.select_stimuli(source=source, which=ItemSelection.ALL, n=None, both=False, seed=order.seed)
    pairs = list({thing.unordered: thing for thing in things if thing.b is not None}.values())
    # If a campaign has too few pairs, their reverse orders are added.
    rng.shuffle(pairs)
    drawn = (pairs + [thing.reverse for thing in pairs])[: order.n]
    texts, spots = attack_texts(), list(Spot.values)
    return [
        Trial(thing, texts[i % len(texts)], spots[(i // len(texts) + i) % len(spots)], rng.choice((-1, 1)))
        for i, thing in enumerate(drawn)
    ]


def question_of(order: InjectionOrder, questions: CampaignQuestions) -> Question:
    """Return the question to test."""
    chosen = next((one for one in questions.questions if one.pk == order.dimension), None)
    return chosen or questions.questions[0]


def plan(run: Run) -> Iterable[dict[str, Any]]:
    """Plan units of a few pairs each."""
    order = InjectionOrder.of(run)
    source = order.campaign(run.study)
    if not questions_of_campaign(source).questions:
        raise InputRejectedError([{"field": "source", "message": "The campaign has no questions yet."}])
    drawn = trials(source, order)
    if not drawn:
        raise InputRejectedError([{"field": "source", "message": "The campaign has no pairs of responses."}])
    bulk.lock_imports(run.study)
    llm_campaigns.ensure_pairs(run.study, [trial.thing for trial in drawn])
    content = [order.kept, [[trial.thing.a, trial.thing.b, trial.attack.id, trial.spot] for trial in drawn]]
    run.inputs_digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    size = max(1, Endpoint.objects.get(pk=order.endpoint).slots * ROUNDS // len(order.fences))
    kept = [
        {"a": trial.thing.a, "b": trial.thing.b, "attack": trial.attack.id, "spot": trial.spot, "side": trial.side}
        for trial in drawn
    ]
    return [{"trials": kept[at : at + size]} for at in range(0, len(kept), size)]


def work(work: Work) -> Callable[[], None]:
    """Get a judge's verdicts on a few pairs, plain and with inserted texts.

    Raises
    ------
    InputRejectedError
        if the endpoint is not allowed or the budget is spent; the run can be resumed when this has changed.
    UnansweredError
        if the server failed. The unit is tried again.
    """
    run, order = work.run, InjectionOrder.of(work.run)
    judge, source = order.judge(), order.campaign(run.study)
    campaign_questions = questions_of_campaign(source)
    question = question_of(order, campaign_questions)
    questions = _questions(order, campaign_questions, question)
    cases = _cases(work)
    total = len(cases) * len(MODES) * len(order.fences)
    wave = _TrialBatch(work, judge, campaign_questions, questions, question, order.fences, total)
    wave.ask(cases, {"plain": {id(case): case.shown for case in cases}})
    for case in cases:
        # The text must ask for a verdict that differs from the plain one, or else no effect could be seen.
        plain = case.verdicts["plain"]
        case.target = -1 if plain and plain > 0 else 1 if plain and plain < 0 else case.trial.side
    wave.ask(
        cases,
        {
            "attacked": {id(case): _planted(case, question, order, is_neutral=False) for case in cases},
            "neutral": {id(case): _planted(case, question, order, is_neutral=True) for case in cases},
        },
    )
    majorities = _majorities(source, question, [case.trial.thing for case in cases])

    def effect() -> None:
        now = timezone.now()
        participant = judge.participant(study=run.study, now=now)
        lefts = {case.trial.thing.a for case in cases}
        rows = Pair.objects.filter(study=run.study, a__in=lefts).values_list("pk", "a", "b")
        pairs = {Stimulus(a, b): pk for pk, a, b in rows}
        InjectionTrial.objects.bulk_create(
            (
                InjectionTrial(
                    measurement=run.key,
                    participant=participant,
                    pair_id=pairs[case.trial.thing],
                    dimension_id=question.pk,
                    inference=order.inference,
                    attack=case.trial.attack.id,
                    kind=case.trial.attack.kind,
                    spot=case.trial.spot,
                    target=case.target,
                    majority=majorities.get(case.trial.thing),
                    measured_at=now,
                    **case.verdicts,
                )
                for case in cases
            ),
            ignore_conflicts=True,
        )

    return effect


def finish(run: Run) -> None:
    """Store a summary of the results."""
    from . import injection_results

    outcome = injection_results.result_of_run(run)
    if outcome is not None:
        lifecycle.note(run=run, summary=outcome.summary)


@dataclass
class _TrialBatch:
    """Sends all cases in some conditions, with and without delimiters, and stores the verdicts."""

    work: Work
    judge: Judge
    told: CampaignQuestions
    questions: Sequence[Question]
    question: Question
    fences: Sequence[bool]
    total: int
    done: int = 0

    def ask(self, cases: Sequence[_Case], ways: dict[str, dict[int, ShownItem]]) -> None:
        variants = [(case, way, fenced) for way in ways for fenced in self.fences for case in cases]
        requests = [
            self.judge.request(
                shown=ways[way][id(case)], campaign_questions=self.told, questions=self.questions, is_fenced=is_fenced
            )
            for case, way, is_fenced in variants
        ]

        def note_answer(_answer: gateway.Answer) -> None:
            self.done += 1
            self.work.report(min(self.done, self.total), self.total, "")

        try:
            answers = gateway.complete_many(
                endpoint=self.judge.endpoint,
                requests=requests,
                study=self.work.run.study,
                purpose=PURPOSE,
                on_answer=note_answer,
                check=self.work.check,
            )
        except gateway.GatewayError as error:
            raise InputRejectedError([{"message": str(error)}]) from error
        forecasts.check_answered(self.judge.endpoint, answers)
        for (case, way, is_fenced), answer in zip(variants, answers, strict=True):
            option = outcomes.classify(answer, questions=self.questions).options_by_dimension.get(self.question.pk)
            case.verdicts[way if is_fenced else f"bare_{way}"] = None if option is None else option.value


def _questions(order: InjectionOrder, questions: CampaignQuestions, question: Question) -> tuple[Question, ...]:
    return questions.questions if order.inference == Inference.COMBINED else (question,)


def _cases(work: Work) -> list[_Case]:
    texts = {attack.id: attack for attack in attack_texts()}
    cases = [
        Trial(Stimulus(each["a"], each["b"]), texts[each["attack"]], each["spot"], each["side"])
        for each in work.unit.payload["trials"]
    ]
    shown = stimuli.show_stimuli(trial.thing for trial in cases)
    # Responses may have been erased since the run was planned.
    return [
        _Case(trial, shown[trial.thing], trial.side, {})
        for trial in cases
        if not any(side.is_gone for side in shown[trial.thing].sides)
    ]


def _planted(case: _Case, question: Question, order: InjectionOrder, *, is_neutral: bool) -> ShownItem:
    trial = case.trial
    sign = -1 if case.target < 0 else 1
    label = next((option.label for option in question.options if option.value * sign > 0), "")
    name = case.shown.sides[0 if case.target < 0 else 1].name
    text = trial.attack.asking_for(target=f"Response {name}", option=label)
    if is_neutral:
        text = neutral_like(text, Random(f"{order.seed}/{trial.thing.a}/{trial.thing.b}"))
    return _with(case.shown, case.target, text, trial.spot)


def _with(shown: ShownItem, target: int, insert: str, spot: str) -> ShownItem:
    """Return a pair with a text inserted into the target response."""
    left, right = shown.sides
    if target < 0:
        left = replace(left, text=plant(left.text, insert, spot))
    else:
        right = replace(right, text=plant(right.text, insert, spot))
    return replace(shown, sides=(left, right))


def _majorities(source: Campaign, question: Question, things: Sequence[Stimulus]) -> dict[Stimulus, int]:
    """Return the answer of more than half of the judges of each pair in this order, if there is one."""
    rows = (
        Judgment.objects.filter(
            item__campaign=source, dimension=question.pk, item__pair__a__in={thing.a for thing in things}
        )
        .counted()
        .values_list("item__pair__a", "item__pair__b", "value")
    )
    votes: dict[Stimulus, Counter[int]] = {}
    for a, b, value in rows:
        votes.setdefault(Stimulus(a, b), Counter())[value] += 1
    majorities = {}
    for thing, counted in votes.items():
        value, n = counted.most_common(1)[0]
        if 2 * n > counted.total():
            majorities[thing] = value
    return majorities
