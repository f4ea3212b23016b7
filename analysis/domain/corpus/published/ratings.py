"""The published labels: each pair's votes with the competence of who cast them, and the label that they give.

They are the results of the study's latest finished analysis, of exactly the votes that it used (its snapshot).
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.campaigns.default_dimensions import NAMES
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ....models import Table
from ... import analysing, inputs

LETTERS = ("A", "N", "B")
CROWD = "crowd"
Row = dict[str, Any]


@dataclass(frozen=True)
class Analysis:
    """A finished analysis and what it used."""

    run: Run
    inputs: inputs.Inputs

    def as_json(self) -> Row:
        """Return what the manifest says of it."""
        run = self.run
        return {
            "finished_at": run.finished_at.isoformat() if run.finished_at else None,
            "code_version": run.code_version,
            "inputs_digest": run.inputs_digest,
            "parameters": run.parameters,
            "seed": run.seed,
            "stale": run.stale_reason or None,
        }


def latest(study: Study) -> Analysis | None:
    """Return the study's latest finished analysis of the crowd's judgments, or None where there is none."""
    runs = Run.objects.filter(study=study, kind=analysing.KIND, state=RunState.DONE, snapshot__pool=CROWD)
    run = runs.filter(tables__name="gold", snapshot__judgments__gt=0).select_related("snapshot").newest_first().first()
    return None if run is None else Analysis(run, inputs.unpack(bytes(run.snapshot.payload)))


def rows(analysis: Analysis, questionnaires: dict[tuple[str, str], str], released: set[str]) -> Iterator[Row]:
    """Yield each presented pair of released responses with its votes and labels."""
    taken = analysis.inputs
    pool = taken.main
    gold = _gold(analysis.run)
    spam = {
        (row["participant"], row["dimension"]): row["spam_probability"] for row in _table(analysis.run, "competence")
    }
    # Other pools may ask a dimension of the same name with other options.
    dimensions = {n: taken.dimensions[n] for n in np.unique(pool.dimension).tolist()}
    dimensions = {n: dimension for n, dimension in dimensions.items() if dimension.name in NAMES}
    first = np.flatnonzero(pool.first_votes())
    votes: dict[int, list[int]] = defaultdict(list)
    for place in first.tolist():
        votes[int(pool.unit[place])].append(place)
    for unit, (left, right, topic, _item) in enumerate(pool.units):
        if left < 0 or right < 0 or unit not in votes:
            continue
        a, b = taken.responses[left].name, taken.responses[right].name
        if a not in released or b not in released:
            continue
        cast: dict[int, dict[int, int]] = defaultdict(dict)  # dimension -> who -> which answer
        for place in votes[unit]:
            cast[int(pool.dimension[place])][int(pool.coder[place])] = int(pool.value[place])
        who = list(dict.fromkeys(coder for each in cast.values() for coder in each))
        row: Row = {
            "submission_id": questionnaires.get((a, b)),
            "query_id": taken.topics[topic],
            "response_a": a,
            "response_b": b,
            "worker": [pool.participants[coder] for coder in who],
        }
        for n, dimension in dimensions.items():
            answers = [cast[n].get(coder) for coder in who]
            row[f"{dimension.name}_vote"] = [None if answer is None else LETTERS[answer] for answer in answers]
            row[f"{dimension.name}_spam_probability"] = [
                spam.get((pool.participants[coder], dimension.name)) for coder in who
            ]
            row |= _labels(dimension, gold.get((a, b, dimension.name)))
        yield row


def _labels(dimension: inputs.Dimension, label: Row | None) -> Row:
    found = {f"{dimension.name}_p_{letter}": label[f"p_{letter}"] if label else None for letter in "anb"}
    if 0 not in dimension.values:
        del found[f"{dimension.name}_p_n"]  # nobody could answer so
    return found | {f"{dimension.name}_gold": label["label"] if label else None}


def _gold(run: Run) -> dict[tuple[str, str, str], Row]:
    return {(row["response_a"], row["response_b"], row["dimension"]): row for row in _table(run, "gold")}


def _table(run: Run, name: str) -> list[Row]:
    found = Table.objects.filter(run=run, name=name).first()
    return found.rows if found else []
