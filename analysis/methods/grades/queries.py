"""Pages about grades: means by style and origin, and every response within its topic."""

from typing import Any

from django.core.paginator import Paginator

from crowdrag.studies.models import Study
from writing.models import Response

from ...tables import run_tables, value_labels
from ...tables.rows import Row
from ...tables.run_tables import AnalysisState
from .. import significance_marks, undefined_values
from ..leaderboard.compute import systems
from ..undefined_values import by_table
from .compute import informative

TOPICS_PER_PAGE = 10


def grades(study: Study, state: AnalysisState, *, topic: str, page: str | None) -> dict[str, Any]:
    """Return the means, and the grades of some topics' responses."""
    if state.run is None:
        return {}
    tables = run_tables.read(state.run, "grade_means", "grades", "grade_tests", "leaderboard")
    labels, styles = value_labels.dimensions(study), value_labels.styles(study)
    dimensions = list(dict.fromkeys(row["dimension"] for row in tables["grades"]))
    topics = list(dict.fromkeys(row["topic"] for row in tables["grades"]))
    chosen = [topic] if topic in topics else topics
    shown = Paginator(chosen, TOPICS_PER_PAGE).get_page(page)
    tests = significance_marks.tests(tables["grade_tests"], labels, styles)
    return {
        "means": _means(
            informative(tables["grade_means"]), labels, styles, significance_marks.marks(tables["grade_tests"], styles)
        ),
        "systems": _systems(systems(tables["leaderboard"]), labels),
        "no_intervals": undefined_values.without_intervals(tables),
        "notes": by_table(tables, tables),
        "tests": [row for row in tests if row["p"] is not None],
        "untested": sum(row["p"] is None for row in tests),
        "significant": any(row["p_adjusted"] is not None for row in tables["grade_tests"]),
        "dimensions": [(name, labels.get(name, name)) for name in dimensions],
        "topics": list(value_labels.topics(study, topics).items()),
        "topic": topic if topic in topics else "",
        "page": shown,
        "groups": _groups(study, tables["grades"], list(shown), dimensions),
        "scale": max((row["grade"] for row in tables["grades"]), default=0),
        # Responses with equal merits share a grade, which may then be a half.
        "digits": int(any(row["grade"] % 1 for row in tables["grades"])),
    }


def _means(
    rows: list[Row], labels: dict[str, str], styles: dict[str, str], marks: significance_marks.Marks
) -> dict[str, Any]:
    """Rows by dimension, a cell for each style and origin: the layout of crowdrag25, Table 7."""
    keys = list(dict.fromkeys((row["style"], row["origin"]) for row in rows))
    cells = {
        key: row | {"sorts": repr(row["mean"])} | marks.get(key, {})
        for row in rows
        for key in [(row["dimension"], row["style"], row["origin"])]
    }
    names = list(dict.fromkeys(row["dimension"] for row in rows))
    return {
        "columns": [(styles.get(style, style), value_labels.origin(origin)) for style, origin in keys],
        "rows": [
            {
                "label": value_labels.ALL if name == value_labels.ALL else labels.get(name, name),
                "is_all": name == value_labels.ALL,
                "cells": [cells.get((name, *key)) for key in keys],
            }
            for name in names
        ],
    }


def _systems(rows: list[Row], labels: dict[str, str]) -> dict[str, Any]:
    """Rows by system, a cell for each dimension, all of them first."""
    dimensions = sorted(dict.fromkeys(row["dimension"] for row in rows), key=lambda name: name != value_labels.ALL)
    cells = {(row["kind"], row["participant"], row["dimension"]): row for row in rows}
    return {
        "columns": [
            str(value_labels.EVERY_DIMENSION) if name == value_labels.ALL else labels.get(name, name)
            for name in dimensions
        ],
        "rows": [
            {
                "name": value_labels.system(row),
                "origin": row["origin"],
                "origin_said": value_labels.origin(row["origin"]),
                "cells": [cells.get((row["kind"], row["participant"], name)) for name in dimensions],
            }
            for row in rows
            if row["dimension"] == value_labels.ALL
        ],
    }


def _groups(study: Study, rows: list[Row], topics: list[str], dimensions: list[str]) -> list[dict[str, Any]]:
    """The responses of each topic with their grades, in the order of the dimensions."""
    by_topic: dict[str, dict[str, dict[str, Row]]] = {name: {} for name in topics}
    for row in rows:
        if row["topic"] in by_topic:
            by_topic[row["topic"]].setdefault(row["response"], {})[row["dimension"]] = row
    names = [name for responses in by_topic.values() for name in responses]
    graded_responses = Response.objects.filter(study=study, external_id__in=names).with_people()
    about = {response.external_id: response for response in graded_responses}
    groups = []
    for topic, responses in by_topic.items():
        members: list[dict[str, Any]] = [
            {
                "response": about[name],
                "cells": [by_dimension.get(dimension) for dimension in dimensions],
                "mean": _mean(by_dimension),
            }
            for name, by_dimension in responses.items()
            if name in about
        ]
        members.sort(key=lambda member: -member["mean"])
        query = members[0]["response"].topic.query if members else ""
        groups.append({"topic": topic, "query": query, "members": members})
    return groups


def _mean(by_dimension: dict[str, Row]) -> float:
    return float(sum(row["grade"] for row in by_dimension.values()) / len(by_dimension))
