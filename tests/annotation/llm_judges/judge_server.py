"""A model server that judges by a rule: it reads the prompt as a model would, and says what the rule says."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

QUESTION = re.compile(r"^(q\d+)\. (.*?)\nOptions: (.*?)$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"<<<DATA (\w+)>>>\n(.*?)\n<<<END \1>>>", re.DOTALL)
BARE = re.compile(r"^Response A:\n(.*?)\n\nResponse B:\n(.*?)\n\nAnswer now", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Seen:
    """A prompt as it was understood."""

    prompt: str
    texts: tuple[str, ...]
    options: dict[str, list[str]]
    is_fenced: bool
    schema: dict[str, Any] | None
    turn: int

    def every(self, option: int) -> dict[str, Any]:
        """The document that gives every question the option at this place (-1 the last)."""
        return {key: words[option] for key, words in self.options.items()}


# What a rule says: a document, or the words themselves, or a whole message.
Rule = Callable[[Seen], dict[str, Any] | str]


def longer_wins(seen: Seen) -> dict[str, Any]:
    """The response with more characters is better; of two equally long ones neither (else the first)."""
    a, b = (len(text) for text in seen.texts)
    return seen.every(0 if a > b else -1 if b > a else 1)


class JudgeServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, rule: Rule, latency: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.rule, self.latency = rule, latency
        self.lock = threading.Lock()
        self.seen: list[Seen] = []
        self.bodies: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients of these tests break off on purpose."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two packets, and the second is not to wait for the receipt of the first.
    disable_nagle_algorithm = True
    server: JudgeServer

    def log_message(self, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        seen = read(body)
        with self.server.lock:
            turn = sum(one.prompt == seen.prompt for one in self.server.seen)
            seen = Seen(seen.prompt, seen.texts, seen.options, seen.is_fenced, seen.schema, turn)
            self.server.seen.append(seen)
            self.server.bodies.append(body)
        time.sleep(self.server.latency)
        said = self.server.rule(seen)
        message: dict[str, Any] = {"role": "assistant", "content": "", "refusal": None}
        reason = "stop"
        if isinstance(said, dict) and "content" in said:
            reason = said.pop("finish_reason", "stop")
            message |= said
        else:
            message["content"] = said if isinstance(said, str) else json.dumps(said)
        content = json.dumps({
            "id": "c", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def read(body: dict[str, Any]) -> Seen:
    """Understand a prompt: its questions, their options, the two texts."""
    prompt = body["messages"][0]["content"]
    before = prompt.split("<<<DATA")[0].split("\nResponse A:\n")[0]
    options = {key: re.findall(r'"([^"]*)"', words) for key, _text, words in QUESTION.findall(before)}
    fenced = [text for _mark, text in FENCED.findall(prompt)]
    bare = BARE.search(prompt)
    texts = tuple(fenced) if fenced else bare.groups() if bare else ()
    schema = body.get("response_format")
    return Seen(prompt, texts, options, bool(fenced), schema and schema["json_schema"]["schema"], 0)


@contextmanager
def judging(rule: Rule = longer_wins, latency: float = 0.0) -> Iterator[JudgeServer]:
    """A server at work."""
    with JudgeServer(rule, latency) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
