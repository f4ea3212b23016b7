"""One sending of a question over the wire, and what its reply means: answered, failed, or outcome unknown.

Whoever pays must know the difference: a request that never left, or that the server itself says it did not work on,
costs nothing; one whose reply was cut, late or unreadable may have been worked on and billed.
"""

import asyncio
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import httpx2
from django.utils.translation import gettext as _

from . import addresses, connections, retry_policy
from .enums import AttemptState, Fault
from .models import Endpoint

if TYPE_CHECKING:
    import openai

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


class Sender:
    """Sends to one endpoint and says what came of it; never raises for what a server or network does."""

    def __init__(self, *, endpoint: Endpoint, resolver: addresses.Resolver = addresses.system_resolver) -> None:
        self._endpoint = endpoint
        self._key = connections.read_key(endpoint)
        self._client = connections.make_client(endpoint=endpoint, resolver=resolver)

    async def send(self, body: Mapping[str, Any], *, now: datetime) -> SendResult:
        """Send one request.

        As a plain body through the client's own connection, not by its method for chat completions: what that checks
        of the arguments was checked before, and what it makes of the reply is not used.
        """
        import openai  # 20 MB that only those need who send

        started = time.monotonic()
        try:
            # The client's own limits count each read; this one counts them all.
            async with asyncio.timeout(self._endpoint.timeout):
                response = await self._client.post("/chat/completions", body=body, cast_to=httpx2.Response)
                status, content = response.status_code, response.content
        except openai.APIStatusError as error:
            return self._refused(error, now=now, latency=time.monotonic() - started)
        except Exception as error:  # noqa: BLE001 - whatever it was, the attempt must be booked
            return self._broken(error, latency=time.monotonic() - started)
        return self._received(status, content, latency=time.monotonic() - started)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _received(self, status: int, content: bytes, *, latency: float) -> SendResult:
        try:
            body = json.loads(content)
            if isinstance(body, dict) and body.get("error"):
                # Some servers put a late failure under status 200; what was done until then may be billed.
                billed = AttemptState.ANSWERED if "usage" in body else AttemptState.UNKNOWN
                return self._sent(
                    billed, Fault.SERVER, _message(body), latency, status=status, usage=body.get("usage"), again=True
                )
            reply = parse_completion(body)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
            quoted = content[:200].decode("utf-8", "replace")
            problem = _("The reply is not a chat completion (%(problem)s): %(quoted)s") % {
                "problem": f"{type(error).__name__} {error}", "quoted": quoted
            }  # fmt: skip
            return self._sent(AttemptState.UNKNOWN, Fault.GARBAGE, problem, latency, status=status, again=True)
        return SendResult(AttemptState.ANSWERED, latency, status=status, reply=reply, usage=body.get("usage"))

    def _refused(self, error: "openai.APIStatusError", *, now: datetime, latency: float) -> SendResult:
        status, response = error.status_code, error.response
        content = response.text
        wait = retry_policy.retry_after(response.headers, now=now)
        state = AttemptState.FAILED
        if 300 <= status < 400:
            message = _("The server points elsewhere, and redirects are not followed. Enter the final address.")
            return self._sent(state, Fault.REDIRECTED, message, latency, status=status)
        if status in AMBIGUOUS_STATUSES or (status >= 500 and status != 503 and not _says_error(content)):
            state = AttemptState.UNKNOWN
        if status in {429, 503, 529}:
            fault = Fault.BUSY
        elif status >= 500 or status == 408:
            fault = Fault.SERVER
        else:
            fault = Fault.REJECTED
        # An exhausted account answers 429 for ever; asking again only delays the news.
        again = (status in TRANSIENT_STATUSES or status >= 500) and "insufficient_quota" not in content
        message = f"HTTP {status}: {_message_of(content)}"
        return self._sent(state, fault, message, latency, status=status, retry_after=wait, again=again)

    def _broken(self, error: Exception, *, latency: float) -> SendResult:
        causes = []
        cause: BaseException | None = error
        while cause is not None and cause not in causes:
            causes.append(cause)
            cause = cause.__cause__
        blocked = next((c for c in causes if isinstance(c, addresses.BlockedAddressError)), None)
        if blocked is not None:
            return self._sent(AttemptState.FAILED, Fault.BLOCKED, str(blocked), latency)
        message = f"{type(causes[-1]).__name__}: {causes[-1]}"
        if any(isinstance(c, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol) for c in causes):
            return self._sent(AttemptState.FAILED, Fault.UNREACHABLE, message, latency, again=True)
        if any(isinstance(c, TimeoutError | httpx2.TimeoutException) for c in causes):
            message = _("No answer within %s seconds.") % self._endpoint.timeout
            return self._sent(AttemptState.UNKNOWN, Fault.TIMEOUT, message, latency, again=True)
        return self._sent(AttemptState.UNKNOWN, Fault.CUT, message, latency, again=True)

    def _sent(self, state: AttemptState, fault: Fault, error: str, latency: float, **known: Any) -> SendResult:
        return SendResult(
            state, latency, fault=fault, error=clean(connections.scrub_key(error, key=self._key)), **known
        )


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
    own = [next(iter(token.values())) for token in tokens if token]
    return [[str(token["decoded_token"]), float(token["logprob"])] for token in own]


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


def _says_error(content: str) -> bool:
    try:
        body = json.loads(content)
    except ValueError:
        return False
    return isinstance(body, dict) and bool(body.get("error"))


def _message_of(content: str) -> str:
    try:
        return _message(json.loads(content))
    except ValueError:
        return content[:300]


def _message(body: Any) -> str:
    error = body.get("error") if isinstance(body, dict) else body
    if isinstance(error, dict):
        return str(error.get("message") or error)
    return str(error)
