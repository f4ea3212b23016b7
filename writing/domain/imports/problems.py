"""What is wrong with an input: file, line, field, what was expected and what was found, up to 100 of them."""

from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import ngettext

MAX_PROBLEMS = 100
MAX_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input. Line 0: the file as a whole."""

    file: str
    line: int
    field: str
    expected: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        of = f", {self.field}" if self.field else ""
        expected = f" (expected: {self.expected})" if self.expected else ""
        return f"{place}{of}: {self.message}{expected}"


class BadInput(ValueError):  # noqa: N818 -- it says what the input is
    """The input was refused; the study is as it was."""

    def __init__(self, problems: list[Problem]):
        self.problems = problems
        count = ngettext("%d problem", "%d problems", len(problems)) % len(problems)
        first = f" First: {problems[0]}" if problems else ""
        super().__init__(f"The input has {count}; nothing was changed.{first}")

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the problems as plain rows, for a run to keep."""
        return [asdict(problem) for problem in self.problems]


class Problems:
    """Collects problems and gives up at the hundredth: nobody reads more, and a wrong file has millions."""

    def __init__(self, limit: int = MAX_PROBLEMS):
        self.limit = limit
        self.found: list[Problem] = []

    def add(self, *, file: str, line: int = 0, field: str = "", expected: str = "", message: str) -> None:
        """Note a problem.

        Raises
        ------
        BadInput
            when there are as many as anybody will read.
        """
        self.found.append(Problem(file, line, field, expected, message))
        if len(self.found) >= self.limit:
            raise BadInput(self.found)

    def refuse_any(self) -> None:
        """Go on only if there is no problem."""
        if self.found:
            raise BadInput(self.found)


def shown(value: Any) -> str:
    """Return a value as a message quotes it: short, and without characters that no page or terminal takes."""
    text = repr(value)
    text = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
    return text.encode("ascii", "backslashreplace").decode() if not text.isprintable() else text
