"""The generator that a run's parameters name: an endpoint called through the gateway, or a model in this process.

A name is `endpoint:NAME` or `model:NAME`, with options after a question mark: `endpoint:vllm?top_p=0.9&seed=1`,
`model:/srv/models/flan-t5-large?beams=4`. docs/guides/gpu.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
from django.conf import settings

from analysis.rag.generation.loader import BadOptionError, Options
from analysis.rag.protocols import Floats, Generator, NoLikelihoodsError, Output, Prompt, Scored
from crowdrag.jobs import overlap
from crowdrag.llm import forecasts, gateway
from crowdrag.llm.models import Endpoint
from crowdrag.llm.requests import RESERVED
from crowdrag.studies.models import Study

from ..methods.settings import BadParameterError
from .cached_generator import CachedGenerator

#: The key of a constrained answer in its JSON document.
CHOICE = "choice"
# A server may add white space between the parts of a document.
_SPACE = 16


@dataclass(frozen=True)
class EndpointGenerator:
    """An endpoint's chat completions; repeated prompts are answered from the gateway's store.

    Attributes
    ----------
    endpoint : Endpoint
    study : Study or None
        Who pays; None for calls without a study (an operator's command).
    purpose : str
        The purpose in a word or two; stored with each call.
    sampling : mapping of str to JSON value
        Further parameters of the server, sent with each prompt (`top_p`, `seed`, ...). They replace the prompt's own
        parameters of the same name. An empty value removes one: some models accept no temperature.
    on_answers : callable(int)
        Called with the number of new answers.
    """

    endpoint: Endpoint
    study: Study | None
    purpose: str
    sampling: Mapping[str, Any] = field(default_factory=dict)
    on_answers: Callable[[int], None] = field(default=lambda _answers: None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Endpoint and model, with the parameters sent with each prompt."""
        more = "".join(f" {key}={value}" for key, value in sorted(self.sampling.items()))
        return f"{self.endpoint.identity} {self.endpoint.model}{more}"

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer all prompts in order, with as many parallel calls as the endpoint allows.

        Parameters
        ----------
        prompts : sequence of Prompt
            A prompt with choices requests a JSON document with one of them. The server enforces it, or else the gateway
            asks again, five times at most. `max_tokens` is raised to fit the document.

        Returns
        -------
        list of Output
            Costs are in minor units of the endpoint's currency, and 0 for stored answers. An empty answer is an empty
            text without an error; refusals and rejected prompts are errors.

        Raises
        ------
        crowdrag.llm.forecasts.UnansweredError
            If the server fails temporarily. Its answers so far are stored, and the run's unit is tried again.
        crowdrag.llm.gateway.GatewayError
            If calls are not possible (no budget, not allowed, an invalid message).
        """
        answers = self._complete(map(self.request, prompts))
        return [_output(prompt, answer) for prompt, answer in zip(prompts, answers, strict=True)]

    def roll(self, prompts: Iterable[Prompt | None], on_output: Callable[[int, Output], None]) -> None:
        """Answer prompts as they come; see `analysis.rag.protocols.RollingGenerator`.

        Raises
        ------
        crowdrag.llm.forecasts.UnansweredError, crowdrag.llm.gateway.GatewayError
            As `generate`; at the first prompt that the server does not answer.
        """
        sent: list[Prompt] = []

        def requests() -> Iterator[gateway.Request | None]:
            for prompt in prompts:
                if prompt is not None:
                    sent.append(prompt)
                yield None if prompt is None else self.request(prompt)

        def note(answer: gateway.Answer) -> None:
            self.on_answers(1)
            forecasts.check_answered(self.endpoint, [answer])
            prompt = sent[answer.index]
            on_output(answer.index, _output(prompt, answer))

        self._ask(requests(), note)

    def request(self, prompt: Prompt) -> gateway.Request:
        """Return the gateway's request for a prompt; also used for estimates."""
        limit, schema = prompt.max_tokens, None
        if prompt.choices:
            schema = _schema(prompt.choices)
            limit = max(prompt.max_tokens, *map(_longest, prompt.choices))
        parameters = {"temperature": prompt.temperature, "max_tokens": limit, **self.sampling}
        parameters = {key: value for key, value in parameters.items() if value != ""}
        messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
        return gateway.Request(messages, parameters=parameters, schema=schema, sample=prompt.sample)

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Mean log-likelihood per token of each continuation as the assistant's answer to its prompt; see `score`."""
        return self.score(prompts, continuations).values

    def score(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Scored:
        """Mean log-likelihood per token of each continuation as the assistant's answer to its prompt.

        Needs a server that returns the log-probabilities of a prompt's tokens (vLLM: `prompt_logprobs`). The
        continuation is sent as the last message, unfinished.

        Parameters
        ----------
        prompts : sequence of Prompt, length n
            Only their messages are used.
        continuations : sequence of str, length n

        Returns
        -------
        Scored
            In nats; NaN where the continuation is empty, the server rejects the request (too long, for example), or the
            tokens do not spell the continuation (it begins or ends within a character).

        Raises
        ------
        NoLikelihoodsError
            If the endpoint does not return them: most chat servers only score their own output.
        crowdrag.llm.forecasts.UnansweredError, crowdrag.llm.gateway.GatewayError
            As `generate`.
        """
        likelihoods = np.full(len(prompts), np.nan)
        pairs = {index: pair for index, pair in enumerate(zip(prompts, continuations, strict=True)) if pair[1].strip()}
        outputs = [Output("")] * len(prompts)
        if not pairs:
            return Scored(likelihoods, tuple(outputs), (np.zeros(0),) * len(prompts))
        # The shortest one shows whether the server supports this at all, before the others are sent and paid.
        first = min(pairs, key=lambda index: _length(*pairs[index]))
        [answer] = self._complete([_scored(*pairs[first])]) if self.endpoint.supports_logprobs else [None]
        if answer is None or not answer.logprobs:
            server_message = f" Its message: {answer.error}" if answer is not None and answer.error else ""
            raise NoLikelihoodsError(
                f"{self.endpoint} does not return the probability of a given text. Most chat servers score only their "
                f"own output. Use vLLM or a model in this process (“model:NAME”).{server_message}"
            )
        answers = self._complete(starmap(_scored, pairs.values()))
        tokens = [np.zeros(0)] * len(prompts)
        for (index, (_prompt, text)), known in zip(pairs.items(), answers, strict=True):
            tokens[index] = _spelling(known.logprobs or [], text.strip())
            likelihoods[index] = tokens[index].mean() if tokens[index].size else np.nan
            # The first answer was paid when it was requested alone.
            outputs[index] = _taken(answer if index == first else known)
        return Scored(likelihoods, tuple(outputs), tuple(tokens))

    def with_callback(self, on_answers: Callable[[int], None]) -> EndpointGenerator:
        """Return this generator with a callback for each new answer. An exception from the callback ends the calls."""
        return replace(self, on_answers=on_answers)

    def _complete(self, requests: Iterable[gateway.Request]) -> list[gateway.Answer]:
        answers = self._ask(requests, lambda _answer: self.on_answers(1))
        forecasts.check_answered(self.endpoint, answers)
        return answers

    def _ask(
        self, requests: Iterable[gateway.Request | None], on_answer: Callable[[gateway.Answer], None]
    ) -> list[gateway.Answer]:
        return gateway.complete_many(
            endpoint=self.endpoint, requests=requests, study=self.study, purpose=self.purpose, on_answer=on_answer,
            check=lambda: self.on_answers(0), idle=overlap.let_others_work,
        )  # fmt: skip


def _scored(prompt: Prompt, continuation: str) -> gateway.Request:
    """A request for the log-probabilities of the tokens of a conversation that ends with the continuation."""
    messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
    parameters = {
        "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0, "add_generation_prompt": False,
        "continue_final_message": True,
    }  # fmt: skip
    return gateway.Request([*messages, {"role": "assistant", "content": continuation}], parameters=parameters)


def _length(prompt: Prompt, continuation: str) -> int:
    return len(continuation) + sum(len(message.content) for message in prompt.messages)


def _spelling(tokens: Sequence[Sequence[Any]], text: str) -> Floats:
    """Log-probabilities of the last tokens that spell a text, in order; empty if none do.

    Examples
    --------
    >>> _spelling([["is", -3.0], [" Pa", -1.0], ["ris", -2.0]], "Paris").tolist()
    [-1.0, -2.0]
    """
    spelt, values = "", list[float]()
    for token, value in reversed(tokens):
        spelt = f"{token}{spelt}"
        values.append(-np.inf if value is None else value)
        if spelt.rstrip().endswith(text):
            return np.array(values[::-1], dtype=np.float64)
    return np.zeros(0)


def _schema(choices: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {CHOICE: {"enum": list(choices)}},
        "required": [CHOICE],
        "additionalProperties": False,
    }


def _longest(choice: str) -> int:
    """The maximum number of tokens of its document: one per byte."""
    return len(json.dumps({CHOICE: choice}).encode()) + _SPACE


def _taken(answer: gateway.Answer) -> Output:
    """The usage of a scoring call."""
    return Output(
        "",
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        cost=0.0 if answer.cached else float(answer.cost),
        is_stored=answer.cached,
        error=answer.error,
    )


def _output(prompt: Prompt, answer: gateway.Answer) -> Output:
    text, error = answer.text or "", answer.error
    if answer.refusal is not None:
        text, error = "", f"The model refused: {answer.refusal}"
    elif error:
        text = ""
    elif prompt.choices:
        text = answer.data[CHOICE]
    return Output(
        text,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        cost=0.0 if answer.cached else float(answer.cost),
        is_stored=answer.cached,
        error=error,
    )


WHERE = ("endpoint", "model")


@dataclass(frozen=True)
class NamedGenerator:
    """The parts of a generator's name.

    Attributes
    ----------
    where : "endpoint" or "model"
    name : str
    options : dict of str to JSON value
        The part after the question mark.
    """

    where: str
    name: str
    options: dict[str, Any]


def read(named: str) -> NamedGenerator:
    """Parse a generator's name, without checking that it exists.

    Raises
    ------
    BadParameterError
        If it does not begin with endpoint: or model:, or has no name.
    """
    where, colon, rest = named.strip().partition(":")
    name, _mark, options = rest.partition("?")
    if where not in WHERE or not colon or not name.strip():
        raise BadParameterError(
            f"generator must be “endpoint:NAME” for a model server or “model:NAME” for a model in this process, not "
            f"{named!r}. NAME is a bundle, a folder or a name on a hub."
        )
    try:
        pairs = dict(parse_qsl(options, keep_blank_values=True, strict_parsing=bool(options)))
    except ValueError as error:
        raise BadParameterError(
            f"generator is {named!r}. Options after the question mark must be NAME=VALUE, separated by &."
        ) from error
    return NamedGenerator(where, name.strip(), {key: _value(value) for key, value in pairs.items()})


def generator(parameters: Mapping[str, Any], *, study: Study | None, purpose: str) -> Generator:
    """Return the generator that a run's parameter `generator` names.

    Parameters
    ----------
    parameters : mapping
        A run's parameters; only `generator` is read.
    study : Study or None
        Who pays for the calls.
    purpose : str
        The purpose in a word or two; stored with the calls.

    Returns
    -------
    Generator
        With a store: equal prompts are generated once, whoever asks, and a killed process loses only the calls in
        flight.

    Raises
    ------
    BadParameterError
        If there is no such endpoint or model, or it does not have such an option.
    """
    named = read(str(parameters.get("generator") or ""))
    if named.where == "endpoint":
        if taken := RESERVED & set(named.options):
            raise BadParameterError(f"These options cannot be set for a generator: {', '.join(sorted(taken))}.")
        return EndpointGenerator(endpoint(named.name), study, purpose, named.options)
    check_offered(named.name)
    try:
        options = Options.read(named.options)
    except BadOptionError as error:
        raise BadParameterError(str(error)) from error
    return CachedGenerator(named.name, options, study=study)


def takes_more(parameters: Mapping[str, Any]) -> bool:
    """Whether a run's generator is an endpoint that takes more calls than this process sends."""
    named = read(str(parameters.get("generator") or ""))
    return named.where == "endpoint" and gateway.has_room(named.name)


def offered() -> list[str]:
    """The models in this process that the operator allows, the default first (docs/guides/gpu.md)."""
    return [model.strip() for model in settings.GENERATOR_MODELS if model.strip()]


def check_offered(model: str) -> None:
    """Refuse models that the operator does not allow.

    Raises
    ------
    BadParameterError
        If the operator does not allow it; lists the allowed models.
    """
    if model not in offered():
        listed = ", ".join(offered()) or "none"
        raise BadParameterError(f"The model {model} is not available (CROWDRAG_GENERATORS). Available: {listed}.")


def endpoint(name: str) -> Endpoint:
    """Return an available endpoint by its name.

    Raises
    ------
    BadParameterError
        If there is none; lists the available endpoints.
    """
    endpoint_row = Endpoint.objects.allowed().filter(name=name).first()
    if endpoint_row is None:
        names = ", ".join(Endpoint.objects.allowed().order_by("name").values_list("name", flat=True)) or "none"
        raise BadParameterError(f"There is no allowed endpoint {name!r}. Available: {names}.")
    return endpoint_row


def _value(text: str) -> Any:
    """The text as a number if it is one, else as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text
