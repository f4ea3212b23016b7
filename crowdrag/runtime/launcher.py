"""Become another program that dies with its parent. Run by path, with only the standard library.

    python -I -S launcher.py PARENT DEATH_SIGNAL UID GID -- PROGRAM ARGUMENT...

On Linux the kernel sends DEATH_SIGNAL when PARENT dies, even by kill -9; elsewhere only the reaper does that. UID and
GID are -1 to keep the account. A launcher and not `preexec_fn`, which is unsafe once there are threads.
"""

import ctypes  # now, since the account that we change to may be unable to read Python's own files
import os
import signal
import sys


def die_with_parent(parent: int, death_signal: int) -> None:
    """Ask the kernel for a signal at the parent's death, and exit at once if that has already happened."""
    if sys.platform.startswith("linux"):
        pr_set_pdeathsig = 1
        ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, death_signal, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def main(arguments: list[str]) -> None:
    """Change the account, bind to the parent, become the program."""
    parent, death_signal, uid, gid = map(int, arguments[:4])
    program = arguments[5:]
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    # After the change of account, which would clear it.
    die_with_parent(parent, death_signal)
    # Python ignores these two; the program expects the default handling.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execvp(program[0], program)  # noqa: S606 - a program and no shell is the point


if __name__ == "__main__":
    main(sys.argv[1:])
