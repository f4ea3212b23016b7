"""A model server that fails now and then: `python -m bench.chaos.model_server PORT BILL SEED`.

It answers every question after a short while, in the form that is asked for, with the faults of `tests/llm`. Whatever a
provider would bill is written to the file BILL before the answer is sent, so that killing the server loses no line.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from typing import Any

from tests.llm import faulty_server

# How often it answers well, and each fault; the fault's name and argument are those of tests/llm/faulty_server.py.
WELL = 0.92
FAULTS = ("busy:1", "fail", "cut", "drop", "garbage", "proxy", "error_200", "prose")
SECONDS = 0.15
#: Characters of a prompt to a token.
CHARACTERS = 4
TEXT = (
    "Storage costs have fallen, as several studies report [0]. Operators rely on batteries for short peaks [1], while "
    "longer gaps still need hydrogen or pumped water. The authors disagree about the price of both [0]. Answer: 3."
)


class Server(ThreadingHTTPServer):
    """The server, with the file of its bill."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, bill: str, seed: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.rng = random.Random(seed)
        self.lock = threading.Lock()
        self.bill = os.open(bill, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that are killed break off."""


class Handler(faulty_server.Handler):
    """Behaves well, or as one of the faults."""

    def do_POST(self) -> None:  # noqa: N802 - the standard library calls it so
        """Answer a question, well or not."""
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            rng = self.server.rng
            behaviour = "well" if rng.random() < WELL else rng.choice(FAULTS)
            pause = rng.uniform(0.5, 1.5) * SECONDS
        time.sleep(pause)
        name, _, argument = behaviour.partition(":")
        getattr(self, name)(argument)

    def well(self, _: str) -> None:
        asked = (self.body.get("response_format") or {}).get("json_schema", {}).get("schema")
        text = TEXT if asked is None else json.dumps(document(asked))
        usage = {"prompt_tokens": self.prompt_tokens, "completion_tokens": faulty_server.COMPLETION}
        self.answer(text, usage=usage)

    @property
    def prompt_tokens(self) -> int:
        """The length of the prompt."""
        return max(1, sum(len(message["content"]) for message in self.body["messages"]) // CHARACTERS)

    def charge(self, completion: int = faulty_server.COMPLETION) -> None:
        """Write what would be billed: input and output tokens."""
        line = json.dumps({"prompt": self.prompt_tokens, "completion": completion})
        os.write(self.server.bill, f"{line}\n".encode())


def document(schema: dict[str, Any]) -> Any:
    """Return the simplest document of a JSON schema: of each choice the first."""
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return document(schema[name][0])
    kind = schema.get("type")
    if kind == "object":
        return {name: document(each) for name, each in schema.get("properties", {}).items()}
    if kind == "array":
        return [document(schema.get("items", {"type": "string"})) for _ in range(max(1, schema.get("minItems", 1)))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    if kind == "boolean":
        return True
    return "A claim that is long enough to be one."


if __name__ == "__main__":
    Server(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])).serve_forever()
