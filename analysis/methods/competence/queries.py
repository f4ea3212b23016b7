"""Pages about judges and presented pairs: competences, gold labels and votes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.core.paginator import Paginator

from analysis.enums import Label
from analysis.stats.labels import LABELS
from annotation.models import Pair
from crowdrag.studies.models import Participant, Study
from writing.corpus import queries
from writing.models import Response

from ...inputs import snapshots
from ...inputs.arrays import COMBINED, EXPERT, INDIVIDUAL, Inputs
from ...tables import run_tables, value_labels
from ...tables.rows import Row
from ...tables.run_tables import AnalysisState

PARTICIPANTS_PER_PAGE = 50
#: Kinds of judges whose votes are shown next to those of the analysed judges on the page of a pair.
OTHER_JUDGES = {
    EXPERT: "expert",
    COMBINED: "language model, all dimensions at once",
    INDIVIDUAL: "language model, one dimension at a time",
}


def participants(study: Study, state: AnalysisState, *, text: str, sort: str, page: str | None) -> dict[str, Any]:
    """Return a page of the table of participants, sorted as requested."""
    if state.run is None:
        return {}
    rows = run_tables.read(state.run, "competence")["competence"]
    labels = value_labels.dimensions(study)
    names = list(dict.fromkeys(row["dimension"] for row in rows))
    people = _people(rows, names)
    if text:
        people = [person for person in people if text.lower() in person["participant"].lower()]
    _sort(people, sort, names)
    shown = Paginator(people, PARTICIPANTS_PER_PAGE).get_page(page)
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
    """Return each reason why values are undefined, once for each dimension."""
    undefined = [(str(row["note"]), str(row["dimension"])) for row in rows if "note" in row]
    return list(dict.fromkeys((reason, labels.get(name, name)) for reason, name in undefined))


def _people(rows: list[Row], names: list[str]) -> list[dict[str, Any]]:
    by_person: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_person.setdefault(row["participant"], {})[row["dimension"]] = row
    people = []
    for name, by_dimension in by_person.items():
        known = [row["spam_probability"] for row in by_dimension.values() if row["spam_probability"] is not None]
        people.append({
            "participant": name,
            "judgments": sum(row["judgments"] for row in by_dimension.values()),
            "mean": sum(known) / len(known) if known else None,
            "cells": [by_dimension[d]["spam_probability"] if d in by_dimension else None for d in names],
        })  # fmt: skip
    return people


def _sort(people: list[dict[str, Any]], sort: str, names: list[str]) -> None:
    """Sort by a column; participants without a value come last in both directions."""
    key, descending = sort.lstrip("-"), sort.startswith("-")
    if key in names:
        column = names.index(key)
        values = {id(person): person["cells"][column] for person in people}
    elif key in {"participant", "judgments", "mean"}:
        values = {id(person): person[key] for person in people}
    else:
        values, descending = {id(person): person["mean"] for person in people}, True
    people.sort(key=lambda person: person["participant"])
    with_value = [person for person in people if values[id(person)] is not None]
    with_value.sort(key=lambda person: values[id(person)], reverse=descending)
    people[:] = with_value + [person for person in people if values[id(person)] is None]


def _ids(study: Study, state: AnalysisState, names: list[str]) -> dict[str, int]:
    """Return participants' primary keys by pseudonym, for links.

    If participants of two kinds share a pseudonym, take the kind that judged.
    """
    participants = Participant.objects.filter(study=study, external_id__in=names, assignments__isnull=False).distinct()
    return dict(participants.order_by("-id").values_list("external_id", "id"))


def participant(study: Study, state: AnalysisState, person: Participant) -> dict[str, Any]:
    """Return the judgments of one participant by dimension, and pair by pair with the gold labels."""
    if state.run is None:
        return {}
    labels = value_labels.dimensions(study)
    tables = run_tables.read(state.run, "competence", "gold")
    competence_rows = [row for row in tables["competence"] if row["participant"] == person.external_id]
    inputs = snapshots.inputs(state.run)
    answers = _answers(inputs, person.external_id, state.run.parameters.get("k"))
    pairs = {inputs.sides(unit) for unit, _dimension in answers}
    gold = {
        (row["response_a"], row["response_b"], row["dimension"]): row["label"]
        for row in tables["gold"]
        if (row["response_a"], row["response_b"]) in pairs
    }
    dimensions = [row["dimension"] for row in competence_rows]
    listed = _pairs(study, inputs, answers, gold, dimensions)
    return {
        "summary": [
            row
            | {"label": labels.get(row["dimension"], row["dimension"])}
            | _tally([pair["cells"][column] for pair in listed])
            for column, row in enumerate(competence_rows)
        ],
        "dimensions": [(name, labels.get(name, name)) for name in dimensions],
        "pairs": listed,
        "threshold": state.run.parameters.get("spam_threshold", 0.7),
    }


def _answers(inputs: Inputs, name: str, k: int | None) -> dict[tuple[int, str], tuple[str, bool]]:
    """Return a participant's answers by unit and dimension, and whether they count towards agreement."""
    pool = inputs.main
    if name not in pool.participants:
        return {}
    judgments = np.flatnonzero(pool.coder == pool.participants.index(name))
    counted = pool.first_votes(k)
    return {
        (int(pool.unit[i]), inputs.dimensions[pool.dimension[i]].name): (LABELS[pool.value[i]], bool(counted[i]))
        for i in judgments
        if inputs.dimensions[pool.dimension[i]].is_preference
    }


def _pairs(
    study: Study,
    inputs: Inputs,
    answers: dict[tuple[int, str], tuple[str, bool]],
    gold: dict[tuple[str, str, str], str | None],
    dimensions: list[str],
) -> list[dict[str, Any]]:
    """Return the pairs that a participant judged, each with the answers in the order of the dimensions."""
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
    """Count each answer, and how often it was the gold label."""
    answered = [cell for cell in cells if cell is not None]
    labelled = [cell for cell in answered if cell["gold"] is not None]
    agreeing = sum(cell["agrees"] for cell in labelled)
    return {
        **{f"count_{label}": sum(cell["answer"] == label for cell in answered) for label in LABELS},
        "agrees": agreeing / len(labelled) if labelled else None,
        "labelled": len(labelled),
    }


def pair_ids(study: Study, sides: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the primary keys of presented pairs by their response IDs, for links."""
    lefts = {left for left, _right in sides}
    rows = Pair.objects.filter(study=study, a__external_id__in=lefts).values_list(
        "a__external_id", "b__external_id", "id"
    )
    return {(left, right): pk for left, right, pk in rows}


PAIRS_PER_PAGE = 50

#: Left response, right response, dimension.
Question = tuple[str, str, str]


def pairs(
    study: Study, state: AnalysisState, *, topic: str, dimension: str, label: str, sort: str, page: str | None
) -> dict[str, Any]:
    """Return a page of the labels of pairs that pass the filters."""
    if state.run is None:
        return {}
    rows = run_tables.read(state.run, "gold")["gold"]
    labels = value_labels.dimensions(study)
    inputs = snapshots.inputs(state.run)
    topic_of = {response.name: response.topic for response in inputs.responses}
    dimensions = list(dict.fromkeys(row["dimension"] for row in rows))
    topics = sorted({topic_of[row["response_a"]] for row in rows})
    kept = [
        row
        for row in rows
        if (not topic or topic_of[row["response_a"]] == topic)
        and (not dimension or row["dimension"] == dimension)
        and (not label or row["label"] == label)
    ]
    if sort in {"certainty", "-certainty"}:
        kept.sort(key=_certainty, reverse=sort.startswith("-"))
    shown = Paginator(kept, PAIRS_PER_PAGE).get_page(page)
    sides = [(row["response_a"], row["response_b"]) for row in shown]
    ids = pair_ids(study, sides)
    names = _names(study, sides)
    questions = {(*side, row["dimension"]) for side, row in zip(sides, shown, strict=True)}
    counts = _counts(inputs, questions)
    queries = value_labels.topics(study, topics)
    return {
        "page": shown,
        "rows": [
            row
            | {
                "id": ids.get(side),
                "names": [names.get(name, name) for name in side],
                "topic": queries[topic_of[row["response_a"]]],
                "dimension_label": labels.get(row["dimension"], row["dimension"]),
                "counts": counts.get((*side, row["dimension"]), (0, 0, 0)),
                "certainty": _certainty(row) if row["label"] else None,
                "label_name": Label(row["label"]).label if row["label"] else "",
            }
            for side, row in zip(sides, shown, strict=True)
        ],
        "topics": list(queries.items()),
        "dimensions": [(name, labels.get(name, name)) for name in dimensions],
        "labels": Label.choices,
        "topic": topic,
        "dimension": dimension,
        "label": label,
    }


def _names(study: Study, sides: list[tuple[str, str]]) -> dict[str, str]:
    """Return the display names of responses by ID."""
    response_names = {name for side in sides for name in side}
    responses = Response.objects.filter(study=study, external_id__in=response_names).with_people().defer("text")
    return {response.external_id: response.label for response in responses}


def _certainty(row: Row) -> float:
    return max((row[f"p_{label}"] or 0.0) for label in LABELS)


def _counts(inputs: Inputs, questions: set[Question]) -> dict[Question, tuple[int, int, int]]:
    """Count the answers A, N and B for some pairs and dimensions."""
    pool = inputs.main
    unit_of = {inputs.sides(i): i for i in range(len(pool.units))}
    place_of = {inputs.dimensions[index].name: index for index in np.unique(pool.dimension).tolist()}
    counts = {}
    # Judgments are sorted by dimension and unit, so those of one question are adjacent.
    key = pool.dimension * len(pool.units) + pool.unit
    for left, right, dimension in questions:
        question = place_of[dimension] * len(pool.units) + unit_of[left, right]
        first, last = np.searchsorted(key, [question, question + 1])
        a, n, b = np.bincount(pool.value[first:last], minlength=len(LABELS)).tolist()
        counts[left, right, dimension] = (a, n, b)
    return counts


def pair(study: Study, state: AnalysisState, pair: Pair) -> dict[str, Any]:
    """Return the two responses of a pair, and for each dimension the votes, the voters' competences and the label."""
    context: dict[str, Any] = {"sides": _sides(pair), "questions": []}
    if state.run is None:
        return context
    left, right = pair.a.external_id, pair.b.external_id
    table = run_tables.stored_table(state.run, "gold")
    gold = table.rows_where("$[*] ? (@.response_a == $a && @.response_b == $b)", a=left, b=right)
    votes = _votes(snapshots.inputs(state.run), left, right, state.run.parameters.get("k"))
    people = sorted({vote["participant"] for dimension_votes in votes.values() for vote in dimension_votes})
    spam = {
        (row["participant"], row["dimension"]): row["spam_probability"]
        for row in run_tables.stored_table(state.run, "competence").rows_where(
            "$[*] ? (@.participant == $who[*])", who=people
        )
    }
    known = Participant.objects.filter(study=study, external_id__in=people, assignments__isnull=False).distinct()
    ids = dict(known.order_by("-id").values_list("external_id", "id"))
    labels = value_labels.dimensions(study)
    for row in gold:
        name = row["dimension"]
        dimension_votes = [
            vote
            if vote["judges"]
            else vote
            | {"competence": _competence(spam.get((vote["participant"], name))), "id": ids.get(vote["participant"])}
            for vote in votes.get(name, [])
        ]
        counts = [sum(vote["answer"] == label and not vote["judges"] for vote in dimension_votes) for label in LABELS]
        context["questions"].append(
            row
            | {
                "label_name": _label_name(row),
                "title": labels.get(name, name),
                "votes": dimension_votes,
                "counts": counts,
            }
        )
    context["reverse"] = Pair.objects.filter(a=pair.b, b=pair.a).first()
    context["threshold"] = state.run.parameters.get("spam_threshold", 0.7)
    return context


def _competence(spam_probability: float | None) -> float | None:
    return None if spam_probability is None else 1 - spam_probability


def _label_name(row: Row) -> str:
    return str(Label(row["label"]).label) if row["label"] else ""


def _votes(inputs: Inputs, left: str, right: str, k: int | None) -> dict[str, list[dict[str, Any]]]:
    """Return the votes on a presented pair by dimension, as the run used them: the analysed judges first, then others.

    `judges` names the other kinds of judges; it is empty for the analysed judges, who alone determine the gold label.
    """
    names = {response.name: index for index, response in enumerate(inputs.responses)}
    sides = (names.get(left), names.get(right))
    others = {name: label for name, label in OTHER_JUDGES.items() if name in inputs.pools and name != inputs.pool}
    votes: dict[str, list[dict[str, Any]]] = {}
    for name, label in {inputs.pool: "", **others}.items():
        pool = inputs.pools[name]
        counted = pool.first_votes(k)
        units = [index for index, unit in enumerate(pool.units) if unit[:2] == sides]
        for i in np.flatnonzero(np.isin(pool.unit, units)):
            dimension = inputs.dimensions[pool.dimension[i]]
            if not dimension.is_preference:
                continue
            vote = {
                "participant": pool.participants[pool.coder[i]],
                "answer": LABELS[pool.value[i]],
                "counted": bool(counted[i]) or bool(label),
                "judges": label,
            }
            votes.setdefault(dimension.name, []).append(vote)
    return votes


def _sides(pair: Pair) -> list[dict[str, Any]]:
    responses = queries.with_statements(Response.objects.filter(id__in=[pair.a_id, pair.b_id]).with_people())
    by_id = {response.pk: response for response in responses}
    return [
        {"label": label, "response": by_id[pk], "spans": queries.citation_spans(by_id[pk])}
        for label, pk in (("A", pair.a_id), ("B", pair.b_id))
    ]
