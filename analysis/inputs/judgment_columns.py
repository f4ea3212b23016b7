"""A study's judgments that count, in columns that are kept between runs (docs/adr/0044-judgments-in-columns.md).

A run reads all judgments of a study, and ten million rows take PostgreSQL a minute. They are therefore kept in parts:
rows of `JudgmentPart`, each with the judgments of some assignments as a Parquet file. For each assignment a part holds
its mark: the sums of its judgments and the version of that row (`JudgmentSums`). A run compares the marks with the
present ones, reads from the judgments only those of assignments without a valid mark, and keeps them as a new part.
Parts are therefore never wrong, only incomplete or too large, and they can be deleted at any time.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from django.core.exceptions import EmptyResultSet
from django.db import connection, connections, transaction
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone
from numpy.typing import NDArray

from annotation.models import Assignment, Judgment, JudgmentSums
from crowdrag.studies.models import Participant, Study

from .models import JudgmentPart

Ints = NDArray[np.int64]
Rows = NDArray[Any]

#: Rows whose first columns differ only in this many low bits are read together; memory is twice that of such a group.
BITS = 20
#: Judgments of a part, unless a single assignment has more.
LARGE = 1_000_000
#: Parts with fewer valid judgments than this are small. More small parts than `MANY` are merged into one.
SMALL, MANY = 100_000, 16
#: A part is written anew if less than this share of its judgments is valid.
VALID = 0.5

#: Columns of an assignment that change whenever one of its judgments does.
MARKS: Final = ("judgments", "id_sum", "answer_sum", "version")
_ASSIGNMENTS = {
    "assignment": "assignment_id",
    "questionnaire": "assignment__questionnaire_id",
    "coder": "assignment__participant_id",
    "campaign": "campaign_id",
    "judgments": "judgments",
    "id_sum": "id_sum",
    "answer_sum": "answer_sum",
    "version": "version",
}
_JUDGMENTS = {
    "row": "id",
    "assignment": "assignment_id",
    "item": "item_id",
    "dimension": "dimension_id",
    "value": "value",
}
#: Columns of a part's file. `place` is the index of the assignment among those of the part.
_TYPES = {"place": np.int32, "row": np.int64, "item": np.int64, "dimension": np.int64, "value": np.int16}
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('analysis.judgment_parts'), %s)"


def read(rows: QuerySet[Any], fields: Mapping[str, str]) -> Rows:
    """Read integer columns.

    A row as a tuple of Python integers takes half a microsecond, a few hundred times as long as its bytes. Rows are
    therefore read as columns of bytes.

    Parameters
    ----------
    rows : QuerySet
        In any order, which is not preserved.
    fields : dict of str to str
        Field of each column, never null. The first must be a primary key, or another well-distributed number.

    Returns
    -------
    structured ndarray of int64, shape (n,)
        One field for each name, sorted by the first column, read with one statement.
    """
    kind = [(name, np.int64) for name in fields]
    try:
        sql, parameters = rows.order_by().values_list(*fields.values()).query.sql_with_params()
    except EmptyResultSet:  # Django recognises that no row can match
        return np.empty(0, dtype=kind)
    names = [f"column_{i}" for i in range(len(fields))]
    sums = ", ".join(f"string_agg(int8send({name}::bigint), '')" for name in names)
    query = f"SELECT {sums} FROM ({sql}) AS found({', '.join(names)}) GROUP BY {names[0]} >> {BITS}"  # noqa: S608
    parts = []
    with connections[rows.db].chunked_cursor() as cursor:
        cursor.execute(query, parameters)
        while some := cursor.fetchmany(1):
            parts.append([np.frombuffer(column, dtype=">i8") for column in some[0]])
    table = np.empty(sum(len(part[0]) for part in parts), dtype=kind)
    for position, name in enumerate(fields):
        table[name] = np.concatenate([part[position] for part in parts]) if parts else 0
    return table[np.argsort(table[next(iter(fields))], kind="stable")]


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments that count, in the order of their primary keys.

    Attributes
    ----------
    assignments : structured ndarray, shape (n_assignments,)
        Primary keys of assignments, ascending, with those of their questionnaire, participant ("coder") and campaign.
    items, dimensions : ndarray of int
        Primary keys, ascending.
    row : ndarray of int, shape (n,)
        Primary keys of the judgments.
    assignment, item, dimension : ndarray of int, shape (n,)
        Indices in the above.
    value : ndarray of int, shape (n,)
    """

    assignments: Rows
    items: Ints
    dimensions: Ints
    row: Ints
    assignment: NDArray[np.int32]
    item: NDArray[np.int32]
    dimension: NDArray[np.int16]
    value: NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Part:
    """Judgments of some assignments: their marks, sorted by assignment, and the columns of `_TYPES`."""

    marks: Rows
    columns: dict[str, NDArray[Any]]

    def only(self, kept: NDArray[np.bool_]) -> "Part":
        """Return the part with some of its assignments."""
        if kept.all():
            return self
        chosen, index = kept[self.columns["place"]], np.cumsum(kept) - 1
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return Part(self.marks[kept], columns | {"place": index[columns["place"]].astype(np.int32)})


@dataclass(frozen=True)
class Renewal:
    """What a reading found out about the stored parts: those to add, and those that they replace."""

    added: tuple[Part, ...] = ()
    replaced: tuple[int, ...] = ()


def load(study: Study, campaigns: Collection[int]) -> tuple[Judgments, Renewal]:
    """Read the judgments of some campaigns that count.

    Read as of one moment (`snapshots.one_moment`): assignments and their judgments are then of the same state of the
    database. `keep` the renewal afterwards, so that the next run reads only what has changed since.
    """
    present = _present(study)
    is_needed = np.isin(present["campaign"], np.fromiter(campaigns, dtype=np.int64, count=len(campaigns)))
    taken = np.zeros(len(present), dtype=bool)
    valid: dict[int, NDArray[np.bool_]] = {}
    stored: dict[int, Part] = {}
    small, replaced = [], []
    for pk, marks in _marks(study):
        index, valid[pk] = _compare(marks, present, taken)
        taken[index[valid[pk]]] = True
        judgments = int(marks["judgments"][valid[pk]].sum())
        if judgments < VALID * marks["judgments"].sum():
            replaced.append(pk)
        elif judgments < SMALL:
            small.append(pk)
        if pk in replaced or is_needed[index[valid[pk]]].any():
            stored[pk] = _opened(pk, marks)
    parts = [part.only(valid[pk]) for pk, part in stored.items()]
    added = list(_missing(present[is_needed & ~taken]))
    renewed = [*added, *(stored[pk].only(valid[pk]) for pk in replaced)]
    if len(small) + sum(len(part.columns["row"]) < SMALL for part in renewed) > MANY:
        whole = [part for part in renewed if len(part.columns["row"]) >= SMALL]
        merged = [part for part in renewed if len(part.columns["row"]) < SMALL]
        for pk in small:
            if pk not in stored:
                stored[pk] = _opened(pk, next(marks for other, marks in _marks(study) if other == pk))
            merged.append(stored[pk].only(valid[pk]))
        renewed, replaced = [*whole, _merged(merged)], [*replaced, *small]
    return _gathered(present, is_needed, [*parts, *added]), Renewal(tuple(renewed), tuple(replaced))


def keep(study: Study, renewal: Renewal) -> None:
    """Store the parts that a reading made, and delete those that they replace, in one transaction.

    Judgments that changed or were erased since, or that another run has stored in the meantime, are left out.
    """
    if not renewal.added and not renewal.replaced:
        return
    with transaction.atomic():
        _lock(study)
        JudgmentPart.objects.filter(study=study, pk__in=renewal.replaced).delete()
        present = _present(study)
        taken = np.zeros(len(present), dtype=bool)
        for _pk, marks in _marks(study):
            index, valid = _compare(marks, present, taken)
            taken[index[valid]] = True
        for part in renewal.added:
            index, valid = _compare(part.marks, present, taken)
            taken[index[valid]] = True
            _store(study, part.only(valid))


def forget(participant: Participant) -> None:
    """Remove a participant's judgments from all parts."""
    own_keys = np.array(
        Assignment.objects.filter(participant=participant).order_by("pk").values_list("pk", flat=True), dtype=np.int64
    )
    with transaction.atomic():
        _lock(participant.study)
        for pk, marks in _marks(participant.study):
            others = ~np.isin(marks["assignment"], own_keys)
            if not others.all():
                left = _opened(pk, marks).only(others)
                JudgmentPart.objects.filter(pk=pk).delete()
                _store(participant.study, left)


def _lock(study: Study) -> None:
    """Let no other transaction store parts of the study before this one ends.

    An erasure that begins later sees what is stored now; one that has begun earlier is over.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [study.pk])


def _store(study: Study, part: Part) -> None:
    if not len(part.marks):
        return
    payload = _parquet(part.columns)
    JudgmentPart.objects.create(
        study=study,
        judgments=len(part.columns["row"]),
        marks=_parquet({name: part.marks[name] for name in ("assignment", *MARKS)}),
        payload=payload,
        digest=hashlib.sha256(payload).hexdigest(),
        created_at=timezone.now(),
    )


def _present(study: Study) -> Rows:
    """Return the assignments whose judgments count, with their marks, sorted by primary key."""
    sums = JudgmentSums.objects.filter(campaign__study=study, judgments__gt=0).counted()
    # The id of the transaction that last changed the row: any change of a judgment changes its assignment's sums.
    version = RawSQL("annotation_judgmentsums.xmin::text::bigint", [])
    return read(sums.annotate(version=version), _ASSIGNMENTS)


def _compare(marks: Rows, present: Rows, taken: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the present index of each assignment, and whether it has its mark and no other part holds it."""
    if not len(present):
        return np.zeros(len(marks), dtype=np.int64), np.zeros(len(marks), dtype=bool)
    index = np.minimum(np.searchsorted(present["assignment"], marks["assignment"]), len(present) - 1)
    valid = ~taken[index]
    for name in ("assignment", *MARKS):
        valid &= present[name][index] == marks[name]
    return index, valid


def _missing(assignments: Rows) -> Iterator[Part]:
    """Read the judgments of some assignments, at most `LARGE` at a time."""
    counted = Judgment.objects.counted()
    marks = assignments[["assignment", *MARKS]]
    for some in np.split(marks, _bounds(assignments["judgments"])):
        if not len(some):
            continue
        these = RawSQL("SELECT unnest(%s::bigint[])", [some["assignment"].tolist()])
        rows = read(counted.filter(assignment__in=these), _JUDGMENTS)
        index = np.searchsorted(some["assignment"], rows["assignment"])
        order = np.argsort(index, kind="stable")
        columns = {name: rows[name][order].astype(kind) for name, kind in _TYPES.items() if name != "place"}
        yield Part(some, {"place": index[order].astype(np.int32)} | columns)


def _bounds(sizes: Ints) -> Ints:
    """Return where to divide a sequence, so that the sizes of each piece sum to `LARGE` at most, if they can."""
    group = np.cumsum(sizes) // LARGE
    return np.flatnonzero(np.diff(group)) + 1


def _merged(parts: Sequence[Part]) -> Part:
    """Return the judgments of several parts as one, sorted by assignment."""
    marks = np.concatenate([part.marks for part in parts])
    order = np.argsort(marks["assignment"])
    index = np.empty(len(order), dtype=np.int32)
    index[order] = np.arange(len(order))
    begins = np.cumsum([0, *(len(part.marks) for part in parts[:-1])])
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in _TYPES}
    columns["place"] = index[
        np.concatenate([part.columns["place"] + begin for part, begin in zip(parts, begins, strict=True)])
    ]
    sorted_rows = np.lexsort((columns["row"], columns["place"]))
    return Part(marks[order], {name: column[sorted_rows] for name, column in columns.items()})


def _gathered(present: Rows, is_needed: NDArray[np.bool_], parts: Sequence[Part]) -> Judgments:
    """Return the judgments of the wanted assignments, in the order of their primary keys."""
    assignments = present[is_needed]
    gathered: dict[str, list[NDArray[Any]]] = {name: [] for name in ("row", "assignment", "item", "dimension", "value")}
    keys: dict[str, list[Ints]] = {"item": [], "dimension": []}
    for part in parts:
        index = np.searchsorted(assignments["assignment"], part.marks["assignment"])
        inside = np.minimum(index, max(len(assignments) - 1, 0))
        is_wanted = assignments["assignment"][inside] == part.marks["assignment"] if len(assignments) else index < 0
        chosen = part.only(is_wanted)
        gathered["assignment"].append(index[is_wanted].astype(np.int32)[chosen.columns["place"]])
        gathered["row"].append(chosen.columns["row"])
        gathered["value"].append(chosen.columns["value"])
        for name, pks in keys.items():
            coded = _arrow(chosen.columns[name]).dictionary_encode()
            pks.append(np.asarray(np.from_dlpack(coded.dictionary), dtype=np.int64))
            gathered[name].append(np.from_dlpack(coded.indices))
    distinct = {name: np.unique(np.concatenate(pks)) if pks else np.empty(0, np.int64) for name, pks in keys.items()}
    for name, kind in (("item", np.int32), ("dimension", np.int16)):
        of_parts = zip(keys[name], gathered[name], strict=True)
        gathered[name] = [np.searchsorted(distinct[name], pks).astype(kind)[codes] for pks, codes in of_parts]
    row = _joined(gathered.pop("row"), np.int64)
    order = None if np.all(row[1:] > row[:-1]) else np.argsort(row, kind="stable")
    types: dict[str, type] = {"assignment": np.int32, "item": np.int32, "dimension": np.int16, "value": np.int16}
    columns = {}
    for name, width in types.items():
        column = _joined(gathered.pop(name), width)
        columns[name] = column if order is None else column[order]
    return Judgments(
        assignments=assignments[["assignment", "questionnaire", "coder", "campaign"]],
        items=distinct["item"],
        dimensions=distinct["dimension"],
        row=row if order is None else row[order],
        **columns,
    )


def _joined(arrays: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=kind)


def _parquet(columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Return columns as a Parquet file: integers that ascend by their differences, others by a dictionary."""
    ascending = ["row", "assignment", "version", "id_sum"]
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(
        pa.table({name: _arrow(column) for name, column in columns.items()}),
        sink,
        compression="zstd",
        use_dictionary=[name for name in columns if name not in ascending],
        column_encoding={name: "DELTA_BINARY_PACKED" for name in columns if name in ascending},
        write_statistics=False,
    )
    return bytes(sink.getvalue())


def _marks(study: Study) -> Iterator[tuple[int, Rows]]:
    """Yield the primary key of each part with its marks, oldest first."""
    for pk, packed in JudgmentPart.objects.filter(study=study).order_by("pk").values_list("pk", "marks"):
        columns = _columns(packed)
        marks = np.empty(len(columns["assignment"]), dtype=[(name, np.int64) for name in columns])
        for name, column in columns.items():
            marks[name] = column
        yield pk, marks


def _opened(pk: int, marks: Rows) -> Part:
    return Part(marks, _columns(JudgmentPart.objects.values_list("payload", flat=True).get(pk=pk)))


def _columns(packed: bytes | memoryview) -> dict[str, NDArray[Any]]:
    table = pa.parquet.ParquetFile(pa.BufferReader(bytes(packed))).read()
    kinds = {field.name: field.type.to_pandas_dtype() for field in table.schema}
    return {
        name: _joined([np.from_dlpack(chunk) for chunk in table.column(name).chunks], kind)
        for name, kind in kinds.items()
    }


def _arrow(column: NDArray[Any]) -> pa.Array:
    """Return an array as one of Arrow, with the same bytes.

    `pyarrow.array` and `to_numpy` would import pandas where it is installed, which takes a second. From Arrow to NumPy,
    `numpy.from_dlpack` does the same without.
    """
    content = pa.py_buffer(np.ascontiguousarray(column))
    return pa.Array.from_buffers(pa.from_numpy_dtype(column.dtype), len(column), [None, content])
