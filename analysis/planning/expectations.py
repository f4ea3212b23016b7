"""Assumptions of a plan, from an earlier analysis and as entered by the user."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from analysis.stats import calibration, designs
from analysis.stats.judgments import canonical
from analysis.stats.labels import gold
from analysis.stats.random_streams import named_rng
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run

from ..inputs import arrays
from ..inputs.models import Snapshot
from ..methods import fits as methods_fits
from ..methods import grade_fits
from ..methods.fits import Fit, Fitted
from ..methods.settings import AVERAGED, GOLD, AnalysisSettings
from ..tables import run_tables
from ..tables.rows import Row
from .parameters import NO_SOURCE, BadPlanError, PlanParameters

HUMAN = "human"
#: From the published study (docs/methods/planning.md); used without a source analysis.
SPREAD = 2.8
CORRELATION = 0.85
DIFFICULTY = 0.6
WITHOUT_SOURCE = f"Choose “{NO_SOURCE}” as the source of assumptions, and enter all four."
#: Number of draws of the labels to compute a mean grade.
_DRAWS = 256


class UnusableSourceError(BadPlanError):
    """The source analysis does not suffice for assumptions."""


@dataclass(frozen=True)
class Source:
    """An earlier analysis: its design, and the basis of simulations."""

    design: designs.Design
    expectation: designs.Expectation


def expectation(parameters: PlanParameters, *, study_id: int, seed: int) -> designs.Expectation:
    """Return the assumptions of a plan, cached per process and identical in all processes."""
    if parameters.source is None:
        assert parameters.competence is not None
        assert parameters.competence_spread is not None
        people = designs.competence(
            parameters.competence,
            parameters.competence_spread,
            dimensions=parameters.dimensions,
            rng=named_rng(seed, "plan people"),
        )
        expected = designs.Expectation(people, spread=SPREAD, correlation=CORRELATION, difficulty=DIFFICULTY)
    else:
        expected = source(study_id, parameters.source, seed).expectation
        if parameters.competence is not None or parameters.competence_spread is not None:
            expected = replace(expected, competence=_people(parameters, expected.competence, seed))
    if parameters.neutral is not None:
        expected = replace(expected, neutral=parameters.neutral)
    if parameters.preferred is not None:
        expected = designs.with_preferred(
            parameters.design(parameters.k, parameters.topics), expected, parameters.preferred
        )
    return expected


def expectation_in_numbers(parameters: PlanParameters, expected: designs.Expectation) -> dict[str, Any]:
    """Summarise the assumptions in familiar numbers."""
    able = 1 - expected.competence.spam
    return {
        "competence": float(able.mean()),
        "competence_spread": float(able.mean(axis=1).std()),
        "preferred": designs.preferred(parameters.design(parameters.k, parameters.topics), expected),
        "neutral": expected.neutral,
        "effect": expected.effect,
        "spread": expected.spread,
        "correlation": expected.correlation,
        "difficulty": expected.difficulty,
    }


@lru_cache(maxsize=4)
def source(study_id: int, key: str, seed: int) -> Source:
    """Return the basis of simulations from an earlier analysis.

    These are the competences as fitted, and merits calibrated so that simulations resemble the analysis.

    Raises
    ------
    UnusableSourceError
        If the study has no such analysis, or it has no fits or grades.
    """
    run = Run.objects.filter(study=study_id, key=key, state=RunState.DONE, snapshot__isnull=False).first()
    if run is None:
        raise UnusableSourceError("The analysis that you chose as the source no longer exists.")
    used = arrays.unpack(bytes(Snapshot.objects.get(run=run).payload))
    # Use the settings with which simulated studies are analysed.
    settings = replace(AnalysisSettings.read(run.parameters), preset="", labels=AVERAGED)
    fitted = methods_fits.fit(
        used, used.pool, settings=settings, seed=run.seed, report=lambda _message: None, capped=True
    )
    design, people, like = source_of_analysis(used, fitted, run_tables.read(run, "agreement"))
    try:
        return Source(design, calibration.calibrate(design, people, like, rng=named_rng(seed, "plan expectation")))
    except calibration.NoEstimateError as error:
        raise _too_few_data(error) from error


def source_of_analysis(
    used: arrays.Inputs, fitted: Fitted, tables: dict[str, list[Row]]
) -> tuple[designs.Design, designs.Competence, calibration.StudyFindings]:
    """Derive design, competences and statistics of an analysis from its inputs, fits and agreement.

    Raises
    ------
    UnusableSourceError
        If it has no fits or grades.
    """
    fits = [fit for fit in fitted.fits if fit.dimension.is_preference and fit.model is not None]
    if not fits:
        raise UnusableSourceError(f"The analysis has no fitted competences. {WITHOUT_SOURCE}")
    fits.sort(key=lambda fit: 0 not in fit.dimension.values)  # forced-choice dimensions last
    try:
        return _design(used, fitted, fits), _competence(fits), _findings(used, Fitted(fitted.pool, tuple(fits)), tables)
    except calibration.NoEstimateError as error:
        raise _too_few_data(error) from error


def _too_few_data(error: calibration.NoEstimateError) -> UnusableSourceError:
    return UnusableSourceError(f"The analysis has too few data: {error}. {WITHOUT_SOURCE}")


def _people(parameters: PlanParameters, competence: designs.Competence, seed: int) -> designs.Competence:
    """Draw competences with the given mean and spread; by default those of the source."""
    able = 1 - competence.spam.mean(axis=1)
    mean = parameters.competence if parameters.competence is not None else float(able.mean())
    spread = parameters.competence_spread if parameters.competence_spread is not None else float(able.std())
    rng = named_rng(seed, "plan people")
    return designs.competence(mean, spread, dimensions=competence.spam.shape[1], rng=rng)


def _competence(fits: list[Fit]) -> designs.Competence:
    """Return the fitted competences of people who judged on every dimension."""
    models = [fit.model for fit in fits if fit.model is not None]
    judged = np.all([model.judgments > 0 for model in models], axis=0)
    spam = np.stack([model.spam_probability[judged] for model in models], axis=1)
    strategy = np.stack([model.parameters.strategy[judged] for model in models], axis=1)
    if not len(spam):
        raise UnusableSourceError(f"Nobody judged on all dimensions. {WITHOUT_SOURCE}")
    # Both are exponentials of expected logarithms, whose sum is slightly less than 1.
    return designs.Competence(spam, strategy / strategy.sum(axis=2, keepdims=True))


def _design(used: arrays.Inputs, fitted: Fitted, fits: list[Fit]) -> designs.Design:
    """Return the design that best approximates the judgments."""
    pool = fitted.pool
    judged = np.flatnonzero(fits[0].counts.sum(axis=1))
    sides = canonical(pool.left[judged], pool.right[judged])
    once = len(set(zip(sides.low.tolist(), sides.high.tolist(), strict=True)))
    topics = len(np.unique(pool.topic[judged]))
    responses = len(np.unique(np.r_[pool.left[judged], pool.right[judged]]))
    return designs.Design(
        topics=topics,
        responses=max(2, round(responses / topics)),
        styles=len(used.styles) or 1,
        dimensions=len(fits),
        forced=sum(0 not in fit.dimension.values for fit in fits),
        k=max(1, round(len(fits[0].unit) / len(judged))),
        both_orders=min(1.0, (len(judged) - once) / once),
        pairs=max(1, round(once / topics)),
        items=max(1, round(len(fits[0].unit) / len(np.unique(fits[0].coder)))),
    )


def _findings(used: arrays.Inputs, fitted: Fitted, tables: dict[str, list[Row]]) -> calibration.StudyFindings:
    fits = fitted.fits
    names = {fit.dimension.name for fit in fits}
    comparisons = grade_fits.comparisons_of(fitted, GOLD)
    assert comparisons is not None
    graded = grade_fits.grade(fitted, comparisons)
    draw, draws = grade_fits.of_labels_drawn(comparisons)
    graded = grade_fits.impute(graded, draw, min(draws, _DRAWS), lambda _message: None).pooled(graded)
    responses, response_index = np.unique(graded.response, return_inverse=True)
    merit, grade = np.full((2, len(responses), len(fits)), np.nan)
    merit[response_index, graded.fit], grade[response_index, graded.fit] = graded.merit, graded.grade
    about = [used.responses[response] for response in responses.tolist()]
    topic_of = {name: index for index, name in enumerate(used.topics)}
    alphas = [
        row for row in tables["agreement"]
        if row["dimension"] in names and row["split"] == "complete" and row["coders"] == used.pool.lower()
    ]  # fmt: skip
    defined = [row for row in alphas if row["alpha"] is not None]
    wide = [row["high"] - row["low"] for row in defined if row["low"] is not None]
    return calibration.study_findings(
        merit,
        np.array([topic_of[response.topic] for response in about], dtype=np.int64),
        np.array([int(response.origin != HUMAN) for response in about], dtype=np.int64),
        np.stack([_labels(fit) for fit in fits], axis=1),
        grade=grade,
        style=np.array([used.styles.index(response.style) if used.styles else 0 for response in about], dtype=np.int64),
        alpha=float(np.mean([row["alpha"] for row in defined])) if defined else float("nan"),
        alpha_width=float(np.mean(wide)) if wide else float("nan"),
    )


def _labels(fit: Fit) -> np.ndarray:
    assert fit.model is not None
    return np.where(fit.counts.sum(axis=1) > 0, gold(fit.posterior), -1)
