"""LaMP, a personalisation benchmark of seven tasks (Salemi et al. 2024): inputs with user profiles and outputs.

The input is the query; the items of the profile are its documents. Each task defines what
retrievers search for and read, and how a prompt states the items, as in LaMP (Table 8 of the paper, and its rankers).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..protocols import Collection, Document, Query
from .fields import BadCollectionError, Fields, whole

NO_TEXT = "profile item without text"
REPEATED = "duplicate profile item"
NO_QUESTION = "output without a question"


@dataclass(frozen=True)
class Task:
    """A task of LaMP.

    Attributes
    ----------
    number : int
    about : str
    metric : str
        A name of `qa_metrics.METRICS`.
    opening : pattern
        Beginning of its inputs.
    sought : pattern
        Matches what retrievers search for: the groups, joined by a space.
    text, title, label : str
        Fields of a profile item: `text` and `title` are for retrievers, `label` only for prompts; "" for none.
    stated : str
        Template of one item in a prompt.
    joined : str
        Template that joins the items and the input into a prompt.
    """

    number: int
    about: str
    metric: str
    opening: re.Pattern[str]
    sought: re.Pattern[str]
    text: str
    title: str = ""
    label: str = ""
    stated: str = '"{title}" is the title for "{text}"'
    joined: str = "{items}. {input}"

    @property
    def name(self) -> str:
        """Name as in the paper: `LaMP-3`."""
        return f"LaMP-{self.number}"


def _opening(words: str) -> re.Pattern[str]:
    return re.compile(rf"\s*{re.escape(words)}", re.IGNORECASE)


_AFTER_COLON = re.compile(r":(.*)", re.DOTALL)
# The position in an input of task 1 where the author's other papers are inserted.
_REFERENCE = re.compile(r'(?<="), (?=which reference is related)', re.IGNORECASE)

#: The tasks by number.
TASKS = {
    task.number: task
    for task in (
        Task(1, "which of two papers an author cites", "accuracy",
             _opening("For an author who has written the paper with the title"),
             re.compile(r'\A(?>.*?\[1\]:\s*+")(.*)"\s*+\[2\]:\s*+"(.*)"', re.DOTALL),
             text="abstract", title="title", stated='"{title}"', joined="{input}"),
        Task(2, "a film's tag", "accuracy", _opening("Which tag does this movie relate to"),
             re.compile(r"description:(.*)", re.DOTALL), text="description", label="tag",
             stated='the tag for the movie: "{text}" is "{label}"'),
        Task(3, "a review's score, 1 to 5", "mae", _opening("What is the score of the following review"),
             re.compile(r"review:(.*)", re.DOTALL), text="text", label="score",
             stated='{label} is the score for "{text}"'),
        Task(4, "an article's headline", "rouge_l", _opening("Generate a headline for the following article"),
             re.compile(r"article:(.*)", re.DOTALL), text="text", title="title"),
        Task(5, "a paper's title", "rouge_l", _opening("Generate a title for the following abstract"), _AFTER_COLON,
             text="abstract", title="title", joined="{items}. Following the given patterns {input}"),
        Task(6, "an email's subject", "rouge_l", _opening("Generate a subject for the following email"), _AFTER_COLON,
             text="text", label="title", stated='"{label}" is the title for "{text}"'),
        Task(7, "a tweet in the user's words", "rouge_l", _opening("Paraphrase the following tweet"), _AFTER_COLON,
             text="text", stated='"{text}"',
             joined="{items} are written by a person. Following the given patterns {input}"),
    )
}  # fmt: skip


def read(
    path: Path | str, outputs: Path | str | None = None, *, task: int | str | None = None, name: str = ""
) -> Collection:
    """Read a task's questions with their profiles and gold outputs.

    Parameters
    ----------
    path : Path or str
        `dev_questions.json`: a list of objects with id, input, profile, gzipped or not. If each object also has
        `output`, as LaMP's merge script writes them, no second file is needed.
    outputs : Path or str, optional
        `dev_outputs.json`: an object with task and golds, a list of objects with id and output.
    task : int or str, optional
        1 to 7 or `LaMP-3`; by default as `outputs` says, else recognised by the beginning of the first input.
    name : str, optional
        Name of the collection; by default that of the task.

    Returns
    -------
    Collection
        Texts and titles of documents are what LaMP's rankers read; only prompts state `label`. A question without
        output has no answer, and one with an empty profile has no documents; both are kept. Profile items without text,
        repeated profile items, and outputs without a question are left out and counted.

    Raises
    ------
    BadCollectionError
        With file, question and field of the error; also if an input belongs to another task.
    """
    path = Path(path)
    rows = _rows(path, whole(path), "question")
    golds, stated_task = _golds(Path(outputs)) if outputs is not None else ({}, None)
    task_type = _task(rows[0], task if task is not None else stated_task)
    left_out: Counter[str] = Counter()
    queries: dict[str, Query] = {}
    for row in rows:
        query = _query(row, task_type, golds, left_out)
        if query.id in queries:
            raise row.wrong("id", "a unique id")
        queries[query.id] = query
    left_out[NO_QUESTION] = len(golds.keys() - queries.keys())
    left_out_counts = tuple(sorted((reason, n) for reason, n in left_out.items() if n))
    return Collection(name or task_type.name, tuple(queries.values()), left_out_counts)


def prompted(query: Query, documents: Sequence[Document], *, most_words: int = 0) -> str:
    """Return a task's input with profile items, worded as in LaMP; without items, the input alone.

    Parameters
    ----------
    query : Query
        From `read`.
    documents : sequence of Document
        In the order of the prompt.
    most_words : int
        Maximum number of words of an item's text; 0 for all. LaMP instead truncates by tokens to what fits the model.

    Raises
    ------
    ValueError
        If the query belongs to no task.
    """
    task = by_name(query.task)
    if not documents:
        return query.question
    items = ", and ".join(_stated(task, document, most_words) for document in documents)
    if task.number == 1:
        return _REFERENCE.sub(lambda _: f", and {items}, ", query.question, count=1)
    return task.joined.format(items=items, input=query.question)


def by_name(name: int | str) -> Task:
    """Return a task by name: 3, "3", "LaMP-3" or "LaMP_3".

    Raises
    ------
    ValueError
        If there is none.
    """
    match = re.fullmatch(r"(?:LaMP[-_ ]?)?([1-7])", str(name).strip(), re.IGNORECASE)
    if match is None:
        raise ValueError(f"LaMP has tasks 1 to 7, not {name!r}")
    return TASKS[int(match.group(1))]


def _stated(task: Task, document: Document, most_words: int) -> str:
    text = document.text
    if most_words:
        text = " ".join(text.split()[:most_words])
    return task.stated.format(text=text, title=document.title, label=document.label)


def _rows(path: Path, data: Any, kind: str) -> list[Fields]:
    if not isinstance(data, list) or not data:
        raise BadCollectionError(path.name, "", "", f"a list with at least one {kind}", data)
    rows = []
    for number, row in enumerate(data, 1):
        if not isinstance(row, dict):
            raise BadCollectionError(path.name, f"{kind} {number}", "", "an object", row)
        rows.append(Fields(path.name, f"{kind} {number}", row))
    return rows


def _golds(path: Path) -> tuple[dict[str, str], str]:
    data = whole(path)
    if not isinstance(data, dict):
        raise BadCollectionError(path.name, "", "", "an object with task and golds", data)
    about = Fields(path.name, "", data)
    golds: dict[str, str] = {}
    for row in _rows(path, about.entries("golds"), "gold"):
        key = row.key("id")
        if key in golds:
            raise row.wrong("id", "a unique id")
        golds[key] = _text_or_number(row, "output")
    return golds, about.text("task")


def _task(first: Fields, stated: int | str | None) -> Task:
    if stated is not None:
        try:
            return by_name(stated)
        except ValueError as error:
            raise BadCollectionError(first.file, "", "task", "LaMP_1 to LaMP_7", stated) from error
    opened = first.text("input")
    for task in TASKS.values():
        if task.opening.match(opened):
            return task
    raise first.wrong("input", "an input that begins like one of LaMP's tasks, or the task in addition to the file,")


def _query(row: Fields, task: Task, golds: dict[str, str], left_out: Counter[str]) -> Query:
    key, text = row.key("id"), row.text("input")
    if (sought := task.sought.search(text)) is None or (task.number == 1 and not _REFERENCE.search(text)):
        raise row.wrong("input", f"an input of {task.name} ({task.about})")
    answer = _text_or_number(row, "output") if row.has("output") else golds.get(key, "")
    return Query(
        id=key,
        question=text,
        answers=(answer,) if answer else (),
        documents=_documents(row, task, left_out),
        metric=task.metric,
        sought=" ".join(part.strip() for part in sought.groups()),
        task=task.name,
    )


def _documents(row: Fields, task: Task, left_out: Counter[str]) -> tuple[Document, ...]:
    documents: dict[str, Document] = {}
    for item in row.objects("profile"):
        document = Document(
            id=item.key("id"),
            text=_text_or_number(item, task.text),
            title=_text_or_number(item, task.title) if task.title else "",
            label=_text_or_number(item, task.label) if task.label else "",
        )
        if not (document.text or document.title):
            left_out[NO_TEXT] += 1
        elif documents.setdefault(document.id, document) is not document:
            if document != documents[document.id]:
                raise item.wrong("id", "one item for each id")
            left_out[REPEATED] += 1
    return tuple(documents.values())


def _text_or_number(row: Fields, name: str) -> str:
    """Read a required field that may be blank; scores may be texts or numbers."""
    value = row.data.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise row.wrong(name, "text")
    return value.strip()
