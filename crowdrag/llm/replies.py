"""The meaning of the reply to an attempt: answered, failed, or outcome unknown; and whether it settles the question.

The difference affects the cost: a request that was never sent, or that the server says it did not process, costs
nothing; one whose reply was cut, late or unreadable may have been processed and billed. Structured answers are
validated strictly and never guessed.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import httpx2
import jsonschema
import referencing
from django.utils import timezone

from . import ledger, retry_policy
from .addresses import BlockedAddressError
from .attempts import Outcome, StartedAttempt
from .enums import AttemptState, Fault
from .retry_policy import RetryPolicy

# Sent again: the server was late, in conflict, overloaded or failing.
TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
# A proxy or the client gave up waiting; the server may have continued.
AMBIGUOUS_STATUSES = frozenset({408, 499, 502, 504, 520, 522, 524})


def read_response(response: httpx2.Response) -> Outcome:
    """Interpret a server's response."""
    status = response.status_code
    if 200 <= status < 300:
        return replace(_read_completion(response.content), http_status=status)
    if 300 <= status < 400:
        message = "The server redirects to another address. Redirects are not followed. Enter the final address."
        return Outcome(AttemptState.FAILED, Fault.REDIRECTED, message, http_status=status)
    text = response.content.decode("utf-8", "replace")
    error = _stated_error(text)
    state = AttemptState.FAILED
    if status in AMBIGUOUS_STATUSES or (status >= 500 and status != 503 and error is None):
        state = AttemptState.UNKNOWN
    if status in {429, 503, 529}:
        fault = Fault.BUSY
    elif status >= 500 or status == 408:
        fault = Fault.SERVER
    else:
        fault = Fault.REJECTED
    # An exhausted account answers 429 for ever; a retry only delays the error.
    is_transient = (status in TRANSIENT_STATUSES or status >= 500) and "insufficient_quota" not in text
    wait = retry_policy.retry_after(response.headers, now=timezone.now())
    return Outcome(state, fault, f"HTTP {status}: {error or text[:300]}", is_transient, status, wait)


def _read_completion(content: bytes) -> Outcome:
    try:
        body = json.loads(content)
        if isinstance(body, dict) and body.get("error"):
            # Some servers report a late failure with status 200; work done until then may be billed.
            state = AttemptState.ANSWERED if "usage" in body else AttemptState.UNKNOWN
            return Outcome(state, Fault.SERVER, _message(body), is_transient=True, reported=body.get("usage"))
        return _parse_completion(body)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        problem = "The reply is not a valid chat completion ({problem}): {quoted}".format(
            problem=f"{type(error).__name__} {error}",
            quoted=content[:200].decode("utf-8", "replace"),
        )
        return Outcome(AttemptState.UNKNOWN, Fault.GARBAGE, problem, is_transient=True)


def read_failure(error: Exception, *, timeout: float) -> Outcome:
    """Interpret a missing response."""
    causes: list[BaseException] = [error]
    while (cause := causes[-1].__cause__) is not None and cause not in causes:
        causes.append(cause)
    for cause in causes:
        if isinstance(cause, BlockedAddressError):
            return Outcome(AttemptState.FAILED, Fault.BLOCKED, str(cause))
    message = f"{type(causes[-1]).__name__}: {causes[-1]}"
    if any(isinstance(c, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol) for c in causes):
        return Outcome(AttemptState.FAILED, Fault.UNREACHABLE, message, is_transient=True)
    if any(isinstance(c, TimeoutError | httpx2.TimeoutException) for c in causes):
        message = f"No answer within {timeout} seconds."
        return Outcome(AttemptState.UNKNOWN, Fault.TIMEOUT, message, is_transient=True)
    return Outcome(AttemptState.UNKNOWN, Fault.CUT, message, is_transient=True)


def _parse_completion(body: Any) -> Outcome:
    """Return the outcome of a chat completion, or raise an error if it is not one."""
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
    return Outcome(
        AttemptState.ANSWERED,
        text=None if text is None else clean(text),
        refusal=clean(refusal) if refusal else None,
        finish_reason=reason,
        logprobs=clean(_prompt_tokens(of_prompt) if of_prompt else of_answer),
        reported=body.get("usage"),
    )


def _prompt_tokens(tokens: list[dict[str, dict[str, Any]] | None]) -> list[list[Any]]:
    """Return text and log probability of each token; of several candidates the prompt's own comes first."""
    prompt_tokens = [next(iter(token.values())) for token in tokens if token]
    return [[str(token["decoded_token"]), float(token["logprob"])] for token in prompt_tokens]


def clean(value: Any) -> Any:
    """Return a value that PostgreSQL can store: NUL and lone surrogates become U+FFFD, infinities null."""
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


def _stated_error(content: str) -> str | None:
    """Return the error message in a JSON response; None if there is none."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return _message(body) if isinstance(body, dict) and body.get("error") else None


def _message(body: dict[str, Any]) -> str:
    error = body["error"]
    return str((error.get("message") if isinstance(error, dict) else None) or error)


def judge(started: StartedAttempt, outcome: Outcome, *, failures: int, policy: RetryPolicy) -> Outcome:
    """Return the result of an attempt: its tokens, its document, and whether it settles the question.

    `failures` is the number of earlier failures of servers or connections for this question.
    """
    if outcome.state == AttemptState.ANSWERED:
        usage = ledger.read_usage(outcome.reported, most=started.bound, text=outcome.text)
        outcome = replace(outcome, **vars(usage))
    if outcome.fault:
        return replace(outcome, is_settled=not outcome.is_transient or failures + 1 >= policy.tries)
    schema = started.question.schema
    if schema is None or outcome.refusal is not None:
        return outcome
    try:
        return replace(outcome, data=clean(parse_document(outcome.text, schema)))
    except InvalidAnswerError as error:
        is_settled = started.invalid_answers + 1 >= policy.asks
        return replace(outcome, fault=Fault.INVALID, error=str(error), is_settled=is_settled)


class InvalidAnswerError(ValueError):
    """An answer that does not fit its schema; the message says where."""


def parse_document(text: str | None, schema: Mapping[str, Any]) -> Any:
    """Return the document of an answer, or raise an error that says what is wrong with it.

    The whole answer must be one JSON document that is valid under the schema; nothing is extracted from surrounding
    text, repaired or filled in.
    """
    if not text or not text.strip():
        raise InvalidAnswerError("The answer is empty.")
    try:
        document = json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_no_duplicates)
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
    """Return the validator of a schema, cached because creating one takes longer than using it."""
    # An empty registry: a schema never makes us fetch another one.
    return jsonschema.Draft202012Validator(json.loads(schema), registry=referencing.Registry())


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is not a finite number.")
    return number


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _value in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("A name occurs twice in one object.")
    return dict(pairs)
