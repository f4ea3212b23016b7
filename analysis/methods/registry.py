"""All methods, and the computation of all tables of an analysis. Results depend only on inputs, settings and seed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from analysis.stats.processes import Calls

from ..figures import figure
from ..inputs.arrays import EXPERT, POINTWISE, Inputs
from ..inputs.texts import TopicTexts
from ..tables import table
from ..tables.rows import Row
from . import (
    agreement,
    assisted_estimates,
    citations,
    competence,
    grade_differences,
    grades,
    interdependence,
    judge_certificate,
    key_figures,
    leaderboard,
    lengths,
    model_judges,
    order_effects,
    readability,
    reference_metrics,
    surveys,
    text_reuse,
    writing_process,
)
from .agreement.compute import split_masks
from .context import Context, Tables
from .fits import FitsInBackground, Fitted, fit, refit_resamples
from .method import Method, Page
from .reusable_fits import ReusableFits, fit_row
from .settings import AnalysisSettings

Report = Callable[[int, int, str], None]

#: In the order of tables within sections, and of sentences in the methods text.
METHODS: tuple[Method, ...] = (
    key_figures.METHOD,
    surveys.METHOD,
    lengths.METHOD,
    citations.METHOD,
    text_reuse.METHOD,
    readability.METHOD,
    writing_process.METHOD,
    agreement.METHOD,
    order_effects.METHOD,
    competence.METHOD,
    interdependence.METHOD,
    grades.METHOD,
    grade_differences.METHOD,
    leaderboard.METHOD,
    reference_metrics.METHOD,
    model_judges.METHOD,
    judge_certificate.METHOD,
    assisted_estimates.METHOD,
)
for _method in METHODS:
    table.register(_method.tables)
    figure.register(_method.figures)


def pages(methods: Iterable[Method] = METHODS) -> list[Page]:
    """Return the result pages in navigation order; methods without a page get a generic one."""
    pages_of_methods = dict.fromkeys(page for method in methods for page in method.pages or (generic_page(method),))
    return sorted(pages_of_methods, key=lambda page: page.order)


def generic_page(method: Method) -> Page:
    """Return the generic page of a method: its tables and figures as in reports."""
    return Page(
        order=95,
        url_name=f"method_{method.name}",
        path=f"methods/{method.name}/",
        label=method.title,
        template="analysis/methods/method.html",
        context=lambda _study, _state, _query: {"method": method},
        is_live=method.is_live,
    )


def in_order_of_needs(methods: Iterable[Method]) -> list[Method]:
    """Return the methods in an order in which each follows those it needs; the order is otherwise kept."""
    by_name = {method.name: method for method in methods}
    ordered: dict[str, Method] = {}

    def add(method: Method) -> None:
        for name in method.needs:
            if name in by_name and name not in ordered:
                add(by_name[name])
        ordered[method.name] = method

    for method in by_name.values():
        if method.name not in ordered:
            add(method)
    return list(ordered.values())


@dataclass(frozen=True)
class Results:
    """Tables by name, the summary for pages, and the fits from which later updates start (`reusable_fits.FITS`)."""

    tables: Tables
    summary: dict[str, Any]
    fits: list[Row]


class _Steps:
    """Counts and reports steps."""

    def __init__(self, inputs: Inputs, methods: int, report: Report) -> None:
        fits = sum(len(np.unique(inputs.pools[name].dimension)) for name in _fitted_pools(inputs))
        self.total = fits + methods
        self.done = 0
        self.report = report

    def __call__(self, message: str) -> None:
        self.report(self.done, self.total, message)
        self.done += 1

    def say(self, message: str) -> None:
        """Report progress within a step."""
        self.report(self.done, self.total, message)


def compute(
    inputs: Inputs,
    *,
    settings: AnalysisSettings,
    seed: int,
    texts: Iterable[TopicTexts] = (),
    report: Report = lambda *_: None,
    earlier: ReusableFits | None = None,
) -> Results:
    """Compute every table; the same inputs, settings and seed give identical bytes.

    With an `earlier` analysis, compute an update: only the tables of live methods, reusing the fits that still hold.
    """
    methods = in_order_of_needs(method for method in METHODS if method.is_live or earlier is None)
    step = _Steps(inputs, len(methods), report)
    analysed = Context(
        inputs=inputs,
        texts=texts,
        settings=settings,
        seed=seed,
        step=step.say,
        earlier=earlier,
        similarity=inputs.similarity if inputs.similarity_scores else None,
    )
    tables: dict[str, Tables] = {}

    def run(some: Iterable[Method]) -> None:
        for method in some:
            step(str(method.title))
            tables[method.name] = method.compute(analysed)
            analysed.tables |= tables[method.name]

    pools = _fitted_pools(inputs)
    is_parallel = earlier is None and FitsInBackground.is_worthwhile(inputs, pools)
    if is_parallel:
        with FitsInBackground(inputs, pools, settings=settings, seed=seed) as fits:
            run(method for method in methods if not method.reads_judgments)
            fitted = fits.results(step)
    else:
        fitted = {
            name: fit(
                inputs, name, settings=settings, seed=seed, report=step, capped=name == inputs.pool, earlier=earlier
            )
            for name in pools
        }
    main = fitted[inputs.pool]
    analysed.fitted, analysed.masks = fitted, split_masks(main)
    analysed.redrawn = {
        name: refit_resamples(pool_fits, name, settings=settings, seed=seed, step=step.say)
        for name, pool_fits in fitted.items()
    }
    rest = [method for method in methods if method.name not in tables]
    if is_parallel:
        tables |= _compute_in_processes(analysed, rest, run, step)
    else:
        run(rest)
    analysed.tables = {name: rows for method in methods for name, rows in tables[method.name].items()}
    return Results(
        analysed.tables,
        {**_sizes(main), "simulated": inputs.simulated},
        [] if earlier else [*_fits(fitted), *analysed.imputed],
    )


def _compute_in_processes(
    analysed: Context, methods: list[Method], run: Callable[[Iterable[Method]], None], step: Callable[[str], None]
) -> dict[str, Tables]:
    """Compute methods that others need, or that read texts, with `run` in this process, and the others beside.

    Those without needs begin before the needed ones are computed, the others when these are done.
    """
    import scipy.stats  # noqa: F401 -- once here, so that not every process has to

    needed = {name for method in methods for name in method.needs}
    first = [method for method in methods if method.name in needed]
    texts = [method for method in methods if method.reads_texts and method not in first]
    beside = [method for method in methods if method not in first and method not in texts]
    at_once, later = ([method for method in beside if bool(method.needs) is needs] for needs in (False, True))
    compute_one = partial(_compute_beside, analysed)
    tables: dict[str, Tables] = {}
    with Calls(compute_one, at_once) as calls_at_once:
        run(first)
        with Calls(compute_one, later) as calls_later:
            run(texts)
            for some, calls in ((at_once, calls_at_once), (later, calls_later)):
                results = iter(calls)
                for method in some:
                    step(str(method.title))
                    tables[method.name] = next(results)
    return tables


def _compute_beside(analysed: Context, method: Method) -> Tables:
    """Compute a method in another process: without the texts, and without progress, which would use the database."""
    return method.compute(replace(analysed, texts=_TextsElsewhere(), step=lambda _message: None))


class _TextsElsewhere:
    def __iter__(self) -> Iterator[TopicTexts]:
        raise RuntimeError("A method that reads texts must say so: `Method.reads_texts`.")


def _fitted_pools(inputs: Inputs) -> list[str]:
    """Return the pools for which competences are fitted."""
    return list(dict.fromkeys(name for name in (inputs.pool, EXPERT, POINTWISE) if name in inputs.pools))


def _fits(fitted: dict[str, Fitted]) -> list[Row]:
    return [
        fit_row(name, fit.dimension.name, fit.model, fit.averaged)
        for name, pool_fits in fitted.items()
        for fit in pool_fits.fits
        if fit.model is not None
    ]


def _sizes(main: Fitted) -> dict[str, int]:
    return {
        "topics": len(np.unique(main.pool.topic)),
        "pairs": len(main.pool.units),
        "participants": len(main.pool.participants),
        "judgments": sum(len(fit.unit) for fit in main.fits),
    }
