"""MACE against crowd-kit, against a textbook loop, and against the clock."""

from __future__ import annotations

import warnings

import numpy as np

from analysis.stats import mace
from analysis.stats._mace_engine import Priors, State, iterate
from analysis.stats._mace_engine import Votes as Matrix
from bench._votes import DIMENSIONS, Votes, best_time, load
from tests.analysis.stats import textbook_mace

ITERATIONS = 100
TEXTBOOK_ITERATIONS = 20
REPEATS = 40  # a few milliseconds each; the fastest is the least disturbed by other work


def run() -> list[dict]:
    """Measure one restart with equal iterations, equal starts, and all dimensions with 20 restarts."""
    votes = load()
    return [against_crowdkit(votes), *against_textbook(votes), all_dimensions(votes)]


def against_crowdkit(votes: Votes) -> dict:
    """Measure from the votes in the file, with string ids, to a fitted model, with equal numbers of M-steps."""
    import pandas as pd
    from crowdkit.aggregation import MACE

    labels = ["ANB"[code] for code in votes.label[:, 0]]
    table = pd.DataFrame({"task": votes.task, "worker": votes.worker, "label": labels})
    settings = mace.MaceSettings(restarts=1, max_iter=ITERATIONS, tolerance=0.0)

    def ours() -> mace.Mace:
        tasks = {name: number for number, name in enumerate(dict.fromkeys(votes.task))}
        workers = {name: number for number, name in enumerate(dict.fromkeys(votes.worker))}
        return mace.fit(
            np.array([tasks[name] for name in votes.task]),
            np.array([workers[name] for name in votes.worker]),
            np.array(["ANB".index(label) for label in labels]),
            rng=np.random.default_rng(0),
            settings=settings,
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = best_time(lambda: MACE(n_restarts=1, n_iter=ITERATIONS, random_state=0).fit(table), 2)
        numbered = table.assign(**{name: pd.factorize(table[name])[0] for name in ("task", "worker", "label")})
        peer_numbered = best_time(lambda: MACE(n_restarts=1, n_iter=ITERATIONS, random_state=0).fit(numbered), 2)
    mine = best_time(ours, REPEATS)
    only = best_time(
        lambda: mace.fit(
            votes.item, votes.annotator, votes.label[:, 0], rng=np.random.default_rng(0), settings=settings
        ),
        REPEATS,
    )
    return {
        "name": f"MACE, one restart, {ITERATIONS} iterations, times faster than crowd-kit",
        "ratio": peer / mine,
        "target": 100,
        "detail": f"{peer * 1e3:.0f} ms / {mine * 1e3:.2f} ms from ids as strings; with ids as numbers on both sides "
        f"{peer_numbered * 1e3:.0f} ms / {only * 1e3:.2f} ms = {peer_numbered / only:.0f}; {votes.source}",
    }


def against_textbook(votes: Votes) -> list[dict]:
    """Compare the likelihood after equal iterations from equal starts, and the time to reach it."""
    rng = np.random.default_rng(1)
    items, annotators = len(votes.topic), int(votes.annotator.max()) + 1
    label = votes.label[:, 0]
    start = rng.random((annotators, 5))
    spam, know = (start[:, :2] / start[:, :2].sum(axis=1, keepdims=True)).T
    strategy = start[:, 2:] / start[:, 2:].sum(axis=1, keepdims=True)
    by_item: dict[int, list[tuple[int, int]]] = {}
    for i, a, v in zip(votes.item.tolist(), votes.annotator.tolist(), label.tolist(), strict=True):
        by_item.setdefault(i, []).append((a, v))
    reached = []
    slow = best_time(
        lambda: reached.append(
            textbook_mace.fit(by_item, spam.tolist(), know.tolist(), strategy.tolist(), 3, TEXTBOOK_ITERATIONS)[0]
        ),
        1,
    )
    matrix = Matrix(votes.item, votes.annotator, label, shape=(items, annotators, 3), fixed=np.full(items, -1))
    state = State(spam[:, None], know[:, None], np.ascontiguousarray(strategy.T)[:, :, None])
    priors = Priors(0.5, 0.5, 10.0, 0.1 / 3)
    fits = iterate(matrix, state, priors, max_iter=TEXTBOOK_ITERATIONS, tolerance=0.0)
    fast = best_time(lambda: iterate(matrix, state, priors, max_iter=TEXTBOOK_ITERATIONS, tolerance=0.0), 5)
    likelihood = float(fits.log_likelihood.sum())  # over the connected parts; there is one restart
    gap = abs(likelihood - reached[0])
    return [
        {
            "name": "MACE against a textbook loop from equal starts: 1e-9 over the difference of log likelihoods",
            "ratio": 1e-9 / max(gap, 1e-16),
            "target": 1,
            "detail": f"{likelihood:.9f} and {reached[0]:.9f} after {TEXTBOOK_ITERATIONS} iterations; "
            f"{slow / fast:.0f} times faster",
        }
    ]


def all_dimensions(votes: Votes) -> dict:
    """Measure seven dimensions with 20 restarts each in the published settings, and the effect of refinement."""
    found: dict[int, float] = {}

    def fit_all(refine: int) -> None:
        for number in range(len(DIMENSIONS)):
            model = mace.fit(
                votes.item,
                votes.annotator,
                votes.label[:, number],
                rng=np.random.default_rng(number),
                settings=mace.MaceSettings(refine=refine),
            )
            found[refine] = found.get(refine, 0.0) + model.log_likelihood

    seconds = best_time(lambda: fit_all(0), 1)
    refined = best_time(lambda: fit_all(6), 1)
    return {
        "name": "MACE, seven dimensions, 20 restarts each: 3 s over the seconds",
        "ratio": 3.0 / seconds,
        "target": 1,
        "detail": f"{seconds:.2f} s, log likelihoods sum to {found[0]:.2f}; "
        f"with six rounds of refining {refined:.2f} s and {found[6]:.2f}",
    }
