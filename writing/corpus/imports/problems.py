"""Problems of an input: file, line, field, and expected and actual value; at most 100 are kept."""

from collections import Counter, defaultdict
from copy import deepcopy
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

MAX_PROBLEMS = 100
MAX_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of an input. Line 0 means the whole file."""

    file: str
    line: int
    field: str
    expected: str
    message: str

    def __str__(self) -> str:
        location = f"{self.file}, line {self.line}" if self.line else self.file
        of = f", {self.field}" if self.field else ""
        expected = f" (expected: {self.expected})" if self.expected else ""
        return f"{location}{of}: {self.message}{expected}"


class BadInput(ValueError):  # noqa: N818 -- describes the input
    """The input was rejected; the study is unchanged."""

    def __init__(self, problems: list[Problem]):
        self.problems = problems
        count = ("%d problem" if len(problems) == 1 else "%d problems") % len(problems)
        first = f" First: {problems[0]}" if problems else ""
        super().__init__(f"{count} found. Nothing was imported.{first}")

    def as_rows(self) -> list[dict[str, Any]]:
        """Return the problems as dictionaries, to be stored with the run."""
        return [asdict(problem) for problem in self.problems]


class Effect(StrEnum):
    """The consequence of a fault in a single row."""

    SET_ASIDE = "row set aside"
    INCOMPLETE = "imported without the missing labels"


class Problems:
    """A collection of the problems of an input.

    A problem of the whole input rejects it. A fault of a single row rejects it too, unless `sets_aside`: then the row
    is skipped (or imported in part) and counted, and the first 100 faults are listed.
    Checks stop at problem 100: nobody reads more, and a wrong file could have millions.
    """

    def __init__(self, limit: int = MAX_PROBLEMS, *, sets_aside: bool = False):
        self.limit = limit
        self.sets_aside = sets_aside
        self.found: list[Problem] = []
        self.faults: list[tuple[Problem, Effect]] = []
        self._lines: dict[Effect, dict[str, set[int]]] = {effect: defaultdict(set) for effect in Effect}
        self._more: dict[Effect, Counter[str]] = {effect: Counter() for effect in Effect}

    def add(self, *, file: str, line: int = 0, field: str = "", expected: str = "", message: str) -> None:
        """Record a problem.

        Raises
        ------
        BadInput
            When the limit is reached.
        """
        self.found.append(Problem(file, line, field, expected, message))
        if len(self.found) >= self.limit:
            raise BadInput(self.found)

    def set_aside(
        self, *, file: str, line: int, field: str = "", expected: str = "", message: str, rows: int = 1
    ) -> None:
        """Record that a row cannot be used, or several rows from this line on."""
        self._fault(Problem(file, line, field, expected, message), Effect.SET_ASIDE, rows)

    def incomplete(self, *, file: str, line: int, field: str = "", expected: str = "", message: str) -> None:
        """Record that a row is incomplete; the rest of it is used."""
        self._fault(Problem(file, line, field, expected, message), Effect.INCOMPLETE, 1)

    def rows(self, effect: Effect) -> dict[str, int]:
        """Return the number of rows of each file with this effect."""
        lines, more = self._lines[effect], self._more[effect]
        return {file: len(lines[file]) + more[file] for file in sorted(lines)}

    def refuse_any(self) -> None:
        """Raise `BadInput` if there are problems."""
        if self.found:
            raise BadInput(self.found)

    def refuse_all_of(self, other: "Problems") -> None:
        """Add the problems of a part that everything else depends on; they reject the input."""
        for problem in other.found:
            self.add(**asdict(problem))

    def set_aside_all_of(self, other: "Problems") -> None:
        """Add the problems of a part that nothing depends on; its rows are set aside."""
        for problem, _effect in other.faults:
            self.set_aside(**asdict(problem))
        for problem in other.found:
            self.set_aside(**asdict(problem))

    def copied(self) -> Self:
        """Return a copy, for a step that may be repeated."""
        return deepcopy(self)

    def faults_as_rows(self) -> list[dict[str, Any]]:
        """Return the faults of single rows with their effects as dictionaries, to be stored with the run."""
        return [asdict(problem) | {"effect": str(effect)} for problem, effect in self.faults]

    def _fault(self, problem: Problem, effect: Effect, rows: int) -> None:
        if not self.sets_aside:
            self.add(**asdict(problem))
            return
        lines = self._lines[effect][problem.file]
        if problem.line not in lines:
            lines.add(problem.line)
            self._more[effect][problem.file] += rows - 1
        if len(self.faults) < self.limit:
            self.faults.append((problem, effect))


def quote_value(value: Any) -> str:
    """Quote a value for a message: shortened, and without characters that pages or terminals cannot show."""
    text = repr(value)
    text = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
    return text.encode("ascii", "backslashreplace").decode() if not text.isprintable() else text
