"""Results of an experiment's units as rows: written once, read in a fixed order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from django.db.models import JSONField, Value

from analysis.rag.protocols import Usage
from crowdrag.jobs.models import Run

from .models import UnitResult

BATCH = 200
# A JSON null, as opposed to an empty column, which means that there is no result.
_NULL = Value(None, JSONField())


def keep(run: Run, results: Mapping[str, Any], *, usage: Usage | None = None) -> None:
    """Store those results that are missing; call it inside an effect.

    Existing keys keep their values: the unit was processed before, and equal inputs give equal results.

    Parameters
    ----------
    results : mapping of str to JSON value
        By key: at most 300 characters, unique in the run. NaN and infinity are not valid JSON; use None.
    usage : Usage, optional
        Usage of generators for all these results; it is stored once, with the first.
    """
    spent = asdict(usage) if usage is not None else {}
    rows = [
        UnitResult(run=run, key=key, data=_NULL if data is None else data, usage=spent if index == 0 else {})
        for index, (key, data) in enumerate(results.items())
    ]
    UnitResult.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)


def read(run: Run, prefix: str = "") -> dict[str, Any]:
    """Return the results whose keys begin with `prefix`, by key, in code point order."""
    return dict(stream(run, prefix))


def stream(run: Run, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the same results one by one, for results too large for memory."""
    rows = UnitResult.objects.filter(run=run, key__startswith=prefix).values_list("key", "data")
    keys = sorted(rows.values_list("key", "pk"))  # the database's collation is not the same everywhere
    for start in range(0, len(keys), BATCH):
        part = keys[start : start + BATCH]
        data = dict(rows.filter(pk__in=[pk for _key, pk in part]))
        yield from ((key, data[key]) for key, _pk in part)


def of_keys(run: Run, keys: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the results under some keys, in the order of the keys; missing ones are left out."""
    for start in range(0, len(keys), BATCH):
        part = keys[start : start + BATCH]
        data = dict(UnitResult.objects.filter(run=run, key__in=part).values_list("key", "data"))
        yield from ((key, data[key]) for key in part if key in data)


def one(run: Run, key: str) -> Any:
    """Return the result under a key; raises `LookupError` if there is none."""
    data = UnitResult.objects.filter(run=run, key=key).values_list("data", flat=True).first()
    if data is None and not UnitResult.objects.filter(run=run, key=key).exists():
        raise LookupError(f"The run has no result {key!r}.")
    return data


def usage(run: Run) -> Usage:
    """Return the usage of generators so far."""
    total = Usage()
    for usage_row in (
        UnitResult.objects.filter(run=run).exclude(usage={}).order_by("pk").values_list("usage", flat=True)
    ):
        for field in fields(Usage):
            setattr(total, field.name, getattr(total, field.name) + usage_row.get(field.name, 0))
    return total
