"""A model server in a process of its own that behaves as vLLM does, with invented answers.

It takes OpenAI's chat completions. All that it answers advance together, a token a step, and a step takes longer the
more there are: with a full batch of `slots`, a call takes `seconds`; others wait in a queue. `prompt_logprobs` are
returned as vLLM returns them, with the prompt's words as tokens. Some requests are refused with 429 or fail with 500,
by their content, each the first time only. `GET /figures` says what happened.

    python -m tests.llm.model_server --slots 256 --seconds 1 --answer tests.llm.model_server:words
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import json
import re
import subprocess
import sys
import urllib.request
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

#: The tokens of an answer: so many steps a call.
TOKENS = 50
ROOT = Path(__file__).resolve().parents[2]


def words(body: dict[str, Any]) -> str:
    """Answer with the first option of a schema, else with a word that depends on the prompt alone."""
    if schema := (body.get("response_format") or {}).get("json_schema", {}).get("schema"):
        return json.dumps({key: one["enum"][0] for key, one in schema["properties"].items()})
    return "word" + hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()[:4]


class Engine:
    """The batch that is at work, the queue before it, and the figures."""

    def __init__(self, slots: int, seconds: float, faults: float, answer: Callable[[dict[str, Any]], str]) -> None:
        self.slots, self.seconds, self.faults, self.answer = slots, seconds, faults, answer
        self.queue: deque[asyncio.Future[None]] = deque()
        self.batch: list[tuple[int, asyncio.Future[None]]] = []  # the step at which each is done
        self.arrived = asyncio.Event()
        self.step = 0
        self.failed: set[str] = set()
        self.figures = {"calls": 0, "faults": 0, "most": 0, "in_flight_seconds": 0.0, "first": 0.0, "last": 0.0}
        self.in_flight = 0
        self._changed = 0.0

    def count(self, change: int) -> None:
        """Count a call that came or left."""
        now = asyncio.get_running_loop().time()
        self.figures["first"] = self.figures["first"] or now
        self.figures["in_flight_seconds"] += self.in_flight * (now - (self._changed or now))
        self.in_flight += change
        self.figures["most"] = max(self.figures["most"], self.in_flight)
        self._changed = self.figures["last"] = now

    async def work(self) -> None:
        """Advance the batch, step by step."""
        loop = asyncio.get_running_loop()
        while True:
            if not self.batch and not self.queue:
                self.arrived.clear()
                await self.arrived.wait()
            while self.queue and len(self.batch) < self.slots:
                self.batch.append((self.step + TOKENS, self.queue.popleft()))
            # Half of a step's time is the same for any batch.
            until = loop.time() + self.seconds / TOKENS * (0.5 + 0.5 * len(self.batch) / self.slots)
            await asyncio.sleep(until - loop.time())
            self.step += 1
            for _end, done in [entry for entry in self.batch if entry[0] <= self.step]:
                if not done.done():
                    done.set_result(None)
            self.batch = [entry for entry in self.batch if entry[0] > self.step]

    async def respond(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return status and body of a response, when it is due."""
        mark = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        if int(mark[:8], 16) / 16**8 < self.faults and mark not in self.failed:
            self.failed.add(mark)
            self.figures["faults"] += 1
            if int(mark[8], 16) < 8:
                return 429, {"error": {"message": "too many requests"}}
            return 500, {"error": {"message": "the engine is restarting"}}
        done = asyncio.get_running_loop().create_future()
        self.queue.append(done)
        self.arrived.set()
        await done
        self.figures["calls"] += 1
        text = self.answer(body)
        prompt = " ".join(message["content"] for message in body["messages"])
        reply = {
            "id": f"chatcmpl-{mark[:8]}", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": len(prompt) // 4 + 1, "completion_tokens": TOKENS},
        }  # fmt: skip
        if body.get("prompt_logprobs") is not None:
            tokens = re.findall(r"\s*\S+", prompt)
            reply["prompt_logprobs"] = [None] + [
                {str(place): {"logprob": -len(token.strip()) / 4, "rank": 1, "decoded_token": token}}
                for place, token in enumerate(tokens[1:])
            ]
        return 200, reply


async def talk(engine: Engine, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    counted = 0
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith(b"GET"):
                status, reply = 200, dict(engine.figures)
            else:
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                body = json.loads(await reader.readexactly(length))
                engine.count(1)
                counted = 1
                status, reply = await engine.respond(body)
                engine.count(-1)
                counted = 0
            content = json.dumps(reply).encode()
            response = (
                f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
            )
            # In a single write: otherwise the kernel delays the second packet until the first is acknowledged.
            writer.write(response.encode() + content)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
    finally:
        engine.count(-counted)


async def serve(options: argparse.Namespace) -> None:
    """Serve until the process is ended."""
    module, _colon, name = options.answer.partition(":")
    engine = Engine(options.slots, options.seconds, options.faults, getattr(importlib.import_module(module), name))
    work = asyncio.create_task(engine.work())
    server = await asyncio.start_server(
        lambda reader, writer: talk(engine, reader, writer), "127.0.0.1", options.port, limit=2**24, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.gather(server.serve_forever(), work)


class ModelServer:
    """The server's process; a context manager."""

    def __init__(self, *, slots: int, seconds: float, faults: float = 0.0, answer: str = f"{__name__}:words") -> None:
        options = {"--slots": slots, "--seconds": seconds, "--faults": faults, "--answer": answer}
        self._command = [sys.executable, "-m", "tests.llm.model_server"]
        self._command += [str(part) for option in options.items() for part in option]
        self.port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start it, again on the port that it had."""
        self.process = subprocess.Popen(
            [*self._command, "--port", str(self.port)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.communicate()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def figures(self) -> dict[str, float]:
        """Return what happened: calls, faults, the most at once, and the mean at once from the first to the last."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/figures", timeout=10) as response:
            figures: dict[str, float] = json.load(response)
        seconds = figures["last"] - figures["first"]
        return figures | {"seconds": seconds, "mean": figures["in_flight_seconds"] / seconds if seconds else 0.0}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--answer", required=True)
    asyncio.run(serve(parser.parse_args()))
