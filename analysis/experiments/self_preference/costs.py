"""Cost estimate of a self-preference experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from analysis.rag.protocols import Collection, Document, Output, Prompt, Query
from analysis.rag.self_preference import bank, bank_builder, knowledge, pairwise, pointwise

from ..experiment import CostEstimate
from .parameters import BUILD, KNOWLEDGE, RATINGS, READINGS, SelfPreferenceParameters
from .stages import authors, check

#: Average characters per token of English text, and the tokens that a chat template adds.
CHARACTERS = 4
TEMPLATE = 20
#: Seconds per token with a causal model as large as the smallest GPT-2, on two cores.
SECONDS_PER_TOKEN = 3e-3


class _Listener:
    """A generator that collects prompts and answers nothing."""

    name = "nobody"

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        self.prompts += prompts
        return [Output("") for _prompt in prompts]


def estimate(collection: Collection, parameters: SelfPreferenceParameters) -> CostEstimate:
    """Count distinct prompts, each requested once. `most` counts each as often as it may be requested.

    Passages not yet written are assumed to be as long as people's.

    Raises
    ------
    BadParameterError
        If the bank has no passages by the author that the evaluator is set to.
    """
    check(collection, parameters)
    prompts: dict[Prompt, int] = {}
    names = authors(collection, parameters)
    bare = 0
    for query in collection.queries:
        attempts_by_prompt = dict(_prompts(query, names, parameters))
        bare += not attempts_by_prompt
        prompts |= attempts_by_prompt
    generation = _added(dict.fromkeys(prompts, 1))
    again = sum(times > 1 for times in prompts.values())
    return replace(
        generation,
        queries=len(collection.queries) - bare,
        left_out=bare,
        seconds=_reading(collection) if parameters.perplexity else 0.0,
        note=f"Up to {again:,} replies may be unreadable. Each is requested at most {parameters.attempts} times."
        if again
        else "",
        most=_added(prompts) if again else None,
    )


def _reading(collection: Collection) -> float:
    """Seconds that a small model needs to read all passages for their perplexity."""
    letters = sum(len(passage.text) for query in collection.queries for passage in query.documents)
    return letters / CHARACTERS * SECONDS_PER_TOKEN


def _added(prompts: Mapping[Prompt, int]) -> CostEstimate:
    letters = sum(n * len(message.content) for prompt, n in prompts.items() for message in prompt.messages)
    calls = sum(prompts.values())
    return CostEstimate(
        calls=calls,
        prompt_tokens=letters // CHARACTERS + TEMPLATE * calls,
        completion_tokens=sum(n * prompt.max_tokens for prompt, n in prompts.items()),
    )


def _prompts(query: Query, names: Sequence[str], parameters: SelfPreferenceParameters) -> Iterable[tuple[Prompt, int]]:
    """Yield the prompts about a question with their maximum number of requests (retries after bad replies)."""
    if BUILD in parameters.parts:
        listener = _Listener()
        bank_builder.build(
            listener,  # type: ignore[arg-type]
            query,
            parameters.evaluator,
            styles=parameters.styles,
            attempts=1,
            version=parameters.prompts,
        )
        yield from ((prompt, parameters.attempts) for prompt in listener.prompts)
        query = _as_if_written(query, parameters)
    if KNOWLEDGE in parameters.parts and query.answers:
        requests = knowledge.requests(
            query, tries=parameters.tries, temperature=parameters.temperature, version=parameters.prompts
        )
        yield from ((prompt, 1) for prompt in requests)
    usable = bank.usable(query)[0]
    if RATINGS in parameters.parts:
        for passage, setting in pointwise.passages_to_rate(
            usable, [pointwise.Setting(setting_name) for setting_name in parameters.settings]
        ):
            prompt = pointwise.request(
                usable, passage, setting, is_constrained=parameters.constrained, version=parameters.prompts
            )
            yield prompt, parameters.attempts
    if READINGS in parameters.parts:
        for pair in bank.pairs(usable, names, parameters.evaluator, parameters.cases):
            prompt = pairwise.request(
                usable, pair, is_constrained=parameters.constrained_readings, version=parameters.prompts
            )
            yield prompt, parameters.attempts


def _as_if_written(query: Query, parameters: SelfPreferenceParameters) -> Query:
    """Return a question as if the evaluator had written passages like people's, with different words."""
    me = parameters.evaluator
    human = next((p for p in query.documents if p.author == bank.HUMAN and p.is_helpful), None)
    if human is None or not query.answers:
        return query
    kinds = {"true": "normal"} | {style: style for style in parameters.styles}
    written = [
        replace(human, id=f"{me}_{kind}", author=me, style=style, text=f"{human.text} {kind}")
        for kind, style in kinds.items()
    ]
    false = [bank_builder.falsified(query, passage, f"{me} {query.id}", me) for passage in (human, written[0])]
    return replace(query, documents=(*query.documents, *written, *(p for p in false if isinstance(p, Document))))
