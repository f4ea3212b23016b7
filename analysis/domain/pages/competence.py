"""Pages about those who judged: who can be trusted, and what one of them answered."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.core.paginator import Paginator

from analysis.stats.labels import LABELS
from annotation.models import Pair
from crowdrag.studies.models import Participant, Study

from .. import snapshots, tables
from ..analysing import State
from ..inputs import Inputs
from ..results.schema import Row
from . import words

PER_PAGE = 50


def participants(study: Study, state: State, *, text: str, sort: str, page: str | None) -> dict[str, Any]:
    """Return the table of participants, a page at a time, sorted by what is asked for."""
    if state.run is None:
        return {}
    rows = tables.read(state.run, "competence")["competence"]
    labels = words.dimensions(study)
    names = list(dict.fromkeys(row["dimension"] for row in rows))
    people = _people(rows, names)
    if text:
        people = [person for person in people if text.lower() in person["participant"].lower()]
    _sort(people, sort, names)
    shown = Paginator(people, PER_PAGE).get_page(page)
    ids = _ids(study, state, [person["participant"] for person in shown])
    for person in shown:
        person["id"] = ids.get(person["participant"])
    return {
        "page": shown,
        "dimensions": [(name, labels.get(name, name)) for name in names],
        "text": text,
        "threshold": state.run.parameters.get("spam_threshold", 0.7),
        "notes": _notes(rows, labels),
    }


def _notes(rows: list[Row], labels: dict[str, str]) -> list[tuple[str, str]]:
    """What could not be said, and of which dimension: each reason once a dimension."""
    undefined = [(str(row["note"]), str(row["dimension"])) for row in rows if "note" in row]
    return list(dict.fromkeys((reason, labels.get(name, name)) for reason, name in undefined))


def _people(rows: list[Row], names: list[str]) -> list[dict[str, Any]]:
    by_person: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_person.setdefault(row["participant"], {})[row["dimension"]] = row
    people = []
    for name, own in by_person.items():
        known = [row["spam_probability"] for row in own.values() if row["spam_probability"] is not None]
        people.append({
            "participant": name,
            "judgments": sum(row["judgments"] for row in own.values()),
            "mean": sum(known) / len(known) if known else None,
            "cells": [own[d]["spam_probability"] if d in own else None for d in names],
        })  # fmt: skip
    return people


def _sort(people: list[dict[str, Any]], sort: str, names: list[str]) -> None:
    """Sort by a column; who has no value in it comes last either way."""
    key, descending = sort.lstrip("-"), sort.startswith("-")
    if key in names:
        place = names.index(key)
        values = {id(person): person["cells"][place] for person in people}
    elif key in {"participant", "judgments", "mean"}:
        values = {id(person): person[key] for person in people}
    else:
        values, descending = {id(person): person["mean"] for person in people}, True
    people.sort(key=lambda person: person["participant"])
    there = [person for person in people if values[id(person)] is not None]
    there.sort(key=lambda person: values[id(person)], reverse=descending)
    people[:] = there + [person for person in people if values[id(person)] is None]


def _ids(study: Study, state: State, names: list[str]) -> dict[str, int]:
    """Row ids of participants by pseudonym, for links; of the kind that judged where two kinds share a pseudonym."""
    found = Participant.objects.filter(study=study, external_id__in=names, assignments__isnull=False).distinct()
    return dict(found.order_by("-id").values_list("external_id", "id"))


def participant(study: Study, state: State, person: Participant) -> dict[str, Any]:
    """Return one participant's judgments: by dimension, and pair by pair beside the gold label."""
    if state.run is None:
        return {}
    labels = words.dimensions(study)
    found = tables.read(state.run, "competence", "gold")
    own = [row for row in found["competence"] if row["participant"] == person.external_id]
    inputs = snapshots.inputs(state.run)
    answers = _answers(inputs, person.external_id, state.run.parameters.get("k"))
    pairs = {inputs.sides(unit) for unit, _dimension in answers}
    gold = {
        (row["response_a"], row["response_b"], row["dimension"]): row["label"]
        for row in found["gold"]
        if (row["response_a"], row["response_b"]) in pairs
    }
    dimensions = [row["dimension"] for row in own]
    listed = _pairs(study, inputs, answers, gold, dimensions)
    return {
        "summary": [
            row
            | {"label": labels.get(row["dimension"], row["dimension"])}
            | _tally([pair["cells"][place] for pair in listed])
            for place, row in enumerate(own)
        ],
        "dimensions": [(name, labels.get(name, name)) for name in dimensions],
        "pairs": listed,
        "threshold": state.run.parameters.get("spam_threshold", 0.7),
    }


def _answers(inputs: Inputs, name: str, k: int | None) -> dict[tuple[int, str], tuple[str, bool]]:
    """What a participant answered to each unit and dimension, and whether agreement is computed from it."""
    pool = inputs.main
    if name not in pool.participants:
        return {}
    own = np.flatnonzero(pool.coder == pool.participants.index(name))
    counted = pool.first_votes(k)
    return {
        (int(pool.unit[i]), inputs.dimensions[pool.dimension[i]].name): (LABELS[pool.value[i]], bool(counted[i]))
        for i in own
        if inputs.dimensions[pool.dimension[i]].is_preference
    }


def _pairs(
    study: Study,
    inputs: Inputs,
    answers: dict[tuple[int, str], tuple[str, bool]],
    gold: dict[tuple[str, str, str], str | None],
    dimensions: list[str],
) -> list[dict[str, Any]]:
    """The pairs that a participant judged, each with the answers in the order of the dimensions."""
    units = list(dict.fromkeys(unit for unit, _dimension in answers))
    sides = {unit: inputs.sides(unit) for unit in units}
    ids = pair_ids(study, list(sides.values()))
    return [
        {
            "id": ids.get(sides[unit]),
            "topic": inputs.topics[inputs.main.units[unit][2]],
            "cells": [_cell(answers.get((unit, name)), gold.get((*sides[unit], name))) for name in dimensions],
        }
        for unit in units
    ]


def _cell(answer: tuple[str, bool] | None, label: str | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    return {
        "answer": answer[0],
        "counted": answer[1],
        "gold": label,
        "agrees": label is not None and answer[0] == label,
    }


def _tally(cells: list[dict[str, Any] | None]) -> dict[str, Any]:
    """How often each answer was given, and how often it was the gold label."""
    given = [cell for cell in cells if cell is not None]
    labelled = [cell for cell in given if cell["gold"] is not None]
    agreeing = sum(cell["agrees"] for cell in labelled)
    return {
        **{f"count_{label}": sum(cell["answer"] == label for cell in given) for label in LABELS},
        "agrees": agreeing / len(labelled) if labelled else None,
        "labelled": len(labelled),
    }


def pair_ids(study: Study, sides: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Row ids of presented pairs by the ids of their responses, for links."""
    lefts = {left for left, _right in sides}
    rows = Pair.objects.filter(study=study, a__external_id__in=lefts).values_list(
        "a__external_id", "b__external_id", "id"
    )
    return {(left, right): pk for left, right, pk in rows}
