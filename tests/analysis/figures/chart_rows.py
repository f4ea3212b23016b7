"""Made-up rows of any table, by what its captions say of its columns: keys crossed, each number its own."""

from itertools import count, product
from typing import Any

from analysis.experiments.uplift_rag.tables import EXCHANGED
from analysis.figures.figure import FIGURES
from analysis.methods.order_effects.tables import PARTS
from analysis.tables.table import get

#: Values of keys that captions do not list.
KEYS = {
    "dimension": ["clear", "deep", "whole", "novel", "all"], "dimension_1": ["clear", "deep", "whole"],
    "dimension_2": ["clear", "deep", "whole"], "style": ["bullet", "essay"], "origin": ["human", "model", "system"],
    "system": ["anna", "rag-1", "rag-2"], "rank": [1, 2, 3], "k": [3, 5], "topics": [20, 65], "present": [False],
    "currency": ["USD"], "kind": ["participant"], "curve": ["DR", "RU", "DU", "DA", "RA", "DD"], "alpha": [0.0, 1.0],
    "model": ["one", "two"], "survey": ["topic", "exit"], "question": ["q1"], "option": [0, 1, 2], "score": [1, 2, 5],
    "statistic": ["p05", "lower_quartile", "median", "upper_quartile", "p95"], "converged": [True], "corrected": [True],
    "bin": [1, 2, 3], "start": [0.0], "end": [1.0], "threshold": [0.2, 0.5, 0.8],
}  # fmt: skip
#: Numbers that tell the rows of a table apart, though its captions do not say so.
NUMBERED = {"plan": {"k", "topics"}, "plan_costs": {"k", "topics"}}
#: Values of keys of one table, instead of those of all.
OWN_KEYS: dict[str, dict[str, list[Any]]] = {
    "win_rates": {"kind": ["participant"], "judges": ["crowd"], "style": ["all"], "dimension": ["all"]}
}
#: Combinations that no table holds.
IMPOSSIBLE = {
    "order_effects": lambda row: row["part"] not in PARTS[row["effect"]],
    "uplift_transfer": lambda row: (row["answered_by"], row["documents_for"]) not in EXCHANGED,
    "interdependence": lambda row: row["dimension_1"] >= row["dimension_2"],
    "leaderboard": lambda row: row["kind"] == "origin" or row["origin"] != "system",
    "win_rates": lambda row: row["participant_1"] >= row["participant_2"],
    "self_preference_pairs": lambda row: (row["whose"] == "own") != (row["author"] == "one"),
    "self_preference_rating_tests": lambda row: (row["whose"] == "own") != (row["author"] == "one"),
    "lengths": lambda row: row["value"] is None,
}
MOST = 120


def rows_of(name: str) -> list[dict[str, Any]]:
    """Every seventh estimate is missing, so that each panel lacks other rows than its neighbour."""
    described = get(name)
    numbers, cells = count(1), count(1)
    keys: dict[str, list[Any]] = {}
    for column in described.columns:
        if column.key in OWN_KEYS.get(name, {}):
            keys[column.key] = OWN_KEYS[name][column.key]
        elif isinstance(column.words, dict):
            keys[column.key] = list(column.words)
        elif column.key in KEYS and (column.digits is None or column.is_key or column.key in NUMBERED.get(name, ())):
            keys[column.key] = KEYS[column.key]
        elif column.digits is None:
            keys[column.key] = ["one", "two"]
    intervals = {each.key: each for each in described.columns if each.low}
    made = []
    for values in list(product(*keys.values()))[:MOST]:
        row: dict[str, Any] = dict.fromkeys(described.column_names, None) | dict(zip(keys, values, strict=True))
        for key in described.column_names:
            if key not in keys and not key.endswith(("low", "high")):
                row[key] = round(next(numbers) / 1000, 4)
        for key, column in intervals.items():
            if key in keys:
                continue
            missing = next(cells) % 7 == 0
            row[key] = None if missing else row[key]
            row[column.low], row[column.high] = (None, None) if missing else (row[key] - 0.0004, row[key] + 0.0004)
        if not IMPOSSIBLE.get(name, lambda _row: False)(row):
            made.append(row)
    return made


def tables_of(chart: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table of a chart."""
    return {name: rows_of(name) for name in FIGURES[chart].tables}
