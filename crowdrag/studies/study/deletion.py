"""Remove studies whose deletion was requested: all their rows, table by table, and their files.

Rows are removed in small transactions, so that even a large study blocks nobody. If a process is killed, the next one
continues with the remaining rows. Rows are found by their foreign keys, so that a new table needs no change here. The
access log stays: it is kept as long as the law requires.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from graphlib import TopologicalSorter
from typing import Any, Final

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.models import FileField, ForeignKey, Model

from .models import Study

BATCH: Final = 5_000
#: Maximum number of rows that one call removes, so that other jobs get their turn.
MAX_ROWS: Final = 200_000
# Called when a study is gone, with it and the number of rows that the last call removed from each table.
RemovalHook = Callable[[Study, dict[str, int], datetime], None]
_removal_hooks: list[RemovalHook] = []


def on_removed(hook: RemovalHook) -> None:
    """Add a hook that runs in the same transaction once a study is gone; called once from an app's `ready`."""
    _removal_hooks.append(hook)


@cache
def study_tables() -> list[tuple[type[Model], str]]:
    """Return all tables with rows of studies, each with the path from a row to its study.

    Tables come before those that they refer to.
    """
    paths: dict[type[Model], str] = {Study: ""}
    keys = {model: _foreign_keys(model) for model in apps.get_models(include_auto_created=True)}
    while reached := {model: path for model in keys if model not in paths and (path := _path(keys[model], paths))}:
        paths |= reached
    order = TopologicalSorter(
        {model: {key.related_model for key in keys[model]} & set(paths) - {model} for model in paths}
    )
    tables = [model for model in order.static_order() if model is not Study]
    return [(model, paths[model]) for model in reversed(tables)]


def _foreign_keys(model: type[Model]) -> list[Any]:
    if model._meta.proxy or not model._meta.managed:
        return []
    # A foreign key without a constraint may refer to a deleted row: the access log outlives the study.
    keys: list[Any] = [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]
    return [key for key in keys if key.db_constraint]


def _path(keys: list[Any], paths: dict[type[Model], str]) -> str:
    """Return the path by the key to the study itself, else by one that every row has; empty if there is none."""
    for key in keys:
        if key.related_model is Study:
            return str(key.name)
    return next(
        (f"{key.name}__{paths[key.related_model]}" for key in keys if not key.null and paths.get(key.related_model)), ""
    )


def remove_requested(now: datetime, *, max_rows: int = MAX_ROWS) -> int:
    """Remove at most `max_rows` rows of studies whose deletion was requested; return the number removed."""
    removed = 0
    for study in Study.objects.filter(deletion_requested_at__isnull=False).order_by("deletion_requested_at", "pk"):
        removed += _remove(study, now, max_rows - removed)
        if removed >= max_rows:
            break
    return removed


def _remove(study: Study, now: datetime, max_rows: int) -> int:
    counts: Counter[str] = Counter()
    for model, path in study_tables():
        while count := _remove_batch(model, path, study, min(BATCH, max_rows - counts.total())):
            counts[model._meta.label] += count
        if counts.total() >= max_rows:
            return counts.total()
    with transaction.atomic():
        if Study.objects.filter(pk=study.pk)._raw_delete(connection.alias):
            for hook in _removal_hooks:
                hook(study, dict(counts), now)
    return counts.total()


@transaction.atomic
def _remove_batch(model: type[Model], path: str, study: Study, size: int) -> int:
    """Remove some rows of a table with their files, newest first, since a row may refer to an earlier one."""
    if size <= 0:
        return 0
    rows = model._base_manager.filter(**{path: study}).order_by("-pk")
    keys = list(rows.values_list("pk", flat=True)[:size])
    if not keys:
        return 0
    chosen = model._base_manager.filter(pk__in=keys)
    for field in model._meta.concrete_fields:
        if isinstance(field, FileField):
            for name in chosen.exclude(**{field.name: ""}).values_list(field.name, flat=True):
                transaction.on_commit(partial(default_storage.delete, str(name)))
    chosen._raw_delete(connection.alias)
    return len(keys)
