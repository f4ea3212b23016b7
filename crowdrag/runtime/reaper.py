"""The reaper: when the supervisor dies, it ends the supervisor's processes. Run by path, standard library only.

It reads lines from a pipe that only the supervisor writes to: `+ GROUP SIGNAL` for a started process group, `- GROUP`
for one that has ended. The end of the pipe means that the supervisor has ended, for any reason. Each remaining group
then gets its signal, and SIGKILL if it still exists after a while. It works where the kernel has no death signal, and
reaches grandchildren, which a death signal does not.
"""

import os
import signal
import sys
import time

PATIENCE = 15.0


def send(group: int, number: int) -> bool:
    """Signal a group; False if it has no processes left."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # A group whose members have all changed their account: macOS reports this for zombies too.
        return False
    return True


def listen() -> dict[int, int]:
    """Read until the supervisor has ended; return the remaining groups and the signal for each."""
    groups: dict[int, int] = {}
    for line in sys.stdin:
        match line.split():
            case ["+", group, number]:
                groups[int(group)] = int(number)
            case ["-", group]:
                groups.pop(int(group), None)
    return groups


def end(groups: dict[int, int]) -> None:
    """Signal every group, wait, and kill the rest."""
    left = [group for group, number in groups.items() if send(group, number)]
    deadline = time.monotonic() + PATIENCE
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left = [group for group in left if send(group, 0)]
    for group in left:
        send(group, signal.SIGKILL)


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    end(listen())
