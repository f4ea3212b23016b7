"""The files that an import's run was given: paths of this machine, or uploads; archives are looked into."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

from crowdrag.jobs.models import Run, Upload

from . import sources
from .problems import Problems
from .sources import Member

CHUNK = 1024**2


class Inputs:
    """Readable files by role."""

    def __init__(self, members: Mapping[str, Sequence[Member]], problems: Problems):
        self.members = members
        self.problems = problems

    def one(self, role: str) -> Member:
        """Return the only file of a role.

        Raises
        ------
        BadInput
            if there is none or more than one.
        """
        found = [member for member in self.members.get(role, ()) if not sources.is_hidden(member.name)]
        if len(found) != 1:
            names = ", ".join(member.name for member in found[:5]) or "none"
            self.problems.add(file=role, expected="one file", message=f"there are {len(found)}: {names}")
            self.problems.refuse_any()
        return found[0]

    def source(self) -> sources.Source:
        """Return all files of all roles, to be found by name."""
        return sources.Source(member for found in self.members.values() for member in found)

    def digest(self) -> str:
        """Return the SHA-256 of roles, names and contents: what this import was made of."""
        whole = hashlib.sha256()
        for role in sorted(self.members):
            for member in sorted(self.members[role], key=lambda member: member.name):
                content = hashlib.sha256()
                with member.open() as file:
                    while chunk := file.read(CHUNK):
                        content.update(chunk)
                whole.update(f"{role}\0{member.name}\0{content.hexdigest()}\n".encode())
        return whole.hexdigest()


@contextmanager
def opened(run: Run, problems: Problems) -> Iterator[Inputs]:
    """Give the files of a run: `inputs` of its parameters are objects with a role and a path, or an upload's number."""
    members: dict[str, list[Member]] = {}
    with ExitStack() as stack:
        for given in run.parameters.get("inputs", []):
            found = _of_path(given, stack, problems) if "path" in given else _of_upload(run, given, stack, problems)
            members.setdefault(given.get("role", ""), []).extend(found)
        problems.refuse_any()
        yield Inputs(members, problems)


def _of_path(given: Mapping[str, Any], stack: ExitStack, problems: Problems) -> list[Member]:
    path = Path(given["path"])
    try:
        if path.is_dir():
            return list(sources.of_folder(path))
        file = stack.enter_context(path.open("rb"))
    except OSError as error:
        message = f"cannot be opened: {error.strerror}"
        problems.add(file=str(path), expected="a file or folder on the machine that works on it", message=message)
        return []
    return _looked_into(file, sources.of_path(path), stack, problems)


def _of_upload(run: Run, given: Mapping[str, Any], stack: ExitStack, problems: Problems) -> list[Member]:
    upload = Upload.objects.filter(study=run.study, pk=given["upload"]).first()
    if upload is None:
        problems.add(
            file="", expected="an uploaded file of this study", message="it is not there any more; upload it again"
        )
        return []
    opener = partial(upload.file.storage.open, str(upload.file.name), "rb")
    member = Member(upload.name, upload.size, lambda: cast("BinaryIO", opener()))
    return _looked_into(stack.enter_context(member.open()), member, stack, problems)


def _looked_into(file: BinaryIO, member: Member, stack: ExitStack, problems: Problems) -> list[Member]:
    """Return what is in a file if it is an archive, else the file itself."""
    if not sources.is_archive(file, member.name):
        return [member]
    return stack.enter_context(sources.of_archive(file, member.name, problems))
