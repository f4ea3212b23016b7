"""Page of one system: merits by dimension, best and worst responses, and results against others."""

from collections.abc import Mapping
from typing import Any

from crowdrag.studies.models import Study
from writing.models import Response

from ...tables import run_tables, value_labels
from ...tables.rows import Row
from ...tables.run_tables import AnalysisState
from .board_selection import BoardSelection, selection, stored_rows, turned
from .boards import PARTICIPANT
from .forest import forest
from .votes_by_judges import ALL

#: Number of best and of worst responses in the list.
LISTED = 5


class NoSystemError(LookupError):
    """The run ranks nobody with this name."""


def system_profile(study: Study, state: AnalysisState, *, name: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context of the page.

    Raises
    ------
    NoSystemError
        If the run's leaderboard has no such participant.
    """
    if state.run is None:
        raise NoSystemError
    chosen = selection(study, state.run, query)
    known = stored_rows(state.run, "leaderboard", "$[*] ? (@.kind == $kind && @.participant == $who)",
                        kind=PARTICIPANT, who=name)  # fmt: skip
    if not known:
        raise NoSystemError
    rows = chosen.profile(name)
    plot = forest([(row["merit"], row["low"], row["high"]) for row in rows])
    grades = graded_responses(study, chosen, name)
    return {
        "name": name,
        "kept": [("system", name)],
        "origin": known[0]["origin"],
        "origin_said": value_labels.origin(known[0]["origin"]),
        "selection": chosen,
        "chosen": chosen.in_words,
        "profile": {
            "rows": [
                row | {"label": chosen.labels["dimension"].get(row["dimension"], row["dimension"]), "mark": mark}
                for row, mark in zip(rows, plot.marks, strict=True)
            ],
            "ticks": plot.ticks,
        },
        "best": grades[:LISTED],
        "worst": grades[::-1][: min(LISTED, max(0, len(grades) - LISTED))],
        "graded": len(grades),
        "against": against(chosen, name),
    }


def against(chosen: BoardSelection, name: str) -> list[Row]:
    """Return the win rates of a participant against the others, in the order of their merit."""
    rows = [row for row in chosen.win_rates() if name in (row["participant_1"], row["participant_2"])]
    order = {row["participant"]: index for index, row in enumerate(chosen.merits())}
    from_side = [row if row["participant_1"] == name else turned(row) for row in rows]
    return sorted(from_side, key=lambda row: order.get(row["participant_2"], len(order)))


def graded_responses(study: Study, chosen: BoardSelection, name: str) -> list[dict[str, Any]]:
    """Return the responses of a participant by grade on the selected dimension, the best first.

    Over all dimensions, a grade is the mean and has no range. Grades range from 1 to the number of responses to the
    topic.
    """
    responses = Response.objects.filter(study=study, participant__external_id=name).with_people().defer("text")
    by_name = {response.external_id: response for response in responses if chosen.style in (ALL, response.style.name)}
    rows = run_tables.read(chosen.run, "grades")["grades"]
    sizes: dict[str, set[str]] = {}
    by_response: dict[str, list[Row]] = {}
    for row in rows:
        sizes.setdefault(row["topic"], set()).add(row["response"])
        if row["response"] in by_name and chosen.dimension in (ALL, row["dimension"]) and row["grade"] is not None:
            by_response.setdefault(row["response"], []).append(row)
    listed: list[dict[str, Any]] = [
        {
            "response": by_name[response],
            "grade": sum(row["grade"] for row in grades) / len(grades),
            "low": grades[0]["rank_low"] if chosen.dimension != ALL else None,
            "high": grades[0]["rank_high"] if chosen.dimension != ALL else None,
            "n": len(sizes[grades[0]["topic"]]),
        }
        for response, grades in by_response.items()
    ]
    return sorted(listed, key=lambda each: (-each["grade"] / each["n"], each["response"].external_id))
