"""Passages with their authors, for experiments on whom a model prefers: a file, or a data set's files.

docs/methods/self-preference.md. What stands here says who wrote each passage, in which style, with which answer, and
what the data knows of models beside: their answers without a passage, and perplexities.
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

#: Files of an archive that may hold data; others are ignored.
_DATA = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
#: What the file of passages is called where several hold some: `nq-both-true.json`, `nq_passages.jsonl.gz`.
_BANKS = ("both-true", "passages")
_STYLES = "styles of questions that are not in the bank"
_KNOWLEDGE = "answers without a passage to questions that are not in the bank"
_PERPLEXITY = "perplexities of unknown questions"
_SECOND = "answers without a passage in a second file for the same model"
#: No honest data set of this kind comes near it.
LARGEST = 512 * 2**20

Questions = dict[int, Query]


def read(path: Path | str, *, name: str = "") -> Collection:
    """Read passages by author.

    Parameters
    ----------
    path : Path or str
        A published bank (`nq-both-true.json`, `nq_passages.jsonl.gz`), or JSON lines of one object a question with
        `id`, `question`, `golden_answers` and `documents`, each with `id`, `text`, `author`, and where it is known
        `style`, `answer`, `is_true`. Or a ZIP archive of published files, as they are in the authors' repository or as
        JSON lines: styles, models' answers and perplexities then come with it. Files are known by their keys; what is
        no part of a bank is ignored. An archive of several data sets gives the questions of all.
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
    """The published bank, by the numbers that other files of the data set name its questions by."""
    return {int(query.id.rpartition("-")[2]): query for query in passage_banks.read(path, name=name).queries}


def _read_our_format(path: Path) -> list[Query]:
    """Our own form: a question a line, authors with its documents."""
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
    """Unpack what may be data, each file in a folder of ours: an archive's own folders are not trusted."""
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
    """The questions of one data set with all that its files say of them; what has no question is counted."""
    questions = _bank(_passages(path, files), name)
    by_part = {part: [part_file for part_file in files if part_file.part is part] for part in Part}
    for file in by_part[Part.STYLES]:
        left_out[_STYLES] += sum(not _add_styles(questions, row) for row in passage_banks.rows(file.path))
    numbers: dict[int, int] = {}
    by_model: dict[str, list[list[Fields]]] = {}
    for file in by_part[Part.KNOWLEDGE]:
        by_model.setdefault(file.model, []).append(list(passage_banks.rows(file.path)))
    for model, candidates in sorted(by_model.items()):
        # A repository may hold answers of an earlier try, too: those to more of the bank's questions are taken.
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
    """The file of the bank; of several with passages the one that is called so."""
    paths = [file.path for file in files if file.part is Part.PASSAGES]
    bank_paths = [path for path in paths if any(word in path.name for word in _BANKS)]
    if len(paths) > 1 and len(bank_paths) != 1:
        raise BadCollectionError(path.name, paths[0].name, "", "one file of passages for each data set", "two")
    return (bank_paths or paths)[0]


def _numbers(questions: Questions, rows: Sequence[Fields]) -> dict[int, int]:
    """Which question of the bank each number of the other files means: their true answers, in the files' order, say it.

    The files are not numbered alike: the bank of MS MARCO leaves numbers out, that of Natural Questions questions.
    """
    indices = list(questions)
    truths = [questions[index].answers[0].lower() for index in indices]
    other_truths = [row.text("truth").lower() for row in rows]
    blocks = SequenceMatcher(None, truths, other_truths, autojunk=False).get_matching_blocks()
    return {rows[block.b + i].whole("index"): indices[block.a + i] for block in blocks for i in range(block.size)}


def _add_styles(questions: Questions, row: Fields) -> bool:
    """Add passages in other styles; the normal ones are those of the bank."""
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
    """Write questions with authors in our own form, which `read` reads: one object a line."""
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
