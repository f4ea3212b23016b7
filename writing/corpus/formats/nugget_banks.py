"""Nugget banks: those of `autojudge-base` (AutoARGUE's layout), and AutoNuggetizer's nuggets and assignments.

Both are JSON lines with one topic a line. AutoNuggetizer: `query`, `qid`, and `nuggets` with `text`, `importance`
(`vital`, `okay`) and, where they are assigned to an answer, `assignment` (`support`, `partial_support`, `not_support`),
with the answer's `run_id` and `answer_text`. autojudge-base: `query_id`, `title_query`, questions in `nugget_bank` and
statements in `claim_bank`, each by its text, with answers and the passages that they come from.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..imports import json_lines
from ..imports.fields import Either, Field, Identifier, ListOf, Mismatch, OneOf, Optional, Text, Whole
from ..imports.fields import member as clean_field
from ..imports.problems import Problems, quote_value
from ..imports.sources import Member
from .record_files import as_json_lines, collect, json_values, rest_of, without_none
from .values import FileContents, Nugget, NuggetAnswer, NuggetBank, Provenance

IMPORTANCES: Final = ("vital", "okay", "failed")
ASSIGNMENTS: Final = ("support", "partial_support", "not_support")
MAX_NUGGETS: Final = 10_000
MAX_DEPTH: Final = 20
_TEXT: Final = Text(blank=True)
_TOPIC: Final = Identifier()
_PASSAGE: Final = Identifier(300)
_FORMAT_VERSION: Final = "v3"


def is_autonuggetizer(record: Mapping[str, Any]) -> bool:
    """Return whether a record has AutoNuggetizer's layout."""
    return isinstance(record.get("nuggets"), list) and "qid" in record


def is_autojudge(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a bank of `autojudge-base`."""
    return "query_id" in record and ("nugget_bank" in record or "claim_bank" in record)


def read_autonuggetizer(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> FileContents:
    """Read AutoNuggetizer's nuggets or assignments; a topic that the file has already is set aside."""
    return collect(member, problems, json_values(member, problems, report=report), _bank_of_autonuggetizer, _key)


def read_autojudge(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> FileContents:
    """Read nugget banks of `autojudge-base`; a topic that the file has already is set aside."""
    return collect(member, problems, json_values(member, problems, report=report), _bank_of_autojudge, _key)


def _key(bank: NuggetBank) -> tuple[str, str]:
    return f"{bank.topic}\t{bank.run}", f"topic {bank.topic}"


def _cleaned(record: dict[str, Any], name: str, field: Field, path: str = "") -> Any:
    """Return a field of a record cleaned."""
    try:
        return clean_field(record, name, field)
    except Mismatch as mismatch:
        raise Mismatch(mismatch.expected, mismatch.message, f"{path}.{name}{mismatch.path}") from None


def _entries(value: Any, path: str) -> list[tuple[str, Any]]:
    """Return the entries of a list or object with their paths."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, list):
        raise Mismatch("a list", f"got {quote_value(value)}", path)
    if len(value) > MAX_NUGGETS:
        raise Mismatch(f"at most {MAX_NUGGETS} entries", f"has {len(value)}", path)
    return [(f"{path}[{n}]", entry) for n, entry in enumerate(value)]


def _object(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Mismatch("an object", f"got {quote_value(value)}", path)
    return value


# AutoNuggetizer


def _bank_of_autonuggetizer(value: Any) -> NuggetBank:
    record = _object(value)
    nuggets = []
    for path, entry in _entries(_cleaned(record, "nuggets", ListOf(_Any())), ".nuggets"):
        nugget = _object(entry, path)
        nuggets.append(
            Nugget(
                text=_cleaned(nugget, "text", Text(), path),
                importance=_cleaned(nugget, "importance", Optional(OneOf(IMPORTANCES)), path),
                assignment=_cleaned(nugget, "assignment", Optional(OneOf(ASSIGNMENTS)), path),
                extra=rest_of(nugget, ("text", "importance", "assignment")),
            )
        )
    return NuggetBank(
        topic=_cleaned(record, "qid", _TOPIC),
        query=_cleaned(record, "query", Optional(_TEXT)) or "",
        nuggets=tuple(nuggets),
        run=_cleaned(record, "run_id", Optional(_TOPIC)) or "",
        answer=_cleaned(record, "answer_text", Optional(_TEXT)),
        extra=rest_of(record, ("qid", "query", "nuggets", "run_id", "answer_text")),
    )


class _Any(Field):
    """Any value; the caller checks it."""

    def clean(self, value: Any) -> Any:
        """Return the value."""
        return value


def write_autonuggetizer(contents: FileContents) -> Iterator[bytes]:
    """Write AutoNuggetizer's nuggets or assignments. A question is written as its text."""
    return as_json_lines(map(_record_of_autonuggetizer, contents.values))


def _record_of_autonuggetizer(bank: NuggetBank) -> dict[str, Any]:
    nuggets = [
        without_none({"text": nugget.text, "importance": _named_importance(nugget), "assignment": nugget.assignment})
        | dict(nugget.extra)
        for nugget in bank.nuggets
    ]
    head = {"query": bank.query, "qid": bank.topic, "run_id": bank.run or None, "answer_text": bank.answer}
    return without_none(head) | {"nuggets": nuggets} | dict(bank.extra)


def _named_importance(nugget: Nugget) -> str | None:
    """Return the importance if it is one that AutoNuggetizer knows."""
    return nugget.importance if isinstance(nugget.importance, str) and nugget.importance in IMPORTANCES else None


# autojudge-base

_QUESTION_FIELDS: Final = ("question", "question_id")
_CLAIM_FIELDS: Final = ("claim", "claim_id")
_NUGGET_FIELDS: Final = ("query_id", "answers", "sub_nuggets", "references", "importance")
_LABEL: Final = Optional(Either((Whole(), Text(longest=200))))


def _bank_of_autojudge(value: Any) -> NuggetBank:
    record = _object(value)
    topic = _cleaned(record, "query_id", _TOPIC)
    nuggets = [
        _nugget(entry, path, 0)
        for name in ("nugget_bank", "claim_bank")
        for path, entry in _entries(record.get(name), f".{name}")
    ]
    extra = rest_of(record, ("query_id", "title_query", "nugget_bank", "claim_bank"))
    return NuggetBank(topic, _cleaned(record, "title_query", Optional(_TEXT)) or "", tuple(nuggets), extra=extra)


def _nugget(entry: Any, path: str, depth: int) -> Nugget:
    record = _object(entry, path)
    if depth > MAX_DEPTH:
        raise Mismatch(f"at most {MAX_DEPTH} levels of nuggets", "there are more", path)
    is_question = "question" in record
    text, key = _QUESTION_FIELDS if is_question else _CLAIM_FIELDS
    answers, parts = record.get("answers"), record.get("sub_nuggets")
    return Nugget(
        text=_cleaned(record, text, Text(), path),
        id=_cleaned(record, key, Optional(Identifier(300)), path) or "",
        is_question=is_question,
        importance=_cleaned(record, "importance", _LABEL, path),
        answers=None if answers is None else tuple(_answer(*pair) for pair in _entries(answers, f"{path}.answers")),
        provenance=_provenance(record, path),
        parts=None
        if parts is None
        else tuple(_nugget(part, where, depth + 1) for where, part in _entries(parts, f"{path}.sub_nuggets")),
        extra=rest_of(record, (text, key, *_NUGGET_FIELDS)),
    )


def _answer(path: str, entry: Any) -> NuggetAnswer:
    record = {"answer": entry} if isinstance(entry, str) else _object(entry, path)
    text = _cleaned(record, "answer", Text(), path)
    return NuggetAnswer(text, _provenance(record, path), rest_of(record, ("answer", "references")))


def _provenance(record: dict[str, Any], path: str) -> tuple[Provenance, ...] | None:
    if record.get("references") is None:
        return None
    values = []
    for where, entry in _entries(record["references"], f"{path}.references"):
        reference = {"doc_id": entry} if isinstance(entry, str | int) else _object(entry, where)
        values.append(Provenance(_cleaned(reference, "doc_id", _PASSAGE, where), rest_of(reference, ("doc_id",))))
    return tuple(values)


def write_autojudge(contents: FileContents) -> Iterator[bytes]:
    """Write nugget banks as `autojudge-base` reads them."""
    return as_json_lines(map(_record_of_autojudge, contents.values))


def _record_of_autojudge(bank: NuggetBank) -> dict[str, Any]:
    record: dict[str, Any] = {"query_id": bank.topic}
    if bank.query:
        record["title_query"] = bank.query
    record |= {"format_version": _FORMAT_VERSION} | dict(bank.extra)
    for name, is_question in (("nugget_bank", True), ("claim_bank", False)):
        nuggets = [nugget for nugget in bank.nuggets if nugget.is_question == is_question]
        if nuggets:
            record[name] = {nugget.text: _nugget_record(nugget, bank.topic) for nugget in nuggets}
    if not bank.nuggets:
        record["claim_bank"] = {}
    return record


def _nugget_record(nugget: Nugget, topic: str) -> dict[str, Any]:
    text, key = _QUESTION_FIELDS if nugget.is_question else _CLAIM_FIELDS
    record: dict[str, Any] = {text: nugget.text, key: nugget.id or None, "query_id": topic}
    record["importance"] = nugget.importance
    if nugget.answers is not None:
        record["answers"] = {
            answer.text: without_none({"answer": answer.text, "references": _references(answer.provenance)})
            | dict(answer.extra)
            for answer in nugget.answers
        }
    record["references"] = _references(nugget.provenance)
    if nugget.parts is not None:
        record["sub_nuggets"] = [_nugget_record(part, topic) for part in nugget.parts]
    return without_none(record) | dict(nugget.extra)


def _references(provenance: Iterable[Provenance] | None) -> list[dict[str, Any]] | None:
    return None if provenance is None else [{"doc_id": each.passage} | dict(each.extra) for each in provenance]
