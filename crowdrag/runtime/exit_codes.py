"""Exit codes of the command `crowdrag`: the one place that defines them."""

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """How a command ended, as a script sees it."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INTERRUPTED = 130  # 128 and the number of SIGINT, as shells do
    TERMINATED = 143  # 128 and the number of SIGTERM


MEANINGS: Final[dict[ExitCode, str]] = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "failed, or a check found a problem; standard error says why",
    ExitCode.USAGE: "wrong options; nothing was done",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
    ExitCode.TERMINATED: "stopped by SIGTERM",
}
