"""Selection of a leaderboard: dimension, style, and kind of judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ...tables import run_tables, value_labels
from ...tables.rows import Row
from .boards import ORIGIN, PARTICIPANT
from .tables import JUDGES
from .votes_by_judges import ALL, GOLD

#: Options of a filter: values with their labels.
Choices = list[tuple[str, str]]


@dataclass(frozen=True)
class BoardSelection:
    """The current selection, and the available values.

    Attributes
    ----------
    run : Run
    dimension, style, judges : str
        Names as in the tables.
    dimensions, styles, all_judges : list of (str, str)
        All values with their labels.
    """

    run: Run
    dimension: str
    style: str
    judges: str
    dimensions: Choices
    styles: Choices
    all_judges: Choices
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether gold labels of all styles are selected, as in the table `leaderboard` and the tests."""
        return (self.style, self.judges) == (ALL, GOLD)

    @property
    def win_judges(self) -> str:
        """Kind of judges in the win rates; for gold labels, which have no win rates, the analysed judges."""
        others = [name for name, _label in self.all_judges if name != GOLD]
        return self.judges if self.judges != GOLD or not others else others[0]

    @property
    def query(self) -> str:
        """The selection as a URL query."""
        return urlencode({"dimension": self.dimension, "style": self.style, "judges": self.judges})

    @property
    def in_words(self) -> dict[str, str]:
        """The labels of the selected values."""
        chosen = {
            "dimension": self.dimension,
            "style": self.style,
            "judges": self.judges,
            "win_judges": self.win_judges,
        }
        words = {name: self.labels[name.removeprefix("win_")].get(value, value) for name, value in chosen.items()}
        return words | ({"style": "all styles"} if self.style == ALL else {})

    def merits(self, kind: str = PARTICIPANT) -> list[Row]:
        """Return the rows of the selection by rank, unranked participants last."""
        if self.is_whole:
            path = "$[*] ? (@.kind == $kind && @.dimension == $dimension)"
            return self._rows("leaderboard", path, kind=kind, dimension=self.dimension)
        path = "$[*] ? (@.kind == $kind && @.dimension == $dimension && @.style == $style && @.judges == $judges)"
        chosen = {"dimension": self.dimension, "style": self.style, "judges": self.judges}
        return self._rows("leaderboard_by_judges", path, kind=kind, **chosen)

    def profile(self, participant: str) -> list[Row]:
        """Return the rows of one participant on all dimensions, in the order of the filter."""
        path = "$[*] ? (@.kind == $kind && @.participant == $who && @.style == $style && @.judges == $judges)"
        if self.is_whole:
            rows = self._rows(
                "leaderboard", "$[*] ? (@.kind == $kind && @.participant == $who)", kind=PARTICIPANT, who=participant
            )
        else:
            rows = self._rows(
                "leaderboard_by_judges", path, kind=PARTICIPANT, who=participant, style=self.style, judges=self.judges
            )
        order = [name for name, _label in self.dimensions]
        return sorted(rows, key=lambda row: order.index(row["dimension"]) if row["dimension"] in order else len(order))

    def win_rates(self, kind: str = PARTICIPANT) -> list[Row]:
        """Return the win rates of the selection."""
        path = "$[*] ? (@.kind == $kind && @.dimension == $dimension && @.style == $style && @.judges == $judges)"
        chosen = {"dimension": self.dimension, "style": self.style, "judges": self.win_judges}
        return self._rows("win_rates", path, kind=kind, **chosen)

    def win_rates_of(self, first: str, second: str, kind: str) -> list[Row]:
        """Return the win rates of the first against the second by dimension and style."""
        path = (
            "$[*] ? (@.kind == $kind && @.judges == $judges && ((@.participant_1 == $one && @.participant_2 == $two)"
            " || (@.participant_1 == $two && @.participant_2 == $one)))"
        )
        rows = self._rows("win_rates", path, kind=kind, judges=self.win_judges, one=first, two=second)
        return [row if row["participant_1"] == first else turned(row) for row in rows]

    def _rows(self, table: str, path: str, **variables: Any) -> list[Row]:
        return stored_rows(self.run, table, path, **variables)


def selection(study: Study, run: Run, query: Mapping[str, Any]) -> BoardSelection:
    """Read the selection from a URL query; values that the run does not have fall back to all."""
    path = "$[*] ? (@.kind == $kind || @.dimension == $all)"
    by_judges = stored_rows(run, "leaderboard_by_judges", path, kind=ORIGIN, all=ALL)
    present = stored_rows(run, "leaderboard", "$[*] ? (@.kind == $kind)", kind=PARTICIPANT)
    dimensions = _first_all([row["dimension"] for row in present])
    styles = _first_all([row["style"] for row in by_judges])
    all_judges = [name for name in JUDGES if name == GOLD or any(row["judges"] == name for row in by_judges)]
    labels = {
        "dimension": value_labels.dimensions(study) | {ALL: str(value_labels.EVERY_DIMENSION)},
        "style": value_labels.styles(study),
        "judges": {name: str(label) for name, label in JUDGES.items()},
    }

    def chosen(name: str, values: list[str]) -> str:
        value = str(query.get(name, ""))
        return value if value in values else values[0]

    return BoardSelection(
        run=run,
        dimension=chosen("dimension", dimensions),
        style=chosen("style", styles),
        judges=chosen("judges", all_judges),
        dimensions=[(name, labels["dimension"].get(name, name)) for name in dimensions],
        styles=[(name, labels["style"].get(name, name)) for name in styles],
        all_judges=[(name, labels["judges"][name].capitalize()) for name in all_judges],
        labels=labels,
    )


def turned(row: Row) -> Row:
    """Return a row of win rates with the two participants swapped."""
    sides = {
        "participant_1": "participant_2",
        "wins": "losses",
        "share_won": "share_lost",
        "won_low": "lost_low",
        "won_high": "lost_high",
    }
    return row | {one: row[other] for one, other in sides.items()} | {other: row[one] for one, other in sides.items()}


def stored_rows(run: Run, table: str, path: str, **variables: Any) -> list[Row]:
    """Return the rows of a table that match a JSON path.

    If an update has none, read them from its full analysis.
    """
    rows = run_tables.stored_table(run, table).rows_where(path, **variables)
    base = None if rows else run_tables.full_analysis_of(run)
    return run_tables.stored_table(base, table).rows_where(path, **variables) if base else rows


def _first_all(names: list[str]) -> list[str]:
    """Return the distinct names, "all" first."""
    return list(dict.fromkeys([ALL, *names]))
