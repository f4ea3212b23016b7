"""Requests to a model and their answers: the stored questions and the bodies to send."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

import jsonschema

from . import GatewayError, ledger
from .models import Call, Endpoint

ROLES = frozenset({"system", "developer", "user", "assistant"})
# Set by the gateway only, or would bill one call as several.
RESERVED = frozenset(
    {"model", "messages", "stream", "stream_options", "n", "best_of", "response_format", "tools", "tool_choice"}
    | {"functions", "function_call", "extra_headers", "extra_query", "extra_body", "timeout", "user", "store"}
)
LIMITS = ("max_tokens", "max_completion_tokens")


class RequestError(GatewayError):
    """A request that must not be sent to a model."""


@dataclass(frozen=True)
class Request:
    """One question: messages, sampling parameters, the schema of the answer, and its sample number.

    Parameters are the server's own (`temperature`, `max_tokens`, `seed`, `logprobs`, ...; unknown names are passed on).
    Two requests that differ only in `sample` are sent separately, with a `seed` shifted by it if there is one.
    """

    messages: Sequence[Mapping[str, str]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    sample: int = 0


@dataclass(frozen=True)
class Answer:
    """The result of a request; `index` is its position among the requests sent together.

    `text` is what the model said (including empty and cut answers: see `finish_reason`), `data` the parsed and
    validated document if a schema was given, `refusal` the model's own refusal, `error` why there is no answer.
    """

    index: int
    call: int
    text: str | None = None
    data: Any = None
    refusal: str | None = None
    finish_reason: str = ""
    logprobs: Any = None
    error: str = ""
    fault: str = ""
    cached: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: Decimal = Decimal(0)

    @property
    def is_cut(self) -> bool:
        """Whether the answer was cut because it grew too long."""
        return self.finish_reason == "length"


@dataclass(frozen=True)
class Question:
    """A validated request as it is stored: canonical content and its digest."""

    digest: str
    messages: list[dict[str, str]]
    parameters: dict[str, Any]
    schema: dict[str, Any] | None
    sample: int

    @property
    def content(self) -> dict[str, Any]:
        """The stored content besides endpoint and sample."""
        return {"messages": self.messages, "parameters": self.parameters, "schema": self.schema}


def prepare(*, endpoint: Endpoint, request: Request) -> Question:
    """Validate a request and return it in canonical form with its digest.

    The digest is the SHA-256 of canonical JSON (sorted keys, whole numbers as integers) of endpoint, model, messages,
    parameters, schema and sample number, so that the same question always has the same digest.
    """
    messages, parameters = _messages(request.messages), _parameters(endpoint, request.parameters)
    schema = None if request.schema is None else _checked_schema(json.dumps(_canonical(request.schema)))
    if isinstance(request.sample, bool) or not isinstance(request.sample, int) or request.sample < 0:
        raise RequestError("The sample number must be a whole number of at least 0.")
    key = {
        "endpoint": endpoint.identity,
        "model": endpoint.model,
        "messages": messages,
        "parameters": parameters,
        "schema": schema,
        "sample": request.sample,
    }
    text = json.dumps(key, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Question(hashlib.sha256(text.encode()).hexdigest(), messages, parameters, schema, request.sample)


def stored_answer(call: Call, *, cached: bool = True) -> Answer:
    """Return the stored answer of a settled call; the caller sets its index."""
    return Answer(
        index=0, call=call.pk, text=call.text, data=call.data, refusal=call.refusal, finish_reason=call.finish_reason,
        logprobs=call.logprobs, error=call.error, fault=call.fault, cached=cached,
        prompt_tokens=call.prompt_tokens or 0, completion_tokens=call.completion_tokens or 0,
        cost=call.cost or Decimal(0),
    )  # fmt: skip


Complaint = tuple[str, str]
INSTRUCTION = (
    "Reply with one JSON document and nothing else: no words before or after it and no code fence. "
    "It must be valid under this JSON schema:\n"
)
LONGEST_QUOTE = 2000


def compose(
    question: Question, endpoint: Endpoint, complaint: Complaint | None = None
) -> tuple[dict[str, Any], ledger.TokenUsage]:
    """Return the body to send and the upper bound of its tokens.

    `complaint` is the last reply and what was wrong with it.
    """
    limit = output_limit(question.parameters, endpoint)
    messages = _build_messages(question, endpoint, complaint)
    parameters = {name: value for name, value in question.parameters.items() if name not in LIMITS}
    if "seed" in parameters:
        parameters["seed"] += question.sample
    body: dict[str, Any] = {"model": endpoint.model, "messages": messages, endpoint.token_parameter: limit}
    if question.schema is not None and endpoint.supports_json_schema:
        schema = {"name": "answer", "schema": question.schema, "strict": is_strict(question.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    bound = ledger.bound_tokens(messages=messages, extra=body.get("response_format"), completion=limit)
    return body | parameters, bound


def output_limit(parameters: Mapping[str, Any], endpoint: Endpoint) -> int:
    """Return how many tokens an answer may have: from the parameters, else the endpoint's own limit."""
    return next((parameters[name] for name in LIMITS if name in parameters), endpoint.max_tokens)


def _build_messages(question: Question, endpoint: Endpoint, complaint: Complaint | None) -> list[dict[str, str]]:
    """Return the messages to send: with the schema if the server takes none, and with what was wrong last time.

    The complaint is quoted only if the same question would get the same answer. If the server samples, the same
    question is sent again.
    """
    messages = [dict(message) for message in question.messages]
    if question.schema is None:
        return messages
    schema = json.dumps(question.schema, ensure_ascii=False, sort_keys=True)
    if not endpoint.supports_json_schema:
        if messages[-1]["role"] == "user":
            messages[-1]["content"] += "\n\n" + INSTRUCTION + schema
        else:
            messages.append({"role": "user", "content": INSTRUCTION + schema})
    is_deterministic = question.parameters.get("temperature") == 0 or "seed" in question.parameters
    if complaint and is_deterministic:
        reply, problem = complaint
        messages.append({"role": "assistant", "content": reply[:LONGEST_QUOTE] or "(nothing)"})
        messages.append({"role": "user", "content": f"That is not valid: {problem}\n\n{INSTRUCTION}{schema}"})
    return messages


def is_strict(schema: Any) -> bool:
    """Return whether every object in a schema is closed and requires all its properties, for strict modes."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties or ()):
            return False
    return all(is_strict(part) for part in schema.values())


def _messages(messages: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    if not messages:
        raise RequestError("A request needs at least one message.")
    checked = []
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if set(message) != {"role", "content"} or role not in ROLES or not isinstance(content, str):
            raise RequestError("Each message needs a role (system, user or assistant) and a text as content.")
        if not _is_storable(content):
            raise RequestError("A message contains a NUL character or half a surrogate pair. Remove it.")
        checked.append({"role": role, "content": content})
    return checked


def _parameters(endpoint: Endpoint, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if taken := RESERVED & set(parameters):
        raise RequestError(f"A request cannot set these parameters: {', '.join(sorted(taken))}.")
    limits = [parameters[name] for name in LIMITS if name in parameters]
    if len(limits) > 1 or any(isinstance(v, bool) or not isinstance(v, int) or v < 1 for v in limits):
        raise RequestError("The maximum answer length must be a whole number of tokens of at least 1.")
    if "seed" in parameters and (isinstance(parameters["seed"], bool) or not isinstance(parameters["seed"], int)):
        raise RequestError("The seed must be a whole number.")
    if parameters.get("logprobs") and not endpoint.supports_logprobs:
        raise RequestError(f"The endpoint “{endpoint}” does not support log probabilities.")
    canonical: dict[str, Any] = _canonical(parameters)
    return canonical


# Thousands of questions share a schema, and checking it takes longer than everything else.
@lru_cache(maxsize=256)
def _checked_schema(text: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(text)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise RequestError(f"The schema of the answer is not a valid JSON schema: {error.message}") from error
    return schema


def _canonical(value: Any) -> Any:
    """Return a value as parsed from JSON, with 1.0 and 1 made equal."""
    match value:
        case Mapping():
            return {str(key): _canonical(inner) for key, inner in value.items()}
        case str() if not _is_storable(value):
            raise RequestError("The request contains a NUL character or half a surrogate pair. Remove it.")
        case float() if not math.isfinite(value):
            raise RequestError("The request contains a number that is not finite.")
        case float() if value.is_integer():
            return int(value)
        case str() | bool() | int() | float() | None:
            return value
        case list() | tuple():
            return [_canonical(inner) for inner in value]
        case _:
            raise RequestError(f"The request contains a value that JSON does not support: {type(value).__name__}.")


def _is_storable(text: str) -> bool:
    try:
        text.encode()  # rejects lone surrogates; faster than checking each character
    except UnicodeEncodeError:
        return False
    return "\0" not in text
