"""Pages about presented pairs: the label of each, and the votes behind it."""

from typing import Any

import numpy as np
from django.core.paginator import Paginator

from analysis.enums import Label
from analysis.stats.labels import LABELS
from annotation.models import Pair
from crowdrag.studies.models import Participant, Study
from writing.corpus import queries
from writing.models import Response

from .. import snapshots, tables
from ..analysing import State
from ..inputs import Inputs
from ..results.schema import Row
from . import words
from .competence import pair_ids

PER_PAGE = 50

#: Left response, right response, dimension.
Question = tuple[str, str, str]


def pairs(
    study: Study, state: State, *, topic: str, dimension: str, label: str, sort: str, page: str | None
) -> dict[str, Any]:
    """Return labels of pairs that pass the filters, a page at a time."""
    if state.run is None:
        return {}
    rows = tables.read(state.run, "gold")["gold"]
    labels = words.dimensions(study)
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
    shown = Paginator(kept, PER_PAGE).get_page(page)
    sides = [(row["response_a"], row["response_b"]) for row in shown]
    ids = pair_ids(study, sides)
    names = _names(study, sides)
    wanted = {(*side, row["dimension"]) for side, row in zip(sides, shown, strict=True)}
    counts = _counts(inputs, wanted)
    return {
        "page": shown,
        "rows": [
            row
            | {
                "id": ids.get(side),
                "names": [names.get(name, name) for name in side],
                "topic": topic_of[row["response_a"]],
                "dimension_label": labels.get(row["dimension"], row["dimension"]),
                "counts": counts.get((*side, row["dimension"]), (0, 0, 0)),
                "certainty": _certainty(row) if row["label"] else None,
                "label_name": Label(row["label"]).label if row["label"] else "",
            }
            for side, row in zip(sides, shown, strict=True)
        ],
        "topics": topics,
        "dimensions": [(name, labels.get(name, name)) for name in dimensions],
        "labels": Label.choices,
        "topic": topic,
        "dimension": dimension,
        "label": label,
    }


def _names(study: Study, sides: list[tuple[str, str]]) -> dict[str, str]:
    """What responses are called, by their ids."""
    wanted = {name for side in sides for name in side}
    found = Response.objects.filter(study=study, external_id__in=wanted).with_people().defer("text")
    return {response.external_id: response.label for response in found}


def _certainty(row: Row) -> float:
    return max((row[f"p_{label}"] or 0.0) for label in LABELS)


def _counts(inputs: Inputs, wanted: set[Question]) -> dict[Question, tuple[int, int, int]]:
    """How often a, n and b were answered, for some pairs and dimensions."""
    pool = inputs.main
    unit_of = {inputs.sides(i): i for i in range(len(pool.units))}
    place_of = {inputs.dimensions[place].name: place for place in np.unique(pool.dimension).tolist()}
    found = {}
    # Judgments stand in the order of dimension and unit, so that those of one question lie together.
    key = pool.dimension * len(pool.units) + pool.unit
    for left, right, dimension in wanted:
        question = place_of[dimension] * len(pool.units) + unit_of[left, right]
        first, last = np.searchsorted(key, [question, question + 1])
        a, n, b = np.bincount(pool.value[first:last], minlength=len(LABELS)).tolist()
        found[left, right, dimension] = (a, n, b)
    return found


def pair(study: Study, state: State, pair: Pair) -> dict[str, Any]:
    """Return the two responses of a pair, and by dimension who answered what, how trusted they are, and the label."""
    context: dict[str, Any] = {"sides": _sides(pair), "questions": []}
    if state.run is None:
        return context
    left, right = pair.a.external_id, pair.b.external_id
    table = tables.of(state.run, "gold")
    gold = table.rows_where("$[*] ? (@.response_a == $a && @.response_b == $b)", a=left, b=right)
    votes = _votes(snapshots.inputs(state.run), left, right, state.run.parameters.get("k"))
    people = sorted({vote["participant"] for own in votes.values() for vote in own})
    spam = {
        (row["participant"], row["dimension"]): row["spam_probability"]
        for row in tables.of(state.run, "competence").rows_where("$[*] ? (@.participant == $who[*])", who=people)
    }
    known = Participant.objects.filter(study=study, external_id__in=people, assignments__isnull=False).distinct()
    ids = dict(known.order_by("-id").values_list("external_id", "id"))
    labels = words.dimensions(study)
    for row in gold:
        name = row["dimension"]
        own = [
            vote | {"competence": _competence(spam.get((who := vote["participant"], name))), "id": ids.get(who)}
            for vote in votes.get(name, [])
        ]
        counts = [sum(vote["answer"] == label for vote in own) for label in LABELS]
        context["questions"].append(
            row | {"label_name": _label_name(row), "title": labels.get(name, name), "votes": own, "counts": counts}
        )
    context["reverse"] = Pair.objects.filter(a=pair.b, b=pair.a).first()
    context["threshold"] = state.run.parameters.get("spam_threshold", 0.7)
    return context


def _competence(spam_probability: float | None) -> float | None:
    return None if spam_probability is None else 1 - spam_probability


def _label_name(row: Row) -> str:
    return str(Label(row["label"]).label) if row["label"] else ""


def _votes(inputs: Inputs, left: str, right: str, k: int | None) -> dict[str, list[dict[str, Any]]]:
    """The votes of one presented pair by dimension, as the run used them."""
    pool = inputs.main
    unit = next((i for i in range(len(pool.units)) if inputs.sides(i) == (left, right)), None)
    counted = pool.first_votes(k)
    votes: dict[str, list[dict[str, Any]]] = {}
    for i in np.flatnonzero(pool.unit == unit) if unit is not None else []:
        dimension = inputs.dimensions[pool.dimension[i]]
        vote = {
            "participant": pool.participants[pool.coder[i]],
            "answer": LABELS[pool.value[i]],
            "counted": bool(counted[i]),
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
