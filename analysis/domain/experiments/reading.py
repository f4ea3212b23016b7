"""Files of questions that can be handed in, by their format."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.rag.collections import candidates, fields
from analysis.rag.shapes import Collection


class BadCollectionError(ValueError):
    """The questions cannot be read; `problems` says where, as a run shows it."""

    def __init__(self, message: str, problems: list[dict[str, Any]] | None = None):
        super().__init__(message)
        self.problems = problems or [{"message": message}]


class BadFileError(BadCollectionError):
    """A file of questions is faulty; reading it again will not help."""


@dataclass(frozen=True)
class Format:
    """How a file of questions is written: its reader is `read` of a module of `analysis.rag.collections`.

    `is_bank`: texts that a question has twice are taken once, as candidates; `draws`: each question may get documents
    of others beside its own.
    """

    title: str | Promise
    help: str | Promise
    module: str
    draws: bool = False
    is_bank: bool = False


#: Formats by the word that parameters and the command use.
FORMATS: dict[str, Format] = {
    "qa": Format(
        gettext_lazy("Questions and answers"),
        gettext_lazy("JSON lines as FlashRAG writes them: id, question, golden_answers, and candidate documents."),
        "qa",
        draws=True,
    ),
    "lamp": Format(
        gettext_lazy("LaMP"),
        gettext_lazy("A LaMP task with its outputs: input, profile and output of each question."),
        "lamp",
    ),
    "bank": Format(
        gettext_lazy("Passage bank"),
        gettext_lazy(
            "Questions, each with true and false passages by people and models: the published JSON file "
            "(nq-both-true.json), or JSON lines."
        ),
        "banks",
        draws=True,
        is_bank=True,
    ),
    "passages": Format(
        gettext_lazy("Passages by author"),
        gettext_lazy(
            "A passage bank with what belongs to it: its file alone, a ZIP archive of the published repository or of "
            "one data set's files, or JSON lines of questions whose documents say author, style, answer and whether "
            "that is true."
        ),
        "authored",
    ),
}


def read(name: str, path: Path, *, called: str = "", others: int = 0, rng: np.random.Generator) -> Collection:
    """Read a file of questions.

    Parameters
    ----------
    name : str
        Its format.
    path : Path
    called : str
        The file's name as people know it; by default that of its path.
    others : int
        Documents of other questions that each question gets beside its own, drawn with `rng`.

    Raises
    ------
    BadCollectionError
        If there is no such format, or the file is not in it: with the line, where there is one.
    """
    if name not in FORMATS:
        said = _("There is no format %(name)r; there are %(listed)s.")
        raise BadCollectionError(said % {"name": name, "listed": ", ".join(FORMATS)})
    form = FORMATS[name]
    if others and not form.draws:
        raise BadCollectionError(_("Files of this format cannot take documents of other questions: leave it at 0."))
    called = called or path.name
    reader = import_module(f"analysis.rag.collections.{form.module}").read
    try:
        found: Collection = reader(path, name=called.split(".")[0])
        found = candidates.without_repeats(found) if form.is_bank else found
        return candidates.with_others(found, others, rng) if others else found
    except (fields.BadCollectionError, ValueError, OSError, EOFError) as error:
        raise _refused(error, path, called) from error


def with_others(found: Collection, others: int, folds: Mapping[str, int], rng: np.random.Generator) -> Collection:
    """Give each question documents of other questions of its own fold; refused where a fold has too few."""
    try:
        return candidates.with_others(found, others, rng, folds=folds)
    except candidates.TooFewDocumentsError as error:
        raise BadCollectionError(str(error)) from error


def _refused(error: Exception, path: Path, called: str) -> BadFileError:
    """Say what a reader refused, with the name that the file had where it came from."""
    message = str(error).replace(path.name, called)
    if not isinstance(error, fields.BadCollectionError):
        return BadFileError(message, [{"file": called, "message": message}])
    line = error.place.removeprefix("line ")
    problem: dict[str, Any] = {"file": called, "field": error.field, "expected": error.expected, "message": message}
    return BadFileError(message, [problem | ({"line": int(line)} if line.isdecimal() else {})])
