"""Whether migrations can run while the earlier release is serving (docs/adr/0024-deployment.md).

Tables are first *expanded*: additions must not require anything of the earlier release. When nobody runs it any more, a
later release *contracts* them: it removes what has not been used for a release. In between, both releases work with the
tables, so that one can replace the other, and be rolled back, while people write.

What can be determined from a migration is determined here. For the rest, its author declares in it:

- `unused_since = "0.3.0"`: the release since which nothing used what is removed; earlier than this one.
- `beside_earlier = "why"`: why it does not affect the earlier release, and why nobody waits long for it.

Version 0.2 started with new migrations: a database of version 0.1 is rejected, and its studies are imported as
archives.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently
from django.core.checks import CheckMessage, Error
from django.db import connection, connections, migrations
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.operations.models import AlterTogetherOptionOperation
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState
from django.db.models import Field, ForeignKey, ManyToManyField
from django.db.models.expressions import Value
from django.db.models.fields import NOT_PROVIDED
from pgtrigger.migrations import AddTrigger

import crowdrag

Key = tuple[str, str]
# The earlier release may still use what they remove.
TAKES_AWAY = (
    migrations.RemoveField,
    migrations.DeleteModel,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterModelTable,
)
# Applied in every database of version 0.1, and in none of a later one.
OF_VERSION_0_1: Final = ("studies", "0004_bar")
TOO_OLD: Final = "operations.E001"
# Attributes of a field that are not part of the database schema.
NOT_OF_THE_TABLE = {*Field.non_db_attrs, "default", "auto_now", "auto_now_add", "to"}


@dataclass(frozen=True)
class UnsafeOperation:
    """Why a migration must not be applied while the earlier release serves."""

    migration: str
    operation: str
    reason: str

    def __str__(self) -> str:
        return f"{self.migration}: {self.operation}: {self.reason}"


def check_release(*, databases: Sequence[str] | None = None, **_options: Any) -> list[CheckMessage]:
    """Reject a database of version 0.1: its tables have other names."""
    applied = {name: MigrationRecorder(connections[name]).applied_migrations() for name in databases or ()}
    return [
        Error(
            f"The database “{name}” was made by version 0.1, whose tables have other names. Nothing was changed.",
            hint="Export each study with version 0.1 (crowdrag export), give this version an empty database "
            "(another DATABASE_URL or CROWDRAG_DATA_DIR), and import the archives there (docs/guides/deployment.md).",
            id=TOO_OLD,
        )
        for name, keys in applied.items()
        if OF_VERSION_0_1 in keys
    ]


def pending_migrations() -> list[migrations.Migration]:
    """Return the migrations of this release that are not applied yet, in order."""
    executor = MigrationExecutor(connection)
    return [migration for migration, _back in executor.migration_plan(executor.loader.graph.leaf_nodes())]


def find_unsafe(
    planned: Iterable[Key] | None = None, *, since: dict[str, str] | None = None, version: str = crowdrag.__version__
) -> list[UnsafeOperation]:
    """Return reasons against applying migrations while an earlier release serves.

    Those `planned` for the database, by app and name; or all after the last ones of each app in `since`.
    """
    # Planned migrations may since have been squashed: the database says which of the two counts.
    loader = MigrationLoader(None if planned is None else connection, ignore_no_migrations=True)
    order = _ordered(loader)
    if planned is None:
        released = {key for app, name in (since or {}).items() for key in loader.graph.forwards_plan((app, name))}
        ours = {app for app, _name in order if app in (since or {})} | _of_ours(order)
        to_check = {key for key in order if key[0] in ours} - released
    else:
        to_check = set(planned)
    state, new, unsafe = ProjectState(), set[Key](), list[UnsafeOperation]()
    for key in order:
        migration = loader.graph.nodes[key]
        if key in to_check:
            unsafe += _of_migration(migration, state, new, version)
        state = migration.mutate_state(state, preserve=True)
    return unsafe


def _ordered(loader: MigrationLoader) -> list[Key]:
    order: dict[Key, None] = {}
    for leaf in sorted(loader.graph.leaf_nodes()):
        order |= dict.fromkeys(loader.graph.forwards_plan(leaf))
    return list(order)


def _of_ours(order: Iterable[Key]) -> set[str]:
    from django.apps import apps

    ours = ("crowdrag", "annotation", "analysis", "writing")
    return {app for app, _name in order if apps.get_app_config(app).name.split(".")[0] in ours}


def _of_migration(
    migration: migrations.Migration, before: ProjectState, new: set[Key], version: str
) -> Iterator[UnsafeOperation]:
    name = f"{migration.app_label}.{migration.name}"
    explanation = getattr(migration, "beside_earlier", "")
    since = getattr(migration, "unused_since", "")
    state = before.clone()
    for operation in migration.operations:
        for real in _real(operation):
            if isinstance(real, TAKES_AWAY) and _table(migration, real) not in new:
                if not since:
                    yield UnsafeOperation(
                        name, real.describe(), "the earlier release may use it; unused_since says which did not"
                    )
                elif _parts(since) >= _parts(version):
                    yield UnsafeOperation(name, real.describe(), f"{since} is no earlier release than this, {version}")
            elif not explanation and (reason := _reason(real, _table(migration, real), state, new)):
                yield UnsafeOperation(name, real.describe(), reason)
            if isinstance(real, migrations.CreateModel):
                new.add((migration.app_label, real.name_lower))
        operation.state_forwards(migration.app_label, state)


def _real(operation: Operation) -> list[Operation]:
    """Return the operations that reach the database."""
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        return [real for part in operation.database_operations for real in _real(part)]
    return [operation]


def _table(migration: migrations.Migration, operation: Operation) -> Key:
    name = (
        getattr(operation, "model_name", None) or getattr(operation, "old_name", None) or getattr(operation, "name", "")
    )
    return migration.app_label, str(name).lower()


def _reason(operation: Operation, table: Key, state: ProjectState, new: set[Key]) -> str:
    """Return why the author must declare an operation safe; empty if that is not needed."""
    if isinstance(operation, migrations.RunPython | migrations.RunSQL):
        return "what it does cannot be told from outside"
    if table in new:
        return ""
    if isinstance(operation, migrations.AddField):
        return _added(operation.field)
    if isinstance(operation, migrations.AlterField):
        return _altered(state.models[table].fields[operation.name], operation.field)
    if isinstance(operation, migrations.AddIndex) and not isinstance(operation, AddIndexConcurrently):
        return "nobody writes to the table while the index is made (AddIndexConcurrently)"
    if isinstance(operation, migrations.AddConstraint) and not isinstance(operation, AddConstraintNotValid):
        return "the earlier release may break it, and the whole table is read under a lock"
    if isinstance(operation, AlterTogetherOptionOperation | AddTrigger):
        return "the earlier release may break it"
    return ""


def _added(field: Field) -> str:  # type: ignore[type-arg]
    if isinstance(field, ManyToManyField):
        return ""
    kept = getattr(field, "db_default", NOT_PROVIDED)
    if not field.null and kept is NOT_PROVIDED and not getattr(field, "generated", False):
        return "the earlier release adds rows without it: it may be null, or has a db_default"
    if kept is not NOT_PROVIDED and hasattr(kept, "resolve_expression") and not isinstance(kept, Value):
        return "its db_default is an expression: the whole table may be written anew under a lock"
    if field.unique or getattr(field, "db_index", False) or isinstance(field, ForeignKey):
        return "nobody writes to the table while its index is made"
    return ""


def _altered(old: Field, new: Field) -> str:  # type: ignore[type-arg]
    before, after = old.deconstruct(), new.deconstruct()
    if before[1] != after[1]:
        return f"another type, from {before[1]} to {after[1]}: the earlier release has the old one in its statements"
    if old.db_column != new.db_column:
        return "the earlier release asks for the column by its old name"
    changed = {
        name
        for name in {*before[3], *after[3]} - NOT_OF_THE_TABLE
        if before[3].get(name, NOT_PROVIDED) != after[3].get(name, NOT_PROVIDED)
    }
    if new.null:
        changed.discard("null")
    if (old.max_length or 0) <= (new.max_length or 0) or new.max_length is None:
        changed.discard("max_length")
    changed.discard("db_default")
    return f"{', '.join(sorted(changed))}: the earlier release may not keep to it" if changed else ""


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
