"""The fields that formats of answers share: sentences with citations, references, and documents."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..imports.fields import Either, Field, Identifier, ListOf, Mismatch, Number, Optional, Text, Whole
from ..imports.problems import Problems, quote_value
from .record_files import rest_of, without_none
from .values import Citation, Document, Report, Sentence

MAX_SENTENCES: Final = 10_000
MAX_DOCUMENTS: Final = 10_000
PASSAGE_ID: Final = Identifier(300)
REFERENCES: Final = Optional(ListOf(PASSAGE_ID, most=MAX_DOCUMENTS))
_CITATIONS: Final = ListOf(Either((Whole(), PASSAGE_ID)))
_TEXT: Final = Text(blank=True)
_OPTIONAL_TEXT: Final = Optional(_TEXT)
_ID_NAMES: Final = ("id", "docid", "doc_id", "_id", "segid", "docno")
_TEXT_NAMES: Final = ("text", "segment", "contents", "passage", "sent")


class Confidences(Field):
    """Citations as an object: the confidence of each passage."""

    expected = "an object with a number for each passage"

    def clean(self, value: Any) -> dict[str, float]:
        """Return the confidences by passage."""
        if not isinstance(value, dict):
            raise self.refuse(value)
        return {PASSAGE_ID.clean(passage): Number().clean(number) for passage, number in value.items()}


class Sentences(Field):
    """Sentences with their citations; their unknown fields are kept."""

    expected = "a list of sentences"

    def clean(self, value: Any) -> list[dict[str, Any]]:
        """Return the sentences with `text`, `citations` and `extra`."""
        if not isinstance(value, list):
            raise self.refuse(value)
        if len(value) > MAX_SENTENCES:
            raise Mismatch(f"at most {MAX_SENTENCES} sentences", f"has {len(value)}")
        return [self._sentence(entry, f"[{n}]") for n, entry in enumerate(value)]

    def _sentence(self, entry: Any, path: str) -> dict[str, Any]:
        if not isinstance(entry, dict):
            raise Mismatch("an object with text and citations", f"got {quote_value(entry)}", path)
        try:
            citations = entry.get("citations")
            shape: Field = Confidences() if isinstance(citations, dict) else _CITATIONS
            return {
                "text": _TEXT.clean(entry.get("text")),
                "citations": None if citations is None else shape.clean(citations),
                "extra": rest_of(entry, ("text", "citations")),
            }
        except Mismatch as mismatch:
            raise Mismatch(mismatch.expected, mismatch.message, path + mismatch.path) from None


class Documents(Field):
    """Documents as a list, or as an object by ID; their unknown fields are kept."""

    expected = "a list of documents"

    def clean(self, value: Any) -> list[Document]:
        """Return the documents."""
        if isinstance(value, dict):
            value = [{"id": name} | entry if isinstance(entry, dict) else entry for name, entry in value.items()]
        if not isinstance(value, list):
            raise self.refuse(value)
        if len(value) > MAX_DOCUMENTS:
            raise Mismatch(f"at most {MAX_DOCUMENTS} documents", f"has {len(value)}")
        return [self._document(entry, f"[{n}]") for n, entry in enumerate(value)]

    def _document(self, entry: Any, path: str) -> Document:
        if not isinstance(entry, dict):
            raise Mismatch("an object with id and text", f"got {quote_value(entry)}", path)
        try:
            return document_of(entry)
        except Mismatch as mismatch:
            raise Mismatch(mismatch.expected, mismatch.message, path + mismatch.path) from None


def document_of(record: Mapping[str, Any], *, needs_id: bool = False) -> Document:
    """Return a document from a record, under any of the usual names of its fields.

    Raises
    ------
    Mismatch
        If a field is missing or has the wrong type.
    """
    id_name = next((name for name in _ID_NAMES if record.get(name) is not None), "")
    text_name = next((name for name in _TEXT_NAMES if name in record), "text")
    if needs_id and not id_name:
        raise Mismatch(PASSAGE_ID.expected, "is missing", ".id")
    return Document(
        id=PASSAGE_ID.clean(record[id_name]) if id_name else "",
        text=_TEXT.clean(record.get(text_name)),
        title=_OPTIONAL_TEXT.clean(record.get("title")),
        url=_OPTIONAL_TEXT.clean(record.get("url")),
        extra=rest_of(record, (id_name, text_name, "title", "url")),
    )


def document_record(document: Document) -> dict[str, Any]:
    """Return a document as a record with `id`, `text`, `title` and `url`."""
    fields = {"id": document.id or None, "text": document.text, "title": document.title, "url": document.url}
    return without_none(fields) | dict(document.extra)


def sentences_of(
    entries: Sequence[Mapping[str, Any]],
    references: Sequence[str] | None,
    problems: Problems,
    *,
    file: str,
    line: int,
    field: str,
) -> tuple[Sentence, ...]:
    """Return cleaned sentences as values. A number cites that entry of the references; others are left out."""
    ids = references or ()
    sentences = []
    for n, entry in enumerate(entries):
        raw = entry["citations"]
        citations: list[Citation] = []
        if isinstance(raw, dict):
            citations = [Citation(passage, confidence) for passage, confidence in raw.items()]
        for citation in raw if isinstance(raw, list) else ():
            if isinstance(citation, str):
                citations.append(Citation(citation))
            elif 0 <= citation < len(ids):
                citations.append(Citation(ids[citation]))
            else:
                expected = f"0 to {len(ids) - 1}, an index of references" if ids else "no number without references"
                where = f"{field}[{n}].citations"
                problems.incomplete(file=file, line=line, field=where, expected=expected, message=f"got {citation}")
        sentences.append(Sentence(entry["text"], None if raw is None else tuple(citations), entry["extra"]))
    return tuple(sentences)


def cited(report: Report) -> list[str]:
    """Return the IDs of the passages that a report's sentences cite, in the order of first mention."""
    sentences = report.sentences or ()
    return list(dict.fromkeys(c.passage for sentence in sentences for c in sentence.citations or ()))


def numbered_references(report: Report) -> list[str]:
    """Return the references of a report, completed by the passages that it cites."""
    return list(dict.fromkeys((*(report.references or ()), *cited(report))))


def numbered_sentences(report: Report, references: Sequence[str]) -> list[dict[str, Any]]:
    """Return sentences as records whose citations are indices of the references."""
    indices = {passage: n for n, passage in reversed(list(enumerate(references)))}
    return [
        {"text": sentence.text}
        | ({} if sentence.citations is None else {"citations": [indices[c.passage] for c in sentence.citations]})
        | dict(sentence.extra)
        for sentence in report.sentences or ()
    ]


def named_sentences(report: Report) -> list[dict[str, Any]]:
    """Return sentences as records whose citations are IDs, or confidences by ID if every citation has one."""
    records = []
    for sentence in report.sentences or ():
        record: dict[str, Any] = {"text": sentence.text}
        if sentence.citations is not None:
            has_confidences = bool(sentence.citations) and all(c.confidence is not None for c in sentence.citations)
            record["citations"] = (
                {citation.passage: citation.confidence for citation in sentence.citations}
                if has_confidences
                else [citation.passage for citation in sentence.citations]
            )
        records.append(record | dict(sentence.extra))
    return records
