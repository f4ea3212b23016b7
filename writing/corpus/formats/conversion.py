"""Conversion of files between the formats that hold the same content, with an account of what is lost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from analysis.text import statements

from ..imports import csv_files
from ..imports.problems import Effect, Problems
from ..imports.sources import Member
from . import huggingface
from .format_registry import Format, UnknownFormatError, get, recognise
from .report_fields import cited
from .values import Citation, Document, FileContents, NuggetBank, Part, Report, Request, Sentence, contents, parts_of

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
        return chosen, huggingface.read(member, problems, columns=columns)
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
    values = read_contents.values
    if source == target:
        lost: dict[str, int] = {}
        data = b"".join(target.write(contents(values, read_contents.about)))
    else:
        values = [_completed(value, source, run or member.stem) for value in values]
        lost = losses(values, source, target)
        data = b"".join(target.write(contents([_adapted(value, target) for value in values])))
    return Conversion(data, source, len(values), lost, problems)


def _completed(value: Any, source: Format, run: str) -> Any:
    """Return a report with a name of its system, IDs of its topic and passages, and its text as sentences."""
    if not isinstance(value, Report):
        return value
    topic = value.topic or (csv_files.topic_id(value.query) if value.query else "")
    documents = value.documents
    if documents is not None:
        documents = tuple(replace(each, id=each.id or csv_files.passage_id(each.text)) for each in documents)
    report = replace(value, run=value.run or run, topic=topic, documents=documents)
    return report if report.sentences is not None else replace(report, sentences=_sentences(report, source))


def _sentences(report: Report, source: Format) -> tuple[Sentence, ...]:
    """Split a text at its citation markers; brackets of a format without citations are part of the text."""
    text, documents, first = report.text or "", report.documents or (), report.first_marker
    if Part.CITATIONS not in source.holds:
        return (Sentence(text, None),) if text else ()
    parsed = statements.parse(text, passages=len(documents) + first)
    return tuple(
        Sentence(each.text, tuple(Citation(documents[n - first].id) for n in each.citations if n >= first))
        for each in parsed.statements
    )


def _adapted(value: Any, target: Format) -> Any:
    """Return a value without other fields, and a report as the target holds it: as sentences or as a text."""
    value = without_extra(value)
    if not isinstance(value, Report):
        return value
    if Part.PASSAGES not in target.holds and value.references is None and value.documents:
        value = replace(value, references=tuple(each.id for each in value.documents))
    if value.text is None:
        return value
    if Part.SENTENCES in target.holds:
        return replace(value, text=None)
    has_citations = any(sentence.citations for sentence in value.sentences or ())
    is_plain = Part.CITATIONS not in target.holds and has_citations
    return replace(value, text=statements.without_markers(value.text) if is_plain else value.text, sentences=None)


def losses(values: Sequence[Any], source: Format | None, target: Format) -> dict[str, int]:
    """Count the values that have a part which the target cannot hold, by part.

    Other fields have names of their own format, so that another format does not hold them.
    """
    counts: Counter[Part] = Counter()
    for value in values:
        parts = parts_of(value)
        counts.update(part for part in parts if part not in target.holds or (part == Part.EXTRA and source != target))
        counts[Part.CITATIONS] += Part.CITATIONS in target.holds and _cites_without_text(value, target)
    return {str(part): counts[part] for part in sorted(counts) if counts[part]}


def _cites_without_text(value: Any, target: Format) -> bool:
    """Return whether a report cites passages that it does not have, in a format whose citations are markers."""
    if not isinstance(value, Report) or Part.REFERENCES in target.holds:
        return False
    return not set(cited(value)) <= {document.id for document in value.documents or ()}


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
