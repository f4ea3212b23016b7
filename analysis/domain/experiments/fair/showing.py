"""Some questions with what was said to them, so that one sees what the numbers are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.rag.fair.lists import List
from analysis.rag.fair.ranking import Ranked
from analysis.rag.shapes import Query

from ...results.schema import Row, number
from ..job import Job

#: So many questions are shown.
QUESTIONS = 5
#: The ranking of an answer without documents.
NONE = "none"


def drawn(
    query: Query,
    ranked: Sequence[Ranked],
    answers: Mapping[List, str],
    utilities: Mapping[List, float],
    rng: np.random.Generator,
) -> list[Row]:
    """Draw one list of each way of ranking, with what was answered to it; the more often sampled, the likelier."""
    found = []
    for one in ranked:
        chances = one.chosen.weight / one.chosen.weight.sum()
        each = one.chosen.items[int(rng.choice(len(chances), p=chances))]
        found.append(
            {
                "retriever": one.way.retriever,
                "rank": one.way.rank,
                "alpha": one.way.alpha,
                "documents": ", ".join(query.documents[place].id for place in each),
                "answer": answers[each],
                "utility": number(utilities[each]),
            }
        )
    return found


def examples(job: Job, labelled: Mapping[str, Any], ranked: Mapping[str, Any]) -> list[Row]:
    """The examples of some questions that take part, drawn with the run's seed, in the order of the data."""
    taking = [name for name, found in ranked.items() if "examples" in found]
    size = min(QUESTIONS, len(taking))
    places = job.rng("fair examples").choice(len(taking), size=size, replace=False) if size else ()
    return [row for place in sorted(places) for row in _of(job.by_id[taking[place]], labelled, ranked)]


def _of(query: Query, labelled: Mapping[str, Any], ranked: Mapping[str, Any]) -> Iterable[Row]:
    about: Row = {"query": query.id, "question": query.question, "gold": " / ".join(query.answers)}
    without = labelled[query.id]
    yield about | {
        "retriever": None, "rank": NONE, "alpha": None, "documents": None, "answer": without.get("said"),
        "utility": number(without["without"]),
    }  # fmt: skip
    for found in ranked[query.id]["examples"]:
        yield about | found
