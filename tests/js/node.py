"""Node, which Playwright brings along: a machine that has Python alone runs the tests of JavaScript too."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import playwright

FOLDER = Path(__file__).resolve().parent
NODE = Path(playwright.__file__).parent / "driver" / "node"


class Ask(Protocol):
    """Send a question to a script and return its answer; both are JSON."""

    def __call__(self, question: Any) -> Any: ...


@contextmanager
def script(name: str) -> Iterator[Ask]:
    """Run a script of this folder that answers each line of its input; one process answers all questions."""
    with subprocess.Popen(
        [NODE, FOLDER / name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        source, sink = process.stdin, process.stdout
        assert source is not None
        assert sink is not None

        def ask(question: Any) -> Any:
            source.write(json.dumps(question) + "\n")
            source.flush()
            answer = sink.readline()
            assert answer, f"{name} ended without an answer: its error is in the captured output"
            return json.loads(answer)

        yield ask
