"""Reference-based metrics against grades (crowdrag25, section 5.3 and Table 8; docs/methods/reference-metrics.md).

The best-graded response of a topic is the reference, the others are candidates. A metric ranks the candidates by their
similarity to the reference.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.bootstrap import CORRELATION, Floats, resample_weights, weighted_mean
from analysis.stats.correlation import spearman
from analysis.text.overlap import Bleu, ChrF, RougeL
from analysis.text.statements import without_markers

from ...inputs.arrays import Inputs
from ...inputs.texts import TopicTexts
from ...tables.rows import Row
from ..context import Context, Similarity, Tables
from ..estimates import Estimate, noted, undefined
from ..settings import AnalysisSettings, named_rng

BLEU, ROUGE_L, CHRF, BERTSCORE = "bleu", "rouge_l", "chrf", "bertscore"
FULL, BEST_WORST = "full", "best_worst"

NO_TEXTS = "this run has no texts of responses"
NO_BERTSCORE = "no BERTScores were computed for these responses"
SOME_BERTSCORES = "some BERTScores were not computed, so their topics are left out"
UNRANKED = (
    "no topic can be ranked, because none has two responses besides the best one with different "
    "grades and different scores"
)

#: A candidate and its reference, as indices in `Inputs.responses`.
Pair = tuple[int, int]
#: Scores a candidate against a reference, both without citation markers.
Score = Callable[[str, str], float]


@dataclass(frozen=True, eq=False)
class Field:
    """The graded responses to one topic on one dimension.

    Attributes
    ----------
    topic : str
    places : tuple of int
        Indices in `Inputs.responses`, ascending.
    grades : ndarray of float, shape (n_responses,)
    """

    topic: str
    places: tuple[int, ...]
    grades: Floats

    @property
    def contests(self) -> list[tuple[int, Floats]]:
        """Return each best-graded response as the reference, with the grades of all others (its own is NaN)."""
        references = []
        for index in np.flatnonzero(self.grades == self.grades.max()).tolist():
            grades = self.grades.copy()
            grades[index] = np.nan
            references.append((self.places[index], grades))
        return references


def compute_tables(analysed: Context) -> Tables:
    """Compute how well each metric reproduces the ranking by grades, by dimension."""
    inputs = analysed.inputs
    fields = read_fields(inputs, analysed.tables.get("grades", []))
    if not fields:
        return {}
    pairs = {pair for topic_fields in fields.values() for field in topic_fields for pair in pairs_of(field)}
    scores: dict[str, Mapping[Pair, float]] = {
        BERTSCORE: bertscores(pairs, analysed.similarity),
        **overlaps(inputs, pairs, analysed.texts),
    }
    return {"reference_metrics": rows_of(fields, scores, analysed.settings, analysed.seed)}


def read_fields(inputs: Inputs, rows: Sequence[Row]) -> dict[str, list[Field]]:
    """Return the graded responses by dimension, one field for each topic; dimensions and topics in table order."""
    response_index = {response.name: i for i, response in enumerate(inputs.responses)}
    grades: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        if row["grade"] is not None:
            topic_grades = grades.setdefault(row["dimension"], {}).setdefault(row["topic"], {})
            topic_grades[response_index[row["response"]]] = row["grade"]
    return {
        dimension: [
            Field(
                topic,
                tuple(sorted(topic_grades)),
                np.array([topic_grades[index] for index in sorted(topic_grades)], dtype=np.float64),
            )
            for topic, topic_grades in topics.items()
        ]
        for dimension, topics in grades.items()
    }


def pairs_of(field: Field) -> set[Pair]:
    """Return the candidates of a field, each with its reference."""
    return {(other, reference) for reference, _grades in field.contests for other in field.places if other != reference}


def _bleu() -> Score:
    bleu = Bleu()
    return lambda candidate, reference: bleu.score(candidate, [reference])


#: Metrics of surface texts; each is created anew for each topic, because it caches the words of texts.
OVERLAPS: Mapping[str, Callable[[], Score]] = {
    BLEU: _bleu,
    ROUGE_L: lambda: RougeL().score,
    CHRF: lambda: ChrF().score,
}


def overlaps(inputs: Inputs, pairs: Iterable[Pair], texts: Iterable[TopicTexts]) -> dict[str, dict[Pair, float]]:
    """Score candidates against references, one topic at a time; pairs without texts are left out."""
    pairs_by_topic: dict[str, list[Pair]] = {}
    for pair in sorted(pairs):
        if inputs.responses[pair[0]].text and inputs.responses[pair[1]].text:
            pairs_by_topic.setdefault(inputs.responses[pair[0]].topic, []).append(pair)
    scores: dict[str, dict[Pair, float]] = {name: {} for name in OVERLAPS}
    for topic in texts:
        scorers = {name: scorer() for name, scorer in OVERLAPS.items()}
        plain = {written.index: without_markers(written.text) for written in topic.responses}
        for candidate, reference in pairs_by_topic.get(topic.topic, ()):
            for name, score in scorers.items():
                scores[name][candidate, reference] = score(plain[candidate], plain[reference])
    return scores


def bertscores(pairs: Iterable[Pair], similarity: Similarity | None) -> dict[Pair, float]:
    """Return the stored BERTScores."""
    if similarity is None:
        return {}
    similarities = {pair: similarity(*pair) for pair in sorted(pairs)}
    return {pair: score for pair, score in similarities.items() if score is not None}


def rows_of(
    fields: Mapping[str, Sequence[Field]],
    scores: Mapping[str, Mapping[Pair, float]],
    settings: AnalysisSettings,
    seed: int,
) -> list[Row]:
    """Make one row for each dimension, metric and ranking; all share the same resamples of topics."""
    topics = sorted({field.topic for dimension_fields in fields.values() for field in dimension_fields})
    weights = resample_weights(len(topics), settings.resamples, named_rng(seed, "topics of reference metrics"))
    topic_index = {topic: i for i, topic in enumerate(topics)}
    rows = []
    for dimension, dimension_fields in fields.items():
        where = np.array([topic_index[field.topic] for field in dimension_fields])
        for metric in (BERTSCORE, *OVERLAPS):
            known = scores[metric]
            problem = "" if known else NO_BERTSCORE if metric == BERTSCORE else NO_TEXTS
            for ranking, values in zip((FULL, BEST_WORST), by_topic(dimension_fields, known), strict=True):
                correlation = undefined(problem) if problem else _mean(values, where, weights)
                row: Row = {"dimension": dimension, "metric": metric, "ranking": ranking} | correlation.columns("rho")
                row |= {"topics": correlation.topics, "left_out": len(dimension_fields) - correlation.topics}
                partly = metric == BERTSCORE and not all(
                    pair in known for field in dimension_fields for pair in pairs_of(field)
                )
                rows.append(noted(row, [correlation.note, SOME_BERTSCORES if partly and not problem else ""]))
    return rows


def by_topic(fields: Sequence[Field], scores: Mapping[Pair, float]) -> tuple[Floats, Floats]:
    """Evaluate the ranking of each field: Spearman's rho, and whether the best candidate scores above the worst.

    Returns
    -------
    full, best_worst : ndarray of float, shape (n_fields,)
        NaN if the ranking is undefined for a field. If several responses share the best grade, the mean over these
        references.
    """
    contests = [(i, field, *contest) for i, field in enumerate(fields) for contest in field.contests]
    size = max(len(field.places) for field in fields)
    graded, scored = np.full((2, len(contests), size), np.nan)
    for row, (_i, field, reference, grades) in enumerate(contests):
        graded[row, : len(grades)] = grades
        candidate_scores = [scores.get((candidate, reference), np.nan) for candidate in field.places]
        scored[row, : len(candidate_scores)] = candidate_scores
    # A candidate without a score excludes its topic: the ranking of a subset would not be comparable.
    complete = (np.isnan(graded) | ~np.isnan(scored)).all(axis=1)
    scored[~complete] = np.nan
    index = np.array([contest[0] for contest in contests])
    return (
        _mean_by(spearman(graded, scored), index, len(fields)),
        _mean_by(_best_above_worst(graded, scored), index, len(fields)),
    )


def _best_above_worst(graded: Floats, scored: Floats) -> Floats:
    """Compare the scores of the best and the worst candidate in each row.

    1 if the best candidate scores above the worst, -1 if below, 0 if equal; the mean over ties.
    """
    is_graded = ~np.isnan(graded)
    best = is_graded & (graded == np.max(graded, axis=1, where=is_graded, initial=-np.inf, keepdims=True))
    worst = is_graded & (graded == np.min(graded, axis=1, where=is_graded, initial=np.inf, keepdims=True))
    signs = np.sign(scored[:, :, None] - scored[:, None, :])
    meet = best[:, :, None] & worst[:, None, :]
    total = np.where(meet, signs, 0.0).sum(axis=(1, 2))
    # If all candidates have the same grade, there is no best one.
    meetings = meet.sum(axis=(1, 2))
    ranked = (meetings > 0) & ~(best & worst).any(axis=1)
    shares: Floats = np.divide(total, meetings, out=np.full(len(total), np.nan), where=ranked)
    return shares


def _mean_by(values: Floats, index: np.ndarray, size: int) -> Floats:
    """Return the mean of the values of each index, ignoring NaN."""
    is_defined = ~np.isnan(values)
    n = np.bincount(index[is_defined], minlength=size)
    sums = np.bincount(index[is_defined], weights=values[is_defined], minlength=size)
    means: Floats = np.divide(sums, n, out=np.full(size, np.nan), where=n > 0)
    return means


def _mean(values: Floats, topic: np.ndarray, weights: Floats) -> Estimate:
    """Compute the mean over topics with a defined ranking."""
    ranked = int((~np.isnan(values)).sum())
    if not ranked:
        return undefined(UNRANKED)
    mean = weighted_mean(values, topic, weights.shape[1])
    point = float(mean(np.ones((1, weights.shape[1])))[0])
    return Estimate(point, mean(weights), ranked, ranked, bounds=CORRELATION)
