"""Page comparing two systems: wins by dimension, style and topic, and the judged pairs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.core.paginator import Paginator

from analysis.enums import Label
from analysis.stats.labels import LABELS
from crowdrag.studies.models import Study

from ...inputs import snapshots
from ...inputs.arrays import Inputs
from ...tables import value_labels
from ...tables.rows import Row
from ...tables.run_tables import AnalysisState
from ..competence.queries import pair_ids
from .board_selection import BoardSelection, selection, stored_rows
from .boards import ORIGIN, PARTICIPANT
from .votes_by_judges import ALL

PAIRS_PER_PAGE = 20


class NeverComparedError(LookupError):
    """No pair of the two was judged."""


def head_to_head(
    study: Study, state: AnalysisState, *, first: str, second: str, kind: str, query: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the context of the page, from the first one's perspective.

    Raises
    ------
    NeverComparedError
        If no pair of the two is in the run.
    """
    if state.run is None:
        raise NeverComparedError
    kind = ORIGIN if kind == ORIGIN else PARTICIPANT
    chosen = selection(study, state.run, query)
    inputs = snapshots.inputs(state.run)
    pairs = _pairs(inputs, chosen, first, second, kind)
    rates = chosen.win_rates_of(first, second, kind)
    if not pairs and not rates:
        raise NeverComparedError
    page = Paginator(pairs, PAIRS_PER_PAGE).get_page(query.get("page"))
    words = value_labels.origin if kind == ORIGIN else str
    whole = [row for row in rates if (row["dimension"], row["style"]) == (chosen.dimension, chosen.style)]
    return {
        "first": first,
        "second": second,
        "first_said": words(first),
        "second_said": words(second),
        "kept": [("first", first), ("second", second), ("kind", kind)],
        "selection": chosen,
        "chosen": chosen.in_words,
        "whole": whole[0] if whole else None,
        "by_dimension": _named(rates, chosen, "dimension", {"style": chosen.style}),
        "by_style": _named(rates, chosen, "style", {"dimension": chosen.dimension}) if len(chosen.styles) > 1 else [],
        "page": page,
        "pairs": _described(study, inputs, chosen, list(page)),
    }


def _named(rates: list[Row], chosen: BoardSelection, part: str, fixed: dict[str, str]) -> list[Row]:
    """Return the win rates of each dimension or style, in the order of the filter."""
    by_value = {row[part]: row for row in rates if all(row[name] == value for name, value in fixed.items())}
    values = chosen.dimensions if part == "dimension" else chosen.styles
    return [by_value[value] | {"label": label} for value, label in values if value in by_value]


def _pairs(inputs: Inputs, chosen: BoardSelection, first: str, second: str, kind: str) -> list[tuple[int, bool]]:
    """Return the presented pairs of the two in the selected style by topic, and whether the first was on the right."""
    names = [response.participant if kind == PARTICIPANT else response.origin for response in inputs.responses]
    pairs = []
    for unit, (left, right, _topic, _item) in enumerate(inputs.main.units):
        if right < 0 or (names[left], names[right]) not in ((first, second), (second, first)):
            continue
        styles = {inputs.responses[left].style, inputs.responses[right].style}
        if chosen.style == ALL or styles == {chosen.style}:
            pairs.append((unit, names[left] != first))
    return sorted(pairs, key=lambda pair: (inputs.topics[inputs.main.units[pair[0]][2]], pair))


def _described(
    study: Study, inputs: Inputs, chosen: BoardSelection, pairs: list[tuple[int, bool]]
) -> list[dict[str, Any]]:
    """Describe pairs with their votes and gold labels on the selected dimension; over all dimensions, votes only."""
    pool = inputs.main
    sides = [inputs.sides(unit) for unit, _turned in pairs]
    ids = pair_ids(study, sides)
    names = {inputs.topics[pool.units[unit][2]] for unit, _turned in pairs}
    questions = value_labels.topics(study, names)
    gold = {
        (row["response_a"], row["response_b"]): row
        for row in stored_rows(
            chosen.run, "gold", "$[*] ? (@.dimension == $dimension && @.response_a == $left[*])",
            dimension=chosen.dimension, left=[left for left, _right in sides],
        )
    } if pairs else {}  # fmt: skip
    styles = chosen.labels["style"]
    described: list[dict[str, Any]] = []
    for (unit, is_turned), side in zip(pairs, sides, strict=True):
        left, right, topic, _item = pool.units[unit]
        responses = (right, left) if is_turned else (left, right)
        style_names = [styles.get(name, name) for name in (inputs.responses[index].style for index in responses)]
        described.append({
            "id": ids.get(side),
            "topic": inputs.topics[topic],
            "question": questions.get(inputs.topics[topic], ""),
            "styles": style_names[0] if style_names[0] == style_names[1] else " – ".join(style_names),
            "first_is_right": is_turned,
            "counts": _counts(inputs, chosen.dimension, unit, is_turned),
        } | _label(gold.get(side), is_turned))  # fmt: skip
    return described


def _counts(inputs: Inputs, dimension: str, unit: int, is_turned: bool) -> list[int]:
    """Count the judgments that preferred the first, neither, and the second."""
    pool = inputs.main
    chosen = (pool.unit == unit) & np.array(
        [each.is_preference and dimension in (ALL, each.name) for each in inputs.dimensions], dtype=bool
    )[pool.dimension]
    counts: list[int] = np.bincount(pool.value[chosen], minlength=len(LABELS)).tolist()[: len(LABELS)]
    return counts[::-1] if is_turned else counts


def _label(row: Row | None, is_turned: bool) -> dict[str, Any]:
    """Return the gold label from the first one's perspective, with its probability."""
    if row is None or not row["label"]:
        return {"winner": "", "probability": None}
    winner = {Label.A: "second" if is_turned else "first", Label.B: "first" if is_turned else "second"}
    return {"winner": winner.get(row["label"], "neither"), "probability": row[f"p_{row['label']}"]}
