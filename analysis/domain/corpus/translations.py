"""Values that mean something in one database only: what stands for them in an archive, and what they become elsewhere.

Each function takes the study and the places of its rows, and returns the converter of one column.
"""

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import zstandard

from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants.identity import identity_hash
from writing.corpus.imports.fields import Mismatch

from .. import freshness, inputs
from .columns import Places

Converter = Callable[[Any], Any]
# Stands for a judgment that is gone.
GONE = 0
MAX_SNAPSHOT = 2 * 1024**3
CURRENT, COUNTS = "is_current", ("judgments", "responses")


def dump_facts(study: Study, _places: Places) -> Converter:
    """Leave out of a platform's facts whatever is the platform's id of one of the study's people."""
    people = Participant.objects.filter(study=study, identity_hash__isnull=False)
    identities = frozenset(bytes(each) for each in people.values_list("identity_hash", flat=True) if each)

    def is_id(value: Any) -> bool:
        return isinstance(value, str | int) and identity_hash(str(value)) in identities

    def without_ids(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_ids(each) for key, each in value.items() if not is_id(key) and not is_id(each)}
        if isinstance(value, list):
            return [without_ids(each) for each in value if not is_id(each)]
        return value

    return without_ids if identities else lambda facts: facts


def dump_payload(_study: Study, places: Places) -> Converter:
    """Let a snapshot's judgments go by their lines instead of their keys."""

    def line(key: int) -> int:
        return places.find("judgments", key) or GONE

    return lambda payload: base64.b64encode(_with_rows(inputs.unpack(bytes(payload)), line).pack()).decode("ascii")


def load_payload(_study: Study, places: Places) -> Converter:
    """Let a snapshot's judgments go by their new keys."""

    def key(line: int) -> int:
        return places.key("judgments", line) if line != GONE else GONE

    return lambda payload: _with_rows(inputs.unpack(payload), key).pack()


def _with_rows(taken: inputs.Inputs, convert: Callable[[int], int]) -> inputs.Inputs:
    pools = {}
    for name, pool in taken.pools.items():
        rows = np.fromiter(map(convert, pool.row.tolist()), dtype=np.int64, count=len(pool.row))
        pools[name] = replace(pool, row=rows)
    return replace(taken, pools=pools)


def dump_mark(study: Study, _places: Places) -> Converter:
    """Say whether the judgments that count are still those of the snapshot, and how many of them there were."""
    now = freshness.mark(study)
    return lambda mark: {CURRENT: mark == now} | {name: mark.get(name, 0) for name in COUNTS}


def load_mark(study: Study, _places: Places) -> Converter:
    """Mark a snapshot that was current as of now, and any other as none that ever holds here."""
    now = freshness.mark(study)
    never = dict.fromkeys(now, -1)
    return lambda mark: now if mark[CURRENT] else never | {name: mark[name] for name in COUNTS}


def check_snapshot(row: dict[str, Any], judgments: int) -> None:
    """Check that a snapshot can be read, is what its digest says, and names judgments that are there.

    Raises
    ------
    Mismatch
        if not; it says where.
    """
    mark = row["mark"]
    if not isinstance(mark, dict) or not isinstance(mark.get(CURRENT), bool):
        raise Mismatch(f"an object with {CURRENT}", "is none", "mark")
    if any(not isinstance(mark.get(name), int) for name in COUNTS):
        raise Mismatch("the numbers of judgments and responses", "are missing", "mark")
    expected = "a packed snapshot"
    try:
        size = zstandard.get_frame_parameters(row["payload"]).content_size
        taken = inputs.unpack(row["payload"]) if 0 <= size <= MAX_SNAPSHOT else None
        digest = taken.digest if taken else ""
        lines = [pool.row for pool in taken.pools.values()] if taken else []
    except Exception as error:  # whatever numpy, zstandard or json say of bytes that are not theirs
        raise Mismatch(expected, f"cannot be unpacked: {error}", "payload") from error
    if taken is None:
        raise Mismatch(f"{expected} of at most {MAX_SNAPSHOT} bytes", "is larger, or does not say", "payload")
    if digest != row["digest"]:
        raise Mismatch(f"{expected} with the digest {row['digest']}", f"its digest is {digest}", "payload")
    if any(((each < 0) | (each > judgments)).any() for each in lines):
        raise Mismatch(expected, f"names judgments beyond the {judgments} that are here", "payload")
