"""Cases that can be read (the paper's Table 4): a question, its right answers, and what each method made of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from analysis.rag.uplift.labels import METRICS

from ...results.schema import NOTE, Row
from .outcomes import Outcomes

#: Questions, drawn by the run's seed: with all methods some hundred rows.
MOST = 10
BETWEEN = " | "
OF_PEOPLE = "the right answers are responses of this study, and stand there"


def examples(of: Outcomes, methods: Iterable[str], rng: np.random.Generator, *, of_people: bool) -> list[Row]:
    """Rows of some questions, in the collection's order, a row for each method that answered.

    Parameters
    ----------
    of : Outcomes
    methods : iterable of str
    rng : numpy.random.Generator
        Draws the questions: none is chosen for what came of it.
    of_people : bool
        Whether right answers are people's responses: these are not repeated in a table, which may be released where a
        response is not.

    Returns
    -------
    list of dict
        `helpful` are the documents that help alone, `documents` those that the method handed over, in its order.
    """
    names = list(methods)
    places = sorted(rng.choice(len(of.queries), size=min(MOST, len(of.queries)), replace=False).tolist())
    rows: list[Row] = []
    for place in places:
        one, said = of.labelled[place], of.answered[place]
        helpful = [each.id for each, helps in zip(one.documents, one.helpful, strict=True) if helps]
        about: Row = {
            "query": one.query.id,
            "question": one.query.question,
            "answers": "" if of_people else BETWEEN.join(one.query.answers),
            "helpful": BETWEEN.join(helpful),
        }
        for name in names:
            if "text" not in said.get(name, {}):
                continue
            found = {metric: METRICS[metric](said[name]["text"], one.query.answers) for metric in METRICS}
            handed = BETWEEN.join(said[name]["documents"])
            row = about | {"method": name, "documents": handed, "answer": said[name]["text"]} | found
            rows.append(row | ({NOTE: OF_PEOPLE} if of_people else {}))
    return rows
