"""Values of tables in words: dimensions, styles, origins, key figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from crowdrag.studies.models import Study

from ..captions import Column
from ..captions.describing import Words
from ..pages import words
from ..pages.questions import Questions
from ..results.schema import Row
from .shape import Value


@dataclass(frozen=True)
class Naming:
    """How a study's results are said."""

    dimensions: Mapping[str, str]
    styles: Mapping[str, str]
    questions: Questions = field(default_factory=Questions)

    @classmethod
    def of(cls, study: Study) -> "Naming":
        """Read the names of a study's dimensions, styles and questions, in three queries."""
        return cls(words.dimensions(study), words.styles(study), Questions.of(study))

    def said(self, column: Column, value: Any, row: Row) -> Value:
        """Return a value of a row as it is shown: names in words, NaN and the infinite as None."""
        if column.words == "question":
            return self.questions.text(row)
        if column.words == "answer":
            return self.questions.answer(row)
        if value is None or (isinstance(value, float) and not -float("inf") < value < float("inf")):
            return None
        if isinstance(value, str):
            return self._words(column.words)(value)
        return value if isinstance(value, int | float | bool) else str(value)

    def _words(self, kind: str | Mapping[str, Words]) -> Callable[[str], str]:
        if not isinstance(kind, str):
            return lambda value: str(kind.get(value, value))
        return {"dimension": self._dimension, "style": self._style, "origin": words.origin, "figure": words.figure}.get(
            kind, str
        )

    def _dimension(self, name: str) -> str:
        return self.dimensions.get(name) or (str(words.EVERY_DIMENSION) if name == words.ALL else name)

    def _style(self, name: str) -> str:
        return self.styles.get(name, name)
