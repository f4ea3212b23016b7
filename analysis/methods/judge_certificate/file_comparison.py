"""The alternative annotator test on files, without a study."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import crowdrag
from analysis.stats import alternative_annotator
from analysis.stats.alternative_annotator import (
    FALSE_DISCOVERY_RATE,
    MIN_ITEMS,
    MIN_PEOPLE,
    AlternativeAnnotatorTest,
    Scoring,
)
from analysis.stats.bootstrap import Floats

from ...inputs.arrays import Ints
from ...tables.rows import number
from .annotation_files import EXAMPLES, AnnotationFile


@dataclass(frozen=True, eq=False)
class Coded:
    """People's labels as arrays (see `alternative_annotator_test`), and the codes of labels and items."""

    item: Ints
    annotator: Ints
    value: Floats
    items: dict[str, int]
    codes: dict[Hashable, int]

    @classmethod
    def of(cls, people: AnnotationFile, scoring: Scoring) -> Coded:
        """Number the items and, for accuracy, the labels. Equal labels have one code: 1 and 1.0, but not 1 and "1"."""
        items: dict[str, int] = {}
        codes: dict[Hashable, int] = {}
        judgments = [
            (items.setdefault(item, len(items)), index, _code(label, codes, scoring))
            for index, labels in enumerate(people.labels.values())
            for item, label in labels.items()
        ]
        item, annotator, value = zip(*judgments, strict=True)
        return cls(np.array(item), np.array(annotator), np.array(value, dtype=np.float64), items, codes)


def _code(label: Hashable, codes: dict[Hashable, int], scoring: Scoring) -> float:
    return float(codes.setdefault(label, len(codes)) if scoring is Scoring.ACCURACY else label)  # type: ignore[arg-type] # a number, by `_label`


def compare(people: AnnotationFile, judges: AnnotationFile, *, scoring: Scoring, epsilon: float) -> dict[str, Any]:
    """Test each judge, and return the content of `alt_test.json` (docs/methods/judge-certificate.md).

    The same files give the same content. Undefined numbers are None.

    Raises
    ------
    ValueError
        If epsilon is not between 0 and 1.
    """
    coded = Coded.of(people, scoring)
    return {
        "scoring": scoring.value,
        "epsilon": epsilon,
        "q": FALSE_DISCOVERY_RATE,
        "min_people_per_item": MIN_PEOPLE,
        "min_items_per_annotator": MIN_ITEMS,
        "version": crowdrag.__version__,
        "people": {
            **_about(people),
            "annotators": len(people.labels),
            "items": len(coded.items),
            "labels": int(coded.item.size),
        },
        "judges": {**_about(judges), "judges": len(judges.labels)},
        "rows": [
            _row(name, labels, coded, list(people.labels), scoring=scoring, epsilon=epsilon)
            for name, labels in judges.labels.items()
        ],
        "set_aside": [asdict(row) for row in (*people.set_aside, *judges.set_aside)],
    }


def _about(file: AnnotationFile) -> dict[str, str]:
    return {"file": file.name, "sha256": file.sha256}


def _row(
    judge: str,
    labels: dict[str, Hashable],
    coded: Coded,
    annotators: list[str],
    *,
    scoring: Scoring,
    epsilon: float,
) -> dict[str, Any]:
    codes = dict(coded.codes)
    by_judge = np.full(len(coded.items), np.nan)
    others = []
    for item, label in labels.items():
        if item in coded.items:
            by_judge[coded.items[item]] = _code(label, codes, scoring)
        else:
            others.append(item)
    tested = alternative_annotator.alternative_annotator_test(
        coded.item,
        coded.annotator,
        coded.value,
        by_judge,
        scoring=scoring,
        epsilon=epsilon,
    )
    by_name = {annotators[comparison.annotator]: comparison for comparison in tested.comparisons}
    people = np.bincount(coded.item, minlength=by_judge.size)
    without_judge = [item for item, index in coded.items.items() if np.isnan(by_judge[index])]
    with_few = [
        item for item, index in coded.items.items() if people[index] < MIN_PEOPLE and not np.isnan(by_judge[index])
    ]
    return {
        "judge": judge,
        "winning_rate": number(tested.winning_rate),
        "advantage_probability": number(tested.advantage_probability),
        "passes": tested.passes,
        "items": tested.items,
        "p_values": {name: number(comparison.p) for name, comparison in by_name.items()},
        "adjusted_p_values": {name: comparison.adjusted_p for name, comparison in by_name.items()},
        "wins": [name for name, comparison in by_name.items() if comparison.wins],
        "annotators": {
            name: {
                "items": comparison.items,
                "judge_advantage": comparison.judge,
                "annotator_advantage": comparison.person,
            }
            for name, comparison in by_name.items()
        },
        "dropped": {
            "items_without_judge": _listed(without_judge),
            "items_with_few_people": _listed(with_few),
            "items_of_judge_only": _listed(others),
            "annotators_with_few_items": {annotators[index]: items for index, items in tested.too_few_items}
            | {name: 0 for index, name in enumerate(annotators) if not np.any(coded.annotator == index)},
        },
        "notes": _notes(tested, by_judge, coded, scoring),
    }


def _listed(items: list[str]) -> dict[str, Any]:
    return {"count": len(items), "examples": items[:EXAMPLES]}


def _notes(tested: AlternativeAnnotatorTest, by_judge: Floats, coded: Coded, scoring: Scoring) -> list[str]:
    """Say why a result is missing, or needs care."""
    notes = []
    compared = len(tested.comparisons)
    if not compared:
        notes.append(
            f"Nobody could be compared with the judge: nobody has {MIN_ITEMS} items that the judge and at least one "
            "other person labelled too. Let people label more of the same items."
        )
    elif compared < alternative_annotator.RECOMMENDED_PEOPLE:
        notes.append(
            f"Only {compared} {'person was' if compared == 1 else 'people were'} compared with the judge. The test is "
            f"less reliable with fewer than {alternative_annotator.RECOMMENDED_PEOPLE}."
        )
    if any(np.isnan(comparison.p) for comparison in tested.comparisons):
        notes.append("A p-value is undefined where the difference is epsilon on every item. It counts as 1.")
    if scoring is Scoring.ACCURACY:
        known = by_judge[~np.isnan(by_judge)] < len(coded.codes)
        if known.size and not known.any():
            notes.append(
                "No label of the judge was given by any person, so they never agree. Check that both files write "
                'labels in the same way: 1 and "1" are different labels.'
            )
    return notes
