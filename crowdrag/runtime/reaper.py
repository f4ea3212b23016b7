"""The reaper: when the supervisor dies, it ends what the supervisor started. Run by path, standard library alone.

It reads lines from a pipe that only the supervisor writes to: `+ GROUP SIGNAL` for a process group that was started,
`- GROUP` for one that has gone. The pipe's end is the supervisor's end, whatever ended it. Each group left then gets
its signal, and SIGKILL if it is still there after a while. Works where the kernel knows no death signal, and reaches
grandchildren, which a death signal does not.
"""

import os
import signal
import sys
import time

PATIENCE = 15.0


def send(group: int, number: int) -> bool:
    """Signal a group; False if nobody is left in it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # A group whose members all changed their account: macOS says so for zombies too.
        return False
    return True


def listen() -> dict[int, int]:
    """Read until the supervisor is gone; return the groups that it left and the signal for each."""
    groups: dict[int, int] = {}
    for line in sys.stdin:
        match line.split():
            case ["+", group, number]:
                groups[int(group)] = int(number)
            case ["-", group]:
                groups.pop(int(group), None)
    return groups


def end(groups: dict[int, int]) -> None:
    """Signal every group, wait, and kill what stays."""
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
