"""Which questions of a collection are for training, for choosing and for testing, where the data says so."""

from __future__ import annotations

from pathlib import PurePath

from ..shapes import Query

TRAIN, DEV, TEST = "train", "dev", "test"
#: As files and fields call them.
NAMES = {TRAIN: TRAIN, "training": TRAIN, DEV: DEV, "valid": DEV, "validation": DEV, "val": DEV, TEST: TEST}
#: Of `Query.facts`.
FACT = "split"


def of(query: Query) -> str:
    """`train`, `dev` or `test`; "" where the data does not say.

    Examples
    --------
    >>> of(Query("1", "Who?", ("Ada",), facts={"split": "dev"})), of(Query("1", "Who?", ("Ada",)))
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
