"""Files of questions that can be handed in, by their format."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.rag.shapes import Collection


class BadCollectionError(ValueError):
    """The questions cannot be read; `problems` says where, as a run shows it."""

    def __init__(self, message: str, problems: list[dict[str, Any]] | None = None):
        super().__init__(message)
        self.problems = problems or [{"message": message}]


@dataclass(frozen=True)
class Format:
    """How a file of questions is written: its reader is `read` of a module of `analysis.rag.collections`."""

    title: str | Promise
    help: str | Promise
    module: str

    @property
    def reader(self) -> Callable[[Path], Collection]:
        """The function that reads such a file."""
        found: Callable[[Path], Collection] = import_module(f"analysis.rag.collections.{self.module}").read
        return found


#: Formats by the word that parameters and the command use.
FORMATS: dict[str, Format] = {
    "qa": Format(
        gettext_lazy("Questions and answers"),
        gettext_lazy("JSON lines as FlashRAG writes them: id, question, golden_answers, and candidate documents."),
        "qa",
    ),
    "lamp": Format(
        gettext_lazy("LaMP"),
        gettext_lazy("A LaMP task with its outputs: input, profile and output of each question."),
        "lamp",
    ),
    "bank": Format(
        gettext_lazy("Passage bank"),
        gettext_lazy("Questions with true and false passages by people and models (self-preference)."),
        "banks",
    ),
}


def read(name: str, path: Path) -> Collection:
    """Read a file of questions.

    Raises
    ------
    BadCollectionError
        If there is no such format, or the file is not in it: with the line, where there is one.
    """
    if name not in FORMATS:
        listed = ", ".join(FORMATS)
        raise BadCollectionError(
            _("There is no format %(name)r; there are %(listed)s.") % {"name": name, "listed": listed}
        )
    try:
        return FORMATS[name].reader(path)
    except (ValueError, OSError) as error:  # readers say file and line in errors of their own
        raise BadCollectionError(str(error)) from error
