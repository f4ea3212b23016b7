"""Grades of responses and their means (docs/methods/grades.md)."""

from collections.abc import Sequence
from itertools import chain, product

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats, Interval, percentile_interval, resample_weights, resampled_mean
from analysis.stats.processes import Calls
from analysis.stats.random_streams import KeyedRng, key

from ...inputs.arrays import Inputs, Ints, Response
from ...tables.rows import NOTE, Row, number, numbers
from .. import grade_fits
from ..context import Context, Tables
from ..grade_fits import Graded
from ..response_groups import ONE_TOPIC
from ..reusable_fits import grades_row
from ..settings import named_rng

#: A topic and a dimension.
Problem = tuple[str, str]

ALL = "all"
NOT_CONVERGED = "the fit did not converge"
ONE_VOTE = "all pairs have one judgment only, so labels cannot be drawn"


def compute_tables(analysed: Context) -> Tables:
    """Compute grades and their means."""
    settings = analysed.settings
    comparisons = grade_fits.comparisons_of(analysed.main, settings.grades_from)
    if comparisons is None:
        return {"grades": [], "grade_means": []}
    graded = grade_fits.grade(analysed.main, comparisons)
    imputed = None
    if comparisons.of_averaged:
        imputed = _imputed(analysed, graded)
        analysed.imputed = [imputed_row(graded, imputed)]
        graded = imputed.pooled(graded)
    resampled = _resampled(analysed, graded, imputed)
    analysed.graded = graded, resampled
    return {
        "grades": grade_rows(analysed, graded, imputed),
        "grade_means": mean_rows(analysed.inputs, graded, resampled),
    }


def _imputed(analysed: Context, graded: Graded) -> grade_fits.Imputed:
    """Compute grades for every draw of the labels; reuse those of the earlier analysis if all draws are the same."""
    c = graded.comparisons
    _draw, draws = grade_fits.of_labels_drawn(c)
    before, stands = _imputed_before(analysed, graded, draws)
    imputed = grade_fits.Imputed(np.zeros((len(graded.grade), draws), np.float32), *np.zeros((2, len(graded.grade))))
    problems = np.flatnonzero(~stands)
    pairs = np.cumsum(np.bincount(c.problem, minlength=len(c.problems))[problems])
    # All draws of a group of topics at once: many are the same, and are then fitted once.
    groups = np.split(problems, np.flatnonzero(np.diff(pairs * draws // grade_fits.CELLS_AT_ONCE)) + 1)
    masks = [np.isin(np.arange(len(c.problems)), some) for some in groups if len(some)]

    def impute(chosen: NDArray[np.bool_]) -> grade_fits.Imputed:
        part = grade_fits.only(graded, chosen)
        return grade_fits.impute(part, grade_fits.of_labels_drawn(part.comparisons)[0], draws, lambda _message: None)

    # An update stays in one process, and has little to do.
    with Calls(impute, masks, at_once=None if analysed.earlier is None else 1) as calls:
        begin, results = 0, iter(calls)
        for chosen in masks:
            analysed.step(f"Grades: {begin:,} of {len(problems):,} topics and dimensions")
            begin += int(chosen.sum())
            refitted, part = chosen[graded.problem], next(results)
            imputed.grade[refitted], imputed.merit[refitted] = part.grade, part.merit
            imputed.variance[refitted] = part.variance
    if analysed.earlier is not None and analysed.earlier.grades is not None and stands.any():
        kept, stored = stands[graded.problem], analysed.earlier.grades[1]
        imputed.grade[kept] = stored["grade"][before[kept]] / np.float32(2)
        imputed.merit[kept], imputed.variance[kept] = stored["merit"][before[kept]], stored["variance"][before[kept]]
    return imputed


def _imputed_before(analysed: Context, graded: Graded, draws: int) -> tuple[Ints, np.ndarray]:
    """Return the index of each grade among the earlier ones, and which topics and dimensions keep theirs.

    They keep them if they have the same pairs, and the same labels in all draws.
    """
    c, inputs, earlier = graded.comparisons, analysed.inputs, analysed.earlier
    index = np.full(len(graded.grade), -1)
    if earlier is None or earlier.grades is None or earlier.grades[1]["grade"].shape[1] != draws:
        return index, np.zeros(len(c.problems), dtype=bool)
    names, stored = earlier.grades
    dimensions = [fit.dimension.name for fit in c.fits]
    dimension_now = np.array([dimensions.index(name) if name in dimensions else -1 for name in names], dtype=np.int64)
    response_now = _translated(earlier.inputs.responses, inputs.responses)[stored["response"]]
    fit_now = dimension_now[stored["dimension"]]
    still = np.flatnonzero((response_now >= 0) & (fit_now >= 0))
    places = np.full((len(inputs.responses), len(c.fits)), -1)
    places[response_now[still], fit_now[still]] = still
    index = places[graded.response, graded.fit]
    same = np.concatenate([fit.is_drawn_before[c.unit[c.fit == ordinal]] for ordinal, fit in enumerate(c.fits)])
    stands = np.bincount(c.problem, weights=~same, minlength=len(c.problems)) == 0
    stands &= np.bincount(graded.problem, weights=index < 0, minlength=len(c.problems)) == 0
    topic_then = {name: i for i, name in enumerate(earlier.inputs.topics)}
    topics = np.array([topic_then.get(name, -1) for name in inputs.topics], dtype=np.int64)
    pairs = np.bincount(c.problem, minlength=len(c.problems))
    for ordinal, name in enumerate(dimensions):
        of_fit = c.problems[:, 1] == ordinal
        pairs_then = np.append(earlier.judged_pairs(inputs.pool, name), 0)
        stands[of_fit] &= pairs_then[topics[c.problems[of_fit, 0]]] == pairs[of_fit]
    return index, stands


def _translated(before: Sequence[Response], now: Sequence[Response]) -> Ints:
    """Return the present index of each earlier response; -1 if it is gone."""
    index = {response.name: i for i, response in enumerate(now)}
    return np.array([index.get(response.name, -1) for response in before], dtype=np.int64)


def imputed_row(graded: Graded, imputed: grade_fits.Imputed) -> Row:
    """Make the row of the grades for every draw, for updates of this analysis. Grades are whole or half."""
    twice = 2 * imputed.grade
    return grades_row(
        [fit.dimension.name for fit in graded.comparisons.fits],
        response=graded.response.astype(np.int32),
        dimension=graded.fit.astype(np.int16),
        grade=twice.astype(np.int8 if twice.max(initial=0) < 128 else np.int16),
        merit=imputed.merit,
        variance=imputed.variance,
    )


def _resampled(analysed: Context, graded: Graded, imputed: grade_fits.Imputed | None) -> grade_fits.Resampled:
    """Resample topics, and grades if they vary between resamples."""
    settings, seed = analysed.settings, analysed.seed
    topics, topic = np.unique(graded.topic, return_inverse=True)
    redrawn = analysed.redrawn.get(analysed.inputs.pool)
    if redrawn is None:
        # The variation of averaged grades between topics already includes the uncertainty of their labels; drawing
        # labels too would count it twice.
        weights = resample_weights(len(topics), settings.resamples, named_rng(seed, "topics of grades"))
        return grade_fits.Resampled(topics, topic, weights, None, None)
    drawn = np.searchsorted(np.unique(analysed.main.pool.topic), topics)
    if imputed is not None:
        which = np.arange(settings.resamples) % imputed.grade.shape[1]
        draw, _draws = grade_fits.of_labels_drawn(graded.comparisons)
        return grade_fits.Resampled(topics, topic, redrawn.topics[:, drawn], imputed.grade[:, which], draw)
    draw = grade_fits.of_resampled_fits(graded.comparisons, analysed.main, redrawn)
    grades = grade_fits.resampled_grades(graded, draw, settings.resamples, analysed.step)
    return grade_fits.Resampled(topics, topic, redrawn.topics[:, drawn], grades, draw)


def grade_rows(analysed: Context, graded: Graded, imputed: grade_fits.Imputed | None) -> list[Row]:
    """Make one row for each response and dimension: merit, standard error, and grade within topic and dimension.

    An update reuses rows of the earlier analysis if their labels are the same.
    """
    inputs = analysed.inputs
    names = [fit.dimension.name for fit in graded.comparisons.fits]
    problems = [(inputs.topics[topic], names[d]) for topic, d in graded.comparisons.problems.tolist()]
    if imputed is not None:
        return list(
            chain.from_iterable(_make_rows(analysed, graded, grade_fits.mean_rank_quantiles(imputed.grade)).values())
        )
    standing = _standing(analysed, graded.comparisons)
    anew = np.array([problem not in standing for problem in problems])
    part = grade_fits.only(graded, anew)
    new_rows = _make_rows(analysed, part, _rank_intervals(analysed, part))
    rows = []
    for problem in problems:
        rows += standing.get(problem) or new_rows[problem]
    return rows


def _make_rows(analysed: Context, graded: Graded, ends: tuple[Floats, Floats]) -> dict[tuple[str, str], list[Row]]:
    """Make rows by topic and dimension, with the rank intervals."""
    inputs = analysed.inputs
    names = [fit.dimension.name for fit in graded.comparisons.fits]
    measures = numbers(np.stack([graded.merit, graded.se, graded.grade, *ends], axis=1))
    keys = zip(graded.topic.tolist(), graded.response.tolist(), graded.fit.tolist(), strict=True)
    rows: dict[tuple[str, str], list[Row]] = {}
    for (topic, response, d), (merit, se, grade, low, high), converged in zip(
        keys, measures, graded.converged.tolist(), strict=True
    ):
        row: Row = {
            "topic": inputs.topics[topic],
            "response": inputs.responses[response].name,
            "dimension": names[d],
            "merit": merit,
            "se": se,
            "grade": grade,
            "rank_low": low,
            "rank_high": high,
        }
        if not converged:
            row[NOTE] = NOT_CONVERGED
        elif row["rank_low"] is None:
            row[NOTE] = ONE_VOTE
        rows.setdefault((row["topic"], row["dimension"]), []).append(row)
    return rows


def _rank_intervals(analysed: Context, graded: Graded) -> tuple[Floats, Floats]:
    """Compute the rank intervals in groups of topics and dimensions; each has its own draws of labels.

    Votes are drawn from one stream for all.
    """
    problems, settings = len(graded.comparisons.problems), analysed.settings
    cells = max(1, len(graded.comparisons.unit) * settings.resamples)
    size = max(1, problems * grade_fits.CELLS_AT_ONCE // cells) if not graded.comparisons.of_votes else problems
    ends = []
    for begin in range(0, max(problems, 1), max(size, 1)):
        some = (np.arange(problems) >= begin) & (np.arange(problems) < begin + size)
        part = grade_fits.only(graded, some)
        ends.append(grade_fits.rank_intervals(part, _draw(analysed, part), settings.resamples, analysed.step))
    low, high = zip(*ends, strict=True)
    return np.concatenate(low), np.concatenate(high)


def _draw(analysed: Context, graded: Graded) -> grade_fits.Draw:
    """Return the source of the comparisons in each draw: votes, or labels from their posterior."""
    c, seed = graded.comparisons, analysed.seed
    if c.of_votes:
        return grade_fits.of_votes_drawn(c, named_rng(seed, "votes of grades"))
    names = [fit.dimension.name for fit in c.fits]
    pairs = zip(c.unit.tolist(), c.fit.tolist(), strict=True)
    return grade_fits.of_labels_left_open(
        c, _draws(analysed, [(*analysed.inputs.sides(u), names[d]) for u, d in pairs])
    )


def _draws(analysed: Context, labels: list[tuple[str, str, str]]) -> KeyedRng:
    """Return the random generator of labels, keyed by left response, right response and dimension."""
    keys = np.array([key(*label) for label in labels], dtype=np.uint64)
    return KeyedRng(keys, named_rng(analysed.seed, "labels of grades"))


def _standing(analysed: Context, comparisons: grade_fits.Comparisons) -> dict[Problem, list[Row]]:
    """Return the earlier rows of topics and dimensions whose labels and draws are all unchanged."""
    if analysed.earlier is None or comparisons.of_votes:
        return {}
    before = analysed.earlier.tables
    labels = _by_problem(analysed.inputs, analysed.tables["gold"])
    standing: dict[Problem, list[Row]] = {}
    for row in before.get("grades", ()):
        standing.setdefault((row["topic"], row["dimension"]), []).append(row)
    then = _by_problem(analysed.earlier.inputs, before.get("gold", ()))
    alike = {problem for problem in standing if _labels(labels.get(problem, [])) == _labels(then.get(problem, []))}
    redrawn = _drawn_otherwise(analysed, [(problem, then[problem], labels[problem]) for problem in alike])
    return {problem: rows for problem, rows in standing.items() if problem in alike and problem not in redrawn}


def _labels(gold: list[Row]) -> list[tuple[str, str, str | None]]:
    return [(row["response_a"], row["response_b"], row["label"]) for row in gold]


def _drawn_otherwise(analysed: Context, labels: list[tuple[Problem, list[Row], list[Row]]]) -> set[Problem]:
    """Return the topics and dimensions with a label that changed in one of the draws.

    `labels` holds the earlier and the present rows of each label.
    """
    moved = [
        (problem, row, other)
        for problem, then, now in labels
        if then != now
        for row, other in zip(then, now, strict=True)
        if row != other
    ]
    if not moved:
        return set()
    draws = _draws(analysed, [(row["response_a"], row["response_b"], row["dimension"]) for _problem, row, _ in moved])
    chance = draws.uniform(analysed.settings.resamples, 1)[:, :, 0].T
    before, now = (
        grade_fits.drawn_labels(chance, np.array([(row["p_a"], row["p_a"] + row["p_n"]) for row in rows]))
        for rows in ([row for _, row, _ in moved], [row for _, _, row in moved])
    )
    return {moved[position][0] for position in np.flatnonzero((before != now).any(axis=1)).tolist()}


def _by_problem(inputs: Inputs, gold: Sequence[Row]) -> dict[Problem, list[Row]]:
    topic = {response.name: response.topic for response in inputs.responses}
    rows: dict[Problem, list[Row]] = {}
    for row in gold:
        rows.setdefault((topic[row["response_a"]], row["dimension"]), []).append(row)
    return rows


def mean_rows(inputs: Inputs, graded: Graded, resampled: grade_fits.Resampled) -> list[Row]:
    """Compute the mean grade by dimension, style and origin, with "all" for the margins; `n` counts grades."""
    names = [fit.dimension.name for fit in graded.comparisons.fits]
    styles, style = _coded([inputs.responses[response].style for response in graded.response.tolist()])
    origins, origin = _coded([inputs.responses[response].origin for response in graded.response.tolist()])
    rows = []
    for d, s, o in product((*range(len(names)), -1), (*range(len(styles)), -1), (*range(len(origins)), -1)):
        chosen = np.flatnonzero(_is(graded.fit, d) & _is(style, s) & _is(origin, o))
        if not chosen.size:
            continue
        interval = _mean(graded, resampled, chosen)
        row: Row = {
            "dimension": names[d] if d >= 0 else ALL,
            "style": styles[s] if s >= 0 else ALL,
            "origin": origins[o] if o >= 0 else ALL,
            "mean": number(interval.estimate),
            "low": number(interval.low),
            "high": number(interval.high),
            "n": len(chosen),
        }
        rows.append(row if row["low"] is not None else row | {NOTE: ONE_TOPIC})
    return rows


def informative(rows: Sequence[Row]) -> list[Row]:
    """Keep the means that are informative about a style or an origin.

    Grades are ranks within a topic, so the mean over all responses of a topic is fixed. Drop groups that contain all
    responses, or that equal another group under a second name.
    """
    whole = {row["dimension"]: row["n"] for row in rows if row["style"] == ALL and row["origin"] == ALL}
    origins = {row["origin"] for row in rows} - {ALL}
    styles = {row["style"] for row in rows} - {ALL}
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["style"], row["origin"]), []).append(row)
    kept = {
        (style, origin)
        for (style, origin), group in groups.items()
        if any(row["n"] != whole.get(row["dimension"]) for row in group)
        and not (origin == ALL and len(origins) == 1)
        and not (style == ALL and len(styles) == 1)
    }
    return [row for row in rows if (row["style"], row["origin"]) in kept]


def _mean(graded: Graded, resampled: grade_fits.Resampled, chosen: Ints) -> Interval:
    values = graded.grade if resampled.grade is None else resampled.grade
    samples = resampled_mean(values[chosen], resampled.topic[chosen], resampled.weights)
    best = float(graded.size[chosen].max())
    return percentile_interval(
        float(graded.grade[chosen].mean()), samples, clusters=len(resampled.topics), bounds=(1.0, best)
    )


def _coded(names: list[str]) -> tuple[list[str], Ints]:
    """Return the sorted distinct names, and the index of each name."""
    distinct, index = np.unique(names, return_inverse=True)
    return [str(name) for name in distinct], index


def _is(column: Ints, value: int) -> np.ndarray:
    return np.asarray((column == value) | (value < 0))
