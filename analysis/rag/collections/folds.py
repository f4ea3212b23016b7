"""A collection divided: into folds, the same on every machine, or as the data says."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from ..protocols import Collection, Query


class TooFewQueriesError(ValueError):
    """There are fewer queries than folds."""


def numbers(queries: Sequence[Query], *, n: int = 5, seed: int = 0) -> NDArray[np.int64]:
    """Say which fold each query is in.

    Queries are put in order by a digest of the seed and their id, and dealt out in turn: folds differ by at most one
    query in size.

    Parameters
    ----------
    queries : sequence of Query
        With different ids.
    n : int
        How many folds.
    seed : int
        Another seed, another division.

    Returns
    -------
    ndarray of int64, shape (n_queries,)
        From 0 to n - 1.

    Raises
    ------
    TooFewQueriesError
        If there are fewer queries than folds.
    """
    if not 1 <= n <= len(queries):
        raise TooFewQueriesError(f"{len(queries)} queries cannot be divided into {n} folds: ask for fewer folds.")
    ids = [query.id for query in queries]
    if len(set(ids)) < len(ids):
        raise ValueError("two queries have one id: folds are by id")
    order = sorted(range(len(ids)), key=lambda index: hashlib.sha256(f"{seed}\0{ids[index]}".encode()).digest())
    fold = np.empty(len(ids), dtype=np.int64)
    fold[order] = np.arange(len(ids)) % n
    return fold


def divided(collection: Collection, fold: int, *, n: int = 5, seed: int = 0) -> tuple[Collection, Collection]:
    """Divide a collection into all other folds (to learn from) and one (to test on).

    Parameters
    ----------
    collection : Collection
    fold : int
        From 0 to n - 1.
    n, seed : int
        As for `numbers`.

    Returns
    -------
    (Collection, Collection)
        Queries in their order; names and what was left out stay.
    """
    if not 0 <= fold < n:
        msg = f"there are folds 0 to {n - 1}, not {fold}"
        raise ValueError(msg)
    fold_numbers = numbers(collection.queries, n=n, seed=seed)
    train = tuple(query for query, number in zip(collection.queries, fold_numbers, strict=True) if number != fold)
    test = tuple(query for query, number in zip(collection.queries, fold_numbers, strict=True) if number == fold)
    return replace(collection, queries=train), replace(collection, queries=test)


TRAIN, DEV, TEST = "train", "dev", "test"
#: As files and fields call them.
NAMES = {TRAIN: TRAIN, "training": TRAIN, DEV: DEV, "valid": DEV, "validation": DEV, "val": DEV, TEST: TEST}
#: Of `Query.facts`.
FACT = "split"


def part_of(query: Query) -> str:
    """`train`, `dev` or `test`; "" where the data does not say.

    Examples
    --------
    >>> part_of(Query("1", "Who?", ("Ada",), facts={"split": "dev"})), part_of(Query("1", "Who?", ("Ada",)))
    ('dev', '')
    """
    return str(query.facts.get(FACT, ""))


def of_file(name: str) -> str:
    """The split that a file's name says; "" where it says none.

    Examples
    --------
    >>> of_file("nq/train.jsonl.gz"), of_file("validation.jsonl"), of_file("questions.jsonl")
    ('train', 'dev', '')
    """
    return NAMES.get(PurePath(name).name.split(".")[0].casefold(), "")
