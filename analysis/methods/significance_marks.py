"""Significance marks of mean grades as in crowdrag25, Table 7, and verbal results of the tests."""

from typing import Any

from ..tables import value_labels
from ..tables.rows import Row

#: Significance levels of the adjusted p-value, by number of stars.
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))

#: Marks by dimension, style and origin of a mean: its stars, and the means that it exceeds.
Marks = dict[tuple[str, str, str], dict[str, str]]


def stars(p: float | None) -> str:
    """Return the stars of an adjusted p-value; empty if not significant or not tested."""
    return next((marks for limit, marks in STARS if p is not None and p < limit), "")


def marks(tests: list[Row], styles: dict[str, str]) -> Marks:
    """Mark the higher mean of every significant difference: of two origins within a style, or of two styles."""
    differences: dict[tuple[str, str, str], list[tuple[float, str]]] = {}
    for row in tests:
        if not stars(row["p_adjusted"]):
            continue
        higher, _dash, lower = row["comparison"].partition(value_labels.SEPARATOR)
        if row["difference"] < 0:
            higher, lower = lower, higher
        if is_of_styles(row, styles):
            key, than = (row["dimension"], higher, value_labels.ALL), styles.get(lower, lower)
        else:
            key, than = (row["dimension"], row["style"], higher), value_labels.origin(lower)
        differences.setdefault(key, []).append((row["p_adjusted"], than))
    return {
        key: {
            "stars": stars(min(p for p, _than in lower)),
            "why": "; ".join(f"higher than {than}, adjusted p {tests_in_words(p)}" for p, than in lower),
        }
        for key, lower in differences.items()
    }


def tests(rows: list[Row], labels: dict[str, str], styles: dict[str, str]) -> list[dict[str, Any]]:
    """Describe the tests in words."""
    shown = []
    for row in rows:
        of_styles = is_of_styles(row, styles)
        sides = row["comparison"].partition(value_labels.SEPARATOR)[::2]
        names = [styles.get(side, side) if of_styles else value_labels.origin(side) for side in sides]
        name = row["dimension"]
        shown.append(
            row
            | {
                "dimension_said": "All dimensions" if name == value_labels.ALL else labels.get(name, name),
                "style_said": "–" if of_styles else styles.get(row["style"], row["style"]),
                "comparison_said": " – ".join(names),
                "stars": stars(row["p_adjusted"]),
            }
        )
    return shown


def is_of_styles(row: Row, styles: dict[str, str]) -> bool:
    """Return whether a test compares two styles; otherwise it compares two origins."""
    return row["style"] == value_labels.ALL and all(
        side in styles for side in row["comparison"].partition(value_labels.SEPARATOR)[::2]
    )


def tests_in_words(p: float) -> str:
    """Format a p-value."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
