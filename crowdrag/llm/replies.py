"""What the reply to an attempt means: answered, failed, or outcome unknown; and whether it settles the question.

Whoever pays must know the difference: a request that never left, or that the server itself says it did not work on,
costs nothing; one whose reply was cut, late or unreadable may have been worked on and billed. Structured answers are
validated strictly and never guessed.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import httpx2
import jsonschema
import referencing
from django.utils.translation import gettext as _

from . import ledger, retry_policy
from .addresses import BlockedAddressError
from .enums import AttemptState, Fault
from .requests import Question
from .retry_policy import RetryPolicy

# Asked again: the server was late, in conflict, overrun or failing.
TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
# Somebody between us and the server gave up waiting; the server may have gone on.
AMBIGUOUS_STATUSES = frozenset({408, 499, 502, 504, 520, 522, 524})


@dataclass(frozen=True)
class Reply:
    """What the model said.

    `logprobs` are those of its answer's tokens as the server says them; or, where `prompt_logprobs` were asked for
    (vLLM), a pair of text and log probability for each token of the prompt, without the first, which has none.
    """

    text: str | None
    refusal: str | None
    finish_reason: str
    logprobs: Any


@dataclass(frozen=True)
class SendResult:
    """What became of one sending; `again` says whether another one may do better."""

    state: AttemptState
    latency: float
    fault: Fault = Fault.NONE
    error: str = ""
    status: int | None = None
    retry_after: float | None = None
    reply: Reply | None = None
    usage: Any = None
    again: bool = False


def read_response(
    status: int, headers: Mapping[str, str], content: bytes, *, now: datetime, latency: float
) -> SendResult:
    """Return what a server's response means."""
    if 200 <= status < 300:
        return _read_completion(status, content, latency)
    if 300 <= status < 400:
        message = _("The server points elsewhere, and redirects are not followed. Enter the final address.")
        return SendResult(AttemptState.FAILED, latency, Fault.REDIRECTED, message, status)
    text = content.decode("utf-8", "replace")
    error = _error_message(text)
    state = AttemptState.FAILED
    if status in AMBIGUOUS_STATUSES or (status >= 500 and status != 503 and error is None):
        state = AttemptState.UNKNOWN
    if status in {429, 503, 529}:
        fault = Fault.BUSY
    elif status >= 500 or status == 408:
        fault = Fault.SERVER
    else:
        fault = Fault.REJECTED
    # An exhausted account answers 429 for ever; asking again only delays the news.
    again = (status in TRANSIENT_STATUSES or status >= 500) and "insufficient_quota" not in text
    wait = retry_policy.retry_after(headers, now=now)
    return SendResult(state, latency, fault, f"HTTP {status}: {error or text[:300]}", status, wait, again=again)


def _read_completion(status: int, content: bytes, latency: float) -> SendResult:
    try:
        body = json.loads(content)
        if isinstance(body, dict) and body.get("error"):
            # Some servers put a late failure under status 200; what was done until then may be billed.
            usage = body.get("usage")
            state = AttemptState.ANSWERED if "usage" in body else AttemptState.UNKNOWN
            return SendResult(state, latency, Fault.SERVER, _message(body), status, usage=usage, again=True)
        reply = parse_completion(body)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        problem = _("The reply is not a chat completion (%(problem)s): %(quoted)s") % {
            "problem": f"{type(error).__name__} {error}",
            "quoted": content[:200].decode("utf-8", "replace"),
        }
        return SendResult(AttemptState.UNKNOWN, latency, Fault.GARBAGE, problem, status, again=True)
    return SendResult(AttemptState.ANSWERED, latency, status=status, reply=reply, usage=body.get("usage"))


def read_failure(error: Exception, *, timeout: float, latency: float) -> SendResult:
    """Return what it means that no response came."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__
    for cause in causes:
        if isinstance(cause, BlockedAddressError):
            return SendResult(AttemptState.FAILED, latency, Fault.BLOCKED, str(cause))
    message = f"{type(causes[-1]).__name__}: {causes[-1]}"
    if any(isinstance(c, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol) for c in causes):
        return SendResult(AttemptState.FAILED, latency, Fault.UNREACHABLE, message, again=True)
    if any(isinstance(c, TimeoutError | httpx2.TimeoutException) for c in causes):
        message = _("No answer within %s seconds.") % timeout
        return SendResult(AttemptState.UNKNOWN, latency, Fault.TIMEOUT, message, again=True)
    return SendResult(AttemptState.UNKNOWN, latency, Fault.CUT, message, again=True)


def parse_completion(body: Any) -> Reply:
    """Return what a chat completion says, or raise for what is none."""
    choice = body["choices"][0]
    message = choice["message"]
    text, refusal = message.get("content"), message.get("refusal")
    if not isinstance(text, str | None) or not isinstance(refusal, str | None):
        raise TypeError("the content is no text")
    reason = str(choice.get("finish_reason") or "")[:40]
    if reason == "content_filter" and not refusal:
        refusal = "content_filter"
    logprobs = choice.get("logprobs")
    of_answer = logprobs.get("content") if isinstance(logprobs, dict) else None
    of_prompt = body.get("prompt_logprobs")
    return Reply(
        text=None if text is None else clean(text),
        refusal=clean(refusal) if refusal else None,
        finish_reason=reason,
        logprobs=clean(_prompt_tokens(of_prompt) if of_prompt else of_answer),
    )


def _prompt_tokens(tokens: list[dict[str, dict[str, Any]] | None]) -> list[list[Any]]:
    """Text and log probability of each token; of several words at a place the prompt's own is said first."""
    prompt_tokens = [next(iter(token.values())) for token in tokens if token]
    return [[str(token["decoded_token"]), float(token["logprob"])] for token in prompt_tokens]


def clean(value: Any) -> Any:
    """Return a value that PostgreSQL can keep: NUL and halves of surrogate pairs become U+FFFD, infinities null."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case str():
            return value.replace("\0", "�").encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        case dict():
            return {clean(key): clean(inner) for key, inner in value.items()}
        case list():
            return [clean(inner) for inner in value]
        case _:
            return value


def _error_message(content: str) -> str | None:
    """Return the error that a server states in JSON; None where it states none."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return _message(body) if isinstance(body, dict) and body.get("error") else None


def _message(body: dict[str, Any]) -> str:
    error = body["error"]
    if isinstance(error, dict):
        return str(error.get("message") or error)
    return str(error)


@dataclass(frozen=True)
class Verdict:
    """What an attempt came to, and whether the question is thereby settled."""

    sent: SendResult
    usage: ledger.TokenUsage | None = None
    data: Any = None
    problem: str = ""  # the answer does not fit its schema
    settled: bool = True
    rest: float = 0.0  # the server asked everybody to wait for so long

    @property
    def fault(self) -> Fault:
        """Why there is no usable answer, if there is none."""
        return Fault.INVALID if self.problem else self.sent.fault

    @property
    def error(self) -> str:
        """The same in words."""
        return self.problem or self.sent.error


def judge(
    sent: SendResult,
    *,
    question: Question,
    bound: ledger.TokenBound,
    failures: int,
    invalid_answers: int,
    policy: RetryPolicy,
) -> Verdict:
    """Say what an attempt came to: its tokens, its document, and whether the question is settled by it.

    `failures` and `invalid_answers` are how often the question failed before in each of the two ways.
    """
    usage = None
    if sent.state == AttemptState.ANSWERED:
        usage = ledger.read_usage(sent.usage, most=bound, text=sent.reply.text if sent.reply else None)
    if sent.fault:
        rest = min(sent.retry_after or 0.0, policy.longest_wait)
        return Verdict(sent, usage, settled=not sent.again or failures + 1 >= policy.tries, rest=rest)
    assert sent.reply is not None
    if question.schema is None or sent.reply.refusal is not None:
        return Verdict(sent, usage)
    try:
        return Verdict(sent, usage, data=clean(parse_document(sent.reply.text, question.schema)))
    except InvalidAnswerError as error:
        return Verdict(sent, usage, problem=str(error), settled=invalid_answers + 1 >= policy.asks)


class InvalidAnswerError(ValueError):
    """An answer that does not fit its schema; the message says where."""


def parse_document(text: str | None, schema: Mapping[str, Any]) -> Any:
    """Return the document that an answer is, or raise what is wrong with it.

    The whole answer must be one JSON document that is valid under the schema; nothing is cut out of surrounding words,
    repaired or filled in.
    """
    if not (text or "").strip():
        raise InvalidAnswerError("The answer is empty.")
    try:
        document = json.loads(
            text,  # type: ignore[arg-type] # an empty answer was refused above
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_no_duplicates,
        )
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError(f"The answer is not one JSON document: {error}") from error
    validator = _validator(json.dumps(schema, sort_keys=True))
    try:
        problem = jsonschema.exceptions.best_match(validator.iter_errors(document))
    except (RecursionError, referencing.exceptions.Unresolvable) as error:
        raise InvalidAnswerError(f"The answer cannot be checked against the schema: {error}") from error
    if problem is not None:
        raise InvalidAnswerError(f"At {problem.json_path}: {problem.message}"[:500])
    return document


@lru_cache(maxsize=256)
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    """Return the validator of a schema: making one takes longer than using it."""
    # An empty registry: a schema never makes us fetch another one.
    return jsonschema.Draft202012Validator(json.loads(schema), registry=referencing.Registry())


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON.")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large.")
    return number


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _value in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("A name occurs twice in one object.")
    return dict(pairs)
