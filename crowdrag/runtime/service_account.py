"""A separate account for PostgreSQL, which refuses to run as root."""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from crowdrag.runtime.data_folder import Problem

ACCOUNT = "crowdrag"
COPIES = Path("/var/tmp")


@dataclass(frozen=True)
class Account:
    """The account of a process."""

    uid: int
    gid: int


def server_account() -> Account | None:
    """Return the account for PostgreSQL: None means our own; root gets an unprivileged one, created if necessary."""
    if os.geteuid() != 0:
        return None
    for attempt in (_known_account, _create_account, _nobody_account):
        entry = attempt()
        if entry is not None:
            return Account(entry.pw_uid, entry.pw_gid)
    raise Problem(
        "PostgreSQL does not run as root, and no other account could be created. Run CrowdRAG as a normal user, "
        f"or create an account: useradd --system {ACCOUNT}"
    )


def _passwd_entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _known_account() -> pwd.struct_passwd | None:
    return _passwd_entry(ACCOUNT)


def _create_account() -> pwd.struct_passwd | None:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        return None
    subprocess.run([useradd, "--system", "--no-create-home", ACCOUNT], check=False, capture_output=True)
    return _passwd_entry(ACCOUNT)


def _nobody_account() -> pwd.struct_passwd | None:
    return _passwd_entry("nobody")


def may_reach(path: Path, account: Account) -> bool:
    """Return whether an account can reach `path` and read it, by the permission bits along the way."""
    return all(_allows(part.stat(), account) for part in (path, *path.parents))


def _allows(status: os.stat_result, account: Account) -> bool:
    if status.st_uid == account.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == account.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)


def reachable_copy(installation: Path, account: Account | None) -> Path:
    """Return the servers' installation, copied to where the account can read it if it is in, say, /root."""
    installation = installation.resolve()
    if account is None or may_reach(installation / "bin" / "postgres", account):
        return installation
    release = (installation / "bin" / "postgres").stat()
    mark = hashlib.sha256(f"{installation} {release.st_mtime_ns} {release.st_size}".encode()).hexdigest()[:10]
    copy = COPIES / f"crowdrag-postgresql-{mark}"
    if not copy.exists():
        draft = COPIES / f"{copy.name}.{os.getpid()}"
        shutil.copytree(installation, draft, symlinks=True, ignore=shutil.ignore_patterns("include"))
        draft.chmod(0o755)
        try:
            draft.rename(copy)
        except OSError:
            shutil.rmtree(draft)
    status = copy.lstat()
    if status.st_uid != 0 or not stat.S_ISDIR(status.st_mode) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Problem(f"{copy} is not root's own folder, so its programs are not run. Remove it and start again.")
    return copy


@dataclass(frozen=True)
class Handle:
    """A folder as a process of another account can open it.

    Data below /root are out of that account's reach by path. An open descriptor is not: Linux resolves /proc/self/fd/N
    directly to the folder, so no permissions of a home directory have to be changed.
    """

    path: str
    fds: tuple[int, ...] = ()

    def close(self) -> None:
        """Close the descriptor that the child has inherited."""
        for fd in self.fds:
            os.close(fd)


def open_handle(folder: Path, account: Account | None) -> Handle:
    """Return `folder` in the form in which a process of `account` can open it."""
    if account is None or not sys.platform.startswith("linux"):
        return Handle(str(folder))
    fd = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    os.set_inheritable(fd, True)
    return Handle(f"/proc/self/fd/{fd}", (fd,))
