"""Conversion of files between the formats that hold the same content, with an account of what is lost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..imports.problems import Effect, Problems
from ..imports.sources import Member
from . import hugging_face
from .format_registry import Format, UnknownFormatError, get, recognise
from .values import Document, FileContents, NuggetBank, Part, Report, Request, contents, parts_of

#: The format whose columns can be given.
COLUMN_FORMAT: Final = "hugging-face"


class NotConvertibleError(ValueError):
    """The two formats hold different contents; the message names them."""


@dataclass(frozen=True)
class Conversion:
    """A file in another format.

    Attributes
    ----------
    data
        The bytes of the new file.
    source, values
        The format of the file that was read, and its number of values.
    lost
        For each part that the new format cannot hold, the number of values that have it.
    problems
        The rows that were set aside or read in part.
    """

    data: bytes
    source: Format
    values: int
    lost: dict[str, int]
    problems: Problems

    @property
    def set_aside(self) -> int:
        """The number of rows that were set aside."""
        return sum(self.problems.rows(Effect.SET_ASIDE).values())


def read(
    member: Member, problems: Problems, *, format_: Format | None = None, columns: Mapping[str, str] | None = None
) -> tuple[Format, FileContents]:
    """Read a file in this format, or in the one that is recognised.

    Raises
    ------
    UnknownFormatError
        If the format is not recognised.
    """
    chosen = format_ or (get(COLUMN_FORMAT) if columns else recognise(member))
    if columns and chosen.name != COLUMN_FORMAT:
        msg = f"Columns are given only for {COLUMN_FORMAT}, not for {chosen.name}."
        raise UnknownFormatError(msg)
    if columns:
        return chosen, hugging_face.read(member, problems, columns=columns)
    return chosen, chosen.read(member, problems)


def convert(
    member: Member,
    target: Format,
    *,
    source: Format | None = None,
    columns: Mapping[str, str] | None = None,
    run: str = "",
) -> Conversion:
    """Convert a file. Rows that cannot be used are set aside.

    Parameters
    ----------
    member, target
        The file, and the format to write.
    source
        The file's format; recognised if it is None.
    columns
        The column of each role, for Hugging Face data sets.
    run
        The name of the system of answers that name none; by default the file's name.

    Raises
    ------
    UnknownFormatError
        If the format is not recognised.
    NotConvertibleError
        If the target holds other contents.
    BadInput
        If the file cannot be read.
    """
    problems = Problems(sets_aside=True)
    source, read_contents = read(member, problems, format_=source, columns=columns)
    problems.refuse_any()
    if source.content != target.content:
        msg = f"{member.name} holds {source.content} ({source.name}), and {target.name} holds {target.content}."
        raise NotConvertibleError(msg)
    values = [_named(value, run or member.stem) for value in read_contents.values]
    lost = losses(values, source, target)
    about = read_contents.about if source == target else {}
    kept = values if source == target else list(map(without_extra, values))
    return Conversion(b"".join(target.write(contents(kept, about))), source, len(values), lost, problems)


def _named(value: Any, run: str) -> Any:
    return replace(value, run=run) if isinstance(value, Report) and not value.run else value


def losses(values: Sequence[Any], source: Format | None, target: Format) -> dict[str, int]:
    """Count the values that have a part which the target cannot hold, by part.

    Other fields have names of their own format, so that another format does not hold them.
    """
    counts: Counter[Part] = Counter()
    for value in values:
        parts = parts_of(value)
        counts.update(part for part in parts if part not in target.holds or (part == Part.EXTRA and source != target))
    return {str(part): counts[part] for part in sorted(counts)}


def without_extra(value: Any) -> Any:
    """Return a value without the fields that only its own format knows."""
    if isinstance(value, Report):
        return replace(
            value,
            extra={},
            metadata={},
            sentences=None if value.sentences is None else tuple(replace(each, extra={}) for each in value.sentences),
            documents=None if value.documents is None else tuple(replace(each, extra={}) for each in value.documents),
        )
    if isinstance(value, NuggetBank):
        return replace(value, extra={}, nuggets=tuple(replace(nugget, extra={}) for nugget in value.nuggets))
    if isinstance(value, Request | Document):
        return replace(value, extra={})
    return value
