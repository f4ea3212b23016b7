"""Passages with their authors, for self-preference experiments: one file, or the files of a data set.

The data states each passage's author, style and answer. It may also hold models' answers without a passage, and
perplexities. docs/methods/self-preference.md.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from ..protocols import Collection, Document, Query
from . import passage_banks
from .fields import BadCollectionError, Fields, lines
from .passage_banks import File, Part

#: File types of an archive that may hold data; other files are ignored.
_DATA = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
#: Names of the main file of passages if several files hold some: `nq-both-true.json`, `nq_passages.jsonl.gz`.
_BANKS = ("both-true", "passages")
_STYLES = "styles of questions that are not in the bank"
_KNOWLEDGE = "answers without a passage to questions that are not in the bank"
_PERPLEXITY = "perplexities of unknown questions"
_SECOND = "answers without a passage in a second file for the same model"
#: Limit on the unpacked size in bytes: no genuine data set of this kind comes near it.
LARGEST = 512 * 2**20

Questions = dict[int, Query]


def read(path: Path | str, *, name: str = "") -> Collection:
    """Read passages by author.

    Parameters
    ----------
    path : Path or str
        A published bank (`nq-both-true.json`, `nq_passages.jsonl.gz`). Or JSON lines of one object per question with
        `id`, `question`, `golden_answers` and `documents`; each document has `id`, `text`, `author`, and `style`,
        `answer` and `is_true` if known. Or a ZIP archive of published files, as in the authors' repository or as JSON
        lines, which adds styles, models' answers and perplexities. Files are recognised by their keys; files that are
        not part of a bank are ignored. An archive of several data sets gives the questions of all.
    name : str, optional
        Name of the collection; by default the file's name.

    Returns
    -------
    Collection
        Documents state author, style, answer, and by `is_helpful` whether the answer is true. `facts` may hold
        `knowledge`, by model {"answers", "truth", "correct"}, and `perplexity`, by author, of true passages. Perplexity
        files identify questions only by number. They are matched through the models' answers, which use the same
        numbers and also state the true answer.

    Raises
    ------
    BadCollectionError
        With file, line and field of the error.
    """
    path = Path(path)
    if not zipfile.is_zipfile(path):
        called = name or passage_banks.data_set_name(path)
        return Collection(called, tuple(_single(path, called)))
    with tempfile.TemporaryDirectory() as folder:
        return _together(path, _unpacked(path, Path(folder)), name or path.name.split(".")[0])


def _single(path: Path, name: str) -> list[Query]:
    first = next(iter(passage_banks.rows(path)), None)
    if first is None:
        raise BadCollectionError(path.name, "", "", "at least one question", "none")
    if first.has("documents"):
        return _read_our_format(path)
    return list(_bank(path, name).values())


def _bank(path: Path, name: str) -> Questions:
    """Read the published bank, keyed by the question numbers in other files of the data set."""
    return {int(query.id.rpartition("-")[2]): query for query in passage_banks.read(path, name=name).queries}


def _read_our_format(path: Path) -> list[Query]:
    """Read our own format: one question per line, with authors in its documents."""
    queries: dict[str, Query] = {}
    for row in lines(path):
        key = row.key("id")
        if key in queries:
            raise row.wrong("id", "a unique id")
        documents = tuple(_document(item) for item in row.objects("documents"))
        if twice := [item for item, n in Counter(document.id for document in documents).items() if n > 1]:
            raise row.wrong("documents", f"documents with different ids, not {twice[0]!r} twice")
        gold = row.texts("golden_answers") if row.has("golden_answers") else ()
        queries[key] = Query(key, row.text("question"), tuple(filter(None, gold)), documents)
    return list(queries.values())


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


def _unpacked(path: Path, folder: Path) -> list[File]:
    """Unpack files that may hold data, each into a new folder: the paths in an archive are not trusted."""
    files: list[File] = []
    with zipfile.ZipFile(path) as archive:
        members = [item for item in archive.infolist() if _is_data(item.filename)]
        if sum(item.file_size for item in members) > LARGEST:
            raise BadCollectionError(path.name, "", "", f"at most {LARGEST // 2**20} MB of files", "more")
        for number, item in enumerate(sorted(members, key=lambda item: item.filename)):
            subfolder = folder / str(number)
            subfolder.mkdir()
            file = subfolder / item.filename.rsplit("/", 1)[-1]
            file.write_bytes(archive.read(item))
            files.append(passage_banks.recognise(file))
    return [item for item in files if item.part is not Part.OTHER]


def _is_data(name: str) -> bool:
    *folders, called = name.split("/")
    return called.endswith(_DATA) and not called.startswith(".") and "__MACOSX" not in folders


def _together(path: Path, files: Sequence[File], name: str) -> Collection:
    data_sets = sorted({file.data_set for file in files if file.part is Part.PASSAGES})
    if not data_sets:
        raise BadCollectionError(path.name, "", "", "a file of passages (for example nq-both-true.json)", "none")
    left_out: Counter[str] = Counter()
    queries: list[Query] = []
    for data_set in data_sets:
        data_set_files = [file for file in files if file.data_set == data_set]
        queries += _data_set(path, data_set_files, name if len(data_sets) == 1 else data_set, left_out)
    return Collection(name, tuple(queries), tuple(sorted((+left_out).items())))


def _data_set(path: Path, files: Sequence[File], name: str, left_out: Counter[str]) -> list[Query]:
    """Return the questions of one data set with everything its files state; count entries without a question."""
    questions = _bank(_passages(path, files), name)
    by_part = {part: [part_file for part_file in files if part_file.part is part] for part in Part}
    for file in by_part[Part.STYLES]:
        left_out[_STYLES] += sum(not _add_styles(questions, row) for row in passage_banks.rows(file.path))
    numbers: dict[int, int] = {}
    by_model: dict[str, list[list[Fields]]] = {}
    for file in by_part[Part.KNOWLEDGE]:
        by_model.setdefault(file.model, []).append(list(passage_banks.rows(file.path)))
    for model, candidates in sorted(by_model.items()):
        # A repository may also hold answers of an earlier run: use the file that covers more of the bank's questions.
        ranked = sorted(candidates, key=lambda rows: -len(_numbers(questions, rows)))
        left_out[_SECOND] += sum(map(len, ranked[1:]))
        numbers = _numbers(questions, ranked[0])
        for row in ranked[0]:
            left_out[_KNOWLEDGE] += not _add_fact(questions, numbers, row, "knowledge", {model: _recall_fields(row)})
    for file in by_part[Part.PERPLEXITY]:
        for row in passage_banks.rows(file.path):
            left_out[_PERPLEXITY] += not _add_fact(questions, numbers, row, "perplexity", _perplexities(row))
    return list(questions.values())


def _passages(path: Path, files: Sequence[File]) -> Path:
    """Return the file of passages; if there are several, the one whose name marks it as the bank."""
    paths = [file.path for file in files if file.part is Part.PASSAGES]
    bank_paths = [path for path in paths if any(word in path.name for word in _BANKS)]
    if len(paths) > 1 and len(bank_paths) != 1:
        raise BadCollectionError(path.name, paths[0].name, "", "one file of passages for each data set", "two")
    return (bank_paths or paths)[0]


def _numbers(questions: Questions, rows: Sequence[Fields]) -> dict[int, int]:
    """Map question numbers of the other files to those of the bank, by aligning the true answers in file order.

    The numbering differs: the bank of MS MARCO skips numbers, that of Natural Questions skips questions.
    """
    indices = list(questions)
    truths = [questions[index].answers[0].lower() for index in indices]
    other_truths = [row.text("truth").lower() for row in rows]
    blocks = SequenceMatcher(None, truths, other_truths, autojunk=False).get_matching_blocks()
    return {rows[block.b + i].whole("index"): indices[block.a + i] for block in blocks for i in range(block.size)}


def _add_styles(questions: Questions, row: Fields) -> bool:
    """Add passages in other styles; those in normal style come from the bank."""
    query = questions.get(row.whole("index"))
    if query is None or query.question != row.text("question"):
        return False
    fields = [(author, style) for author in passage_banks.AUTHORS for style in ("qa", "long")]
    styled = [
        Document(f"{author}_{style}", text, is_helpful=True, author=author, style=style, answer=query.answers[0])
        for author, style in fields
        if (text := row.optional_text(f"{author}_{style}"))
    ]
    questions[row.whole("index")] = replace(query, documents=(*query.documents, *styled))
    return True


def _recall_fields(row: Fields) -> dict[str, Any]:
    return {"answers": list(row.texts("answers")), "truth": row.text("truth"), "correct": row.whole("correct_of_5")}


def _perplexities(row: Fields) -> dict[str, float | None]:
    return {author: row.optional_number(author) for author in passage_banks.AUTHORS}


def _add_fact(questions: Questions, numbers: dict[int, int], row: Fields, fact: str, values: dict[str, Any]) -> bool:
    index = numbers.get(row.whole("index"))
    if index is None:
        return False
    query = questions[index]
    facts = {**query.facts, fact: {**query.facts.get(fact, {}), **values}}
    questions[index] = replace(query, facts=facts)
    return True


def write(queries: Sequence[Query]) -> Iterable[dict[str, Any]]:
    """Yield questions with authors in our own format, which `read` reads, one object per line."""
    for query in queries:
        yield {
            "id": query.id,
            "question": query.question,
            "golden_answers": list(query.answers),
            "documents": [
                {
                    "id": passage.id,
                    "text": passage.text,
                    "author": passage.author,
                    "style": passage.style,
                    "answer": passage.answer,
                    "is_true": passage.is_helpful,
                }
                for passage in query.documents
            ],
        }
