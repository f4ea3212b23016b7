"""Exit codes of the command `crowdrag`: the only place that defines them."""

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """The exit status of a command, for scripts."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INTERRUPTED = 130  # 128 and the number of SIGINT, as in shells
    TERMINATED = 143  # 128 and the number of SIGTERM


MEANINGS: Final[dict[ExitCode, str]] = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "failed, or a check found a problem; standard error says why",
    ExitCode.USAGE: "wrong usage: an unknown command or option; nothing was done",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
    ExitCode.TERMINATED: "stopped by SIGTERM",
}
