"""Passages with their authors, for experiments on whom a model prefers: a file, or a data set's files.

docs/methods/self-preference.md. What stands here says who wrote each passage, in which style, with which answer, and
what the data knows of models beside: their answers without a passage, and perplexities.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from ..shapes import Collection, Document, Query
from . import banks
from .fields import BadCollectionError, Fields, lines

#: What the files of a data set are called: `nq_passages.jsonl.gz`, `nq_knowledge_llama.jsonl.gz`.
_PART = re.compile(r"(?:.*_)?(?P<part>passages|writing_styles|knowledge|perplexity)(?:_(?P<of>\w+))?\.jsonl(?:\.gz)?")
#: The published files name one model by its maker.
_MODELS = {"openai": "gpt"}
_STYLES = "styles of questions that the bank does not have"
_KNOWLEDGE = "answers without a passage to questions that the bank does not have"
_PERPLEXITY = "perplexities whose question is not known"
#: No honest data set of this kind comes near it.
LARGEST = 512 * 2**20

Questions = dict[int, Query]


def read(path: Path | str, *, name: str = "") -> Collection:
    """Read passages by author.

    Parameters
    ----------
    path : Path or str
        JSON lines, gzipped or not, of one of two kinds: the published bank (`nq_passages.jsonl.gz`), or one object a
        question with `id`, `question`, `golden_answers` and `documents`, each with `id`, `text`, `author`, and where it
        is known `style`, `answer`, `is_true`. Or a ZIP archive of the files of a published data set (`nq_*.jsonl.gz`):
        styles, models' answers and perplexities then come with it.
    name : str, optional
        The collection's; by default the file's name.

    Returns
    -------
    Collection
        Documents say author, style, answer, and by `is_helpful` whether it is true. `facts` may hold `knowledge`, by
        model {"answers", "truth", "correct"}, and `perplexity`, by author, of true passages. Perplexities carry numbers
        alone: they are known where the models' answers, which are numbered alike, say which question that is.

    Raises
    ------
    BadCollectionError
        With file, line and field.
    """
    path = Path(path)
    if not zipfile.is_zipfile(path):
        called = name or path.name.split(".")[0].removesuffix("_passages")
        return Collection(called, tuple(_single(path, called)))
    with tempfile.TemporaryDirectory() as folder:
        parts = _unpacked(path, Path(folder))
        called = name or path.name.split(".")[0]
        return _together(path, parts, called)


def _single(path: Path, name: str) -> list[Query]:
    first = next(iter(lines(path)), None)
    if first is None:
        raise BadCollectionError(path.name, "", "", "at least one question", "none")
    if first.has("documents"):
        return _own(path)
    return list(_bank(path, name).values())


def _bank(path: Path, name: str) -> Questions:
    """The published bank, by the numbers that other files of the data set name its questions by."""
    return {int(query.id.rpartition("-")[2]): query for query in banks.read(path, name=name).queries}


def _own(path: Path) -> list[Query]:
    """Our own form: a question a line, authors with its documents."""
    found: dict[str, Query] = {}
    for row in lines(path):
        key = row.key("id")
        if key in found:
            raise row.wrong("id", "an id that no line before has")
        documents = tuple(_document(each) for each in row.objects("documents"))
        if twice := [each for each, n in Counter(document.id for document in documents).items() if n > 1]:
            raise row.wrong("documents", f"documents with different ids, not {twice[0]!r} twice")
        gold = row.texts("golden_answers") if row.has("golden_answers") else ()
        found[key] = Query(key, row.text("question"), tuple(filter(None, gold)), documents)
    return list(found.values())


def _document(row: Fields) -> Document:
    return Document(
        row.key("id"),
        row.text("text"),
        row.optional_text("title"),
        is_helpful=row.optional_flag("is_true"),
        author=row.text("author"),
        style=row.optional_text("style"),
        answer=row.optional_text("answer"),
    )


def _unpacked(path: Path, folder: Path) -> dict[tuple[str, str], Path]:
    """Unpack the files of a data set, each under a name of ours: an archive's own names are not trusted."""
    found: dict[tuple[str, str], Path] = {}
    with zipfile.ZipFile(path) as archive:
        if sum(each.file_size for each in archive.infolist()) > LARGEST:
            raise BadCollectionError(path.name, "", "", f"at most {LARGEST // 2**20} MB of files", "more")
        for each in archive.infolist():
            called = each.filename.rsplit("/", 1)[-1]
            matched = _PART.fullmatch(called)
            if matched is None:
                continue
            key = (matched["part"], matched["of"] or "")
            if key in found:
                raise BadCollectionError(path.name, called, "", "one file of each kind", "two")
            found[key] = folder / called
            found[key].write_bytes(archive.read(each))
    return found


def _together(path: Path, parts: dict[tuple[str, str], Path], name: str) -> Collection:
    if ("passages", "") not in parts:
        raise BadCollectionError(path.name, "", "", "a file of passages (*_passages.jsonl.gz)", "none")
    questions = _bank(parts["passages", ""], name)
    left_out: Counter[str] = Counter()
    for (part, _of), file in sorted(parts.items()):
        if part == "writing_styles":
            left_out[_STYLES] += sum(not _add_styles(questions, row) for row in lines(file))
    numbers: dict[int, int] = {}
    for (part, of), file in sorted(parts.items()):
        if part == "knowledge":
            rows = list(lines(file))
            numbers = _numbers(questions, rows)
            left_out[_KNOWLEDGE] += sum(
                not _add_fact(questions, numbers, row, "knowledge", {_MODELS.get(of, of): _said(row)}) for row in rows
            )
    for (part, _of), file in sorted(parts.items()):
        if part == "perplexity":
            left_out[_PERPLEXITY] += sum(
                not _add_fact(questions, numbers, row, "perplexity", _perplexities(row)) for row in lines(file)
            )
    return Collection(name, tuple(questions.values()), tuple(sorted((+left_out).items())))


def _numbers(questions: Questions, rows: Sequence[Fields]) -> dict[int, int]:
    """Which question of the bank each number of the other files means: their true answers, in the files' order, say it.

    The files are not numbered alike: the bank of MS MARCO leaves numbers out, that of Natural Questions questions.
    """
    indices = list(questions)
    truths = [questions[index].answers[0].lower() for index in indices]
    theirs = [row.text("truth").lower() for row in rows]
    blocks = SequenceMatcher(None, truths, theirs, autojunk=False).get_matching_blocks()
    return {rows[block.b + i].whole("index"): indices[block.a + i] for block in blocks for i in range(block.size)}


def _add_styles(questions: Questions, row: Fields) -> bool:
    """Add passages in other styles; the normal ones are those of the bank."""
    query = questions.get(row.whole("index"))
    if query is None or query.question != row.text("question"):
        return False
    fields = [(author, style) for author in banks.AUTHORS for style in ("qa", "long")]
    more = [
        Document(f"{author}_{style}", text, is_helpful=True, author=author, style=style, answer=query.answers[0])
        for author, style in fields
        if (text := row.optional_text(f"{author}_{style}"))
    ]
    questions[row.whole("index")] = replace(query, documents=(*query.documents, *more))
    return True


def _said(row: Fields) -> dict[str, Any]:
    return {"answers": list(row.texts("answers")), "truth": row.text("truth"), "correct": row.whole("correct_of_5")}


def _perplexities(row: Fields) -> dict[str, float | None]:
    return {author: row.optional_number(author) for author in banks.AUTHORS}


def _add_fact(questions: Questions, numbers: dict[int, int], row: Fields, fact: str, said: dict[str, Any]) -> bool:
    index = numbers.get(row.whole("index"))
    if index is None:
        return False
    query = questions[index]
    facts = {**query.facts, fact: {**query.facts.get(fact, {}), **said}}
    questions[index] = replace(query, facts=facts)
    return True


def write(queries: Sequence[Query]) -> Iterable[dict[str, Any]]:
    """Write questions with authors in our own form, which `read` reads: one object a line."""
    for query in queries:
        yield {
            "id": query.id,
            "question": query.question,
            "golden_answers": list(query.answers),
            "documents": [
                {
                    "id": each.id,
                    "text": each.text,
                    "author": each.author,
                    "style": each.style,
                    "answer": each.answer,
                    "is_true": each.is_helpful,
                }
                for each in query.documents
            ],
        }
