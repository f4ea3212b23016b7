"""Text reuse: how much statements copy from their sources (crowdrag25, section 4.4; docs/methods/text-reuse.md)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analysis.stats.bootstrap import Floats, weighted_mean
from analysis.text.reuse import measure, reuse

from ...inputs.arrays import Inputs, Ints
from ...inputs.texts import TopicTexts
from ...tables.rows import NOTE, Row, number
from ..context import Context, Tables
from ..response_groups import Resampling, cells, groups

NO_WORDS = "the statement or the passage has no words"


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of statements and their cited passages, sorted by response, statement and citation.

    Attributes
    ----------
    response, statement, passage : ndarray of int, shape (n_pairs,)
        Index of the response in the inputs, of the statement in the response, and of the passage in its ranking, from
        0.
    bleu : ndarray of float, shape (n_pairs,)
        NaN if one of the two has no words.
    """

    response: Ints
    statement: Ints
    passage: Ints
    bleu: Floats


def compute_tables(analysed: Context) -> Tables:
    """Compute the scores of all statements with their cited passages, and the shares below a limit."""
    inputs = analysed.inputs
    pairs = read(analysed.texts)
    if not len(pairs.bleu):
        return {}
    resampling = analysed.topics_of_responses
    return {
        "text_reuse": pair_rows(inputs, pairs),
        "text_reuse_shares": share_rows(inputs, pairs, analysed.settings.reuse_limit, resampling),
    }


def read(texts: Iterable[TopicTexts]) -> Pairs:
    """Score all pairs, one topic at a time."""
    places: list[tuple[int, int, int]] = []
    scores: list[float] = []
    for topic in texts:
        bleu = measure()
        for written in topic.responses:
            for pair in reuse(written.parsed, written.passages, bleu=bleu):
                places.append((written.index, pair.statement, pair.passage))
                scores.append(pair.bleu)
    columns = np.array(places, dtype=np.int64).reshape(-1, 3)
    order = np.argsort(columns[:, 0], kind="stable")
    response, statement, passage = columns[order].T
    return Pairs(response, statement, passage, np.array(scores, dtype=np.float64)[order])


def pair_rows(inputs: Inputs, pairs: Pairs) -> list[Row]:
    """Make one row for each pair."""
    rows = []
    columns = (pairs.response.tolist(), pairs.statement.tolist(), pairs.passage.tolist(), pairs.bleu.tolist())
    for response, statement, passage, bleu in zip(*columns, strict=True):
        row: Row = {
            "response": inputs.responses[response].name,
            "statement": statement,
            "passage": passage,
            "bleu": number(bleu),
        }
        rows.append(row if row["bleu"] is not None else row | {NOTE: NO_WORDS})
    return rows


def share_rows(inputs: Inputs, pairs: Pairs, limit: float, resampling: Resampling) -> list[Row]:
    """Compute the share of pairs below a limit, by style and origin; `n` counts pairs."""
    responses = [inputs.responses[index] for index in pairs.response.tolist()]
    topic = resampling.places(responses)
    below = np.where(np.isnan(pairs.bleu), np.nan, pairs.bleu < limit)
    rows = []
    for style, origin, chosen in groups(responses, inputs.styles):
        n = int((~np.isnan(below[chosen])).sum())
        statistic = weighted_mean(below[chosen], topic[chosen], resampling.topics)
        share = resampling.interval(statistic, share=True)
        rows.append({"style": style, "origin": origin, "limit": limit} | cells(share, n, "share"))
    return rows
