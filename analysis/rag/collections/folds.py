"""Splits of a collection: into folds that are the same on every machine, or as the data says."""

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
    """Assign each query to a fold.

    Queries are sorted by a digest of the seed and their id, then assigned to the folds in turn. The sizes of folds
    differ by at most one query.

    Parameters
    ----------
    queries : sequence of Query
        With distinct ids.
    n : int
        Number of folds.
    seed : int
        Another seed gives another split.

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
    """Split a collection into all other folds (for training) and one fold (for testing).

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
        Queries keep their order; names and counts of what was left out are unchanged.
    """
    if not 0 <= fold < n:
        msg = f"there are folds 0 to {n - 1}, not {fold}"
        raise ValueError(msg)
    fold_numbers = numbers(collection.queries, n=n, seed=seed)
    train = tuple(query for query, number in zip(collection.queries, fold_numbers, strict=True) if number != fold)
    test = tuple(query for query, number in zip(collection.queries, fold_numbers, strict=True) if number == fold)
    return replace(collection, queries=train), replace(collection, queries=test)


TRAIN, DEV, TEST = "train", "dev", "test"
#: Names of splits in files and fields, and our names for them.
NAMES = {TRAIN: TRAIN, "training": TRAIN, DEV: DEV, "valid": DEV, "validation": DEV, "val": DEV, TEST: TEST}
#: Key in `Query.facts`.
FACT = "split"


def part_of(query: Query) -> str:
    """Return a query's split, `train`, `dev` or `test`; "" if the data does not say.

    Examples
    --------
    >>> part_of(Query("1", "Who?", ("Ada",), facts={"split": "dev"})), part_of(Query("1", "Who?", ("Ada",)))
    ('dev', '')
    """
    return str(query.facts.get(FACT, ""))


def of_file(name: str) -> str:
    """Return the split that a file's name states; "" if it states none.

    Examples
    --------
    >>> of_file("nq/train.jsonl.gz"), of_file("validation.jsonl"), of_file("questions.jsonl")
    ('train', 'dev', '')
    """
    return NAMES.get(PurePath(name).name.split(".")[0].casefold(), "")
