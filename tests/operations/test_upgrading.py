"""Migrations are such that a release takes another's place while people write; those that are not are found."""

from typing import Any

import pgtrigger
import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently
from django.core.management import call_command
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ModelState
from django.db.models.functions import Now
from pgtrigger.compiler import Trigger
from pgtrigger.migrations import AddTrigger

from crowdrag.operations import migration_safety
from writing.models import Sitting

# The last migrations of each app before the rule. A release puts its own last ones here: what comes after is checked.
RELEASED = {
    "studies": "0001_squashed_0004_bar",
    "audit": "0001_squashed_0001_looks_and_failures",
    "api": "0001_squashed_0001_tokens",
    "llm": "0001_squashed_0001_initial",
    "runs": "0001_squashed_0003_unit_stage",
    "webhooks": "0001_squashed_0001_initial",
    "recruitment": "0001_squashed_0002_attempt",
    "writing": "0001_squashed_0004_sitting_fenced_at",
    "annotation": "0001_squashed_0005_free_places",
    "analysis": "0001_squashed_0008_release_makers",
    "operations": "0001_squashed_0001_machines_backups_removals",
}
SAFE: list[Operation] = [
    migrations.CreateModel("new", [("id", models.BigAutoField(primary_key=True))]),
    migrations.AddField("sitting", "more", models.TextField(null=True)),
    migrations.AddField("sitting", "more", models.TextField(db_default="")),
    migrations.AlterField("sitting", "number", models.PositiveIntegerField("its number", default=3)),
    migrations.AlterField("sitting", "number", models.PositiveIntegerField(null=True)),
    migrations.AlterField("logbatch", "codec", models.CharField(max_length=30)),
    migrations.RemoveConstraint("sitting", "whatever"),
    AddIndexConcurrently("sitting", models.Index(fields=["number"], name="x")),
    AddConstraintNotValid("sitting", models.CheckConstraint(condition=models.Q(number__gte=0), name="x")),
    migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("sitting", "length")]),
]
UNSAFE: list[Operation] = [
    migrations.RemoveField("sitting", "length"),
    migrations.RenameField("sitting", "length", "size"),
    migrations.RenameModel("Sitting", "Session"),
    migrations.DeleteModel("Sitting"),
    migrations.SeparateDatabaseAndState(database_operations=[migrations.RemoveField("sitting", "length")]),
    migrations.AddField("sitting", "more", models.TextField(default="")),
    migrations.AddField("sitting", "at", models.DateTimeField(db_default=Now())),
    migrations.AddField("sitting", "code", models.TextField(null=True, unique=True)),
    migrations.AlterField("sitting", "number", models.BigIntegerField()),
    migrations.AlterField("sitting", "fenced_at", models.DateTimeField()),
    migrations.AlterField("logbatch", "codec", models.CharField(max_length=5)),
    migrations.AlterField("sitting", "number", models.PositiveIntegerField(db_column="n")),
    migrations.AddIndex("sitting", models.Index(fields=["number"], name="x")),
    migrations.AddConstraint("sitting", models.CheckConstraint(condition=models.Q(number__gte=0), name="x")),
    migrations.AlterUniqueTogether("sitting", {("log", "number")}),
    AddTrigger("sitting", pgtrigger.Protect(name="x", operation=pgtrigger.Delete).compile(Sitting)),
    migrations.RunPython(migrations.RunPython.noop),
    migrations.RunSQL("SELECT 1"),
]


def found(*operations: Operation, version: str = "0.3.0", **said: str) -> list[migration_safety.UnsafeOperation]:
    """What is said of a migration with these operations, right after those that there are."""
    loader = MigrationLoader(None)
    state = loader.project_state()
    migration = migrations.Migration("9999_next", "writing")
    migration.operations = list(operations)
    for name, value in said.items():
        setattr(migration, name, value)
    return list(migration_safety._of_migration(migration, state, set(), version))


def test_what_came_since_the_last_release_can_be_applied_while_that_serves() -> None:
    assert list(map(str, migration_safety.find_unsafe(since=RELEASED))) == []


@pytest.mark.parametrize("operation", SAFE, ids=lambda operation: operation.describe())
def test_what_the_earlier_release_need_not_know_of(operation: Operation) -> None:
    assert found(operation) == []


@pytest.mark.parametrize("operation", UNSAFE, ids=lambda operation: operation.describe())
def test_what_the_earlier_release_would_fail_on_is_found(operation: Operation) -> None:
    (trouble,) = found(operation)
    assert trouble.migration == "writing.9999_next"


def test_a_table_that_is_new_may_be_changed_at_will() -> None:
    made = migrations.CreateModel("new", [("id", models.BigAutoField(primary_key=True)), ("n", models.IntegerField())])
    assert found(made, migrations.AlterField("new", "n", models.TextField()), migrations.RemoveField("new", "n")) == []


def test_what_goes_must_have_been_of_no_use_for_a_release() -> None:
    gone = migrations.RemoveField("sitting", "length")
    assert found(gone, unused_since="0.2.0") == []
    assert len(found(gone, unused_since="0.3.0")) == 1
    # That somebody vouches for it is not enough: the code that used it may still run.
    assert len(found(gone, beside_earlier="nobody will mind")) == 1


def test_an_author_may_answer_for_what_cannot_be_told_from_outside() -> None:
    filled = migrations.RunPython(migrations.RunPython.noop)
    assert found(filled, beside_earlier="it fills a column that the earlier release does not read, in batches") == []


def test_what_was_squashed_says_the_same_as_what_it_replaces() -> None:
    apart = MigrationLoader(None, replace_migrations=False)
    squashed = [migration for migration in apart.disk_migrations.values() if migration.replaces]
    steps = apart.project_state([migration.replaces[-1] for migration in squashed])
    whole = apart.project_state([(migration.app_label, migration.name) for migration in squashed])
    assert {migration.app_label for migration in squashed} >= {"studies", "writing", "annotation", "analysis"}
    assert steps.models.keys() == whole.models.keys()
    for key, model in steps.models.items():
        assert described(model) == described(whole.models[key])


def described(model: ModelState) -> tuple[Any, ...]:
    """What a model is, whatever order it is said in."""
    fields = {name: made_of(field) for name, field in model.fields.items()}
    options = {
        name: sorted(map(said, value)) if isinstance(value, list) else value
        for name, value in model.options.items()
        if value
    }
    return fields, options, model.bases, [(name, type(manager)) for name, manager in model.managers]


def made_of(field: Any) -> tuple[Any, ...]:
    """What a field is made of, and so the field of which an array is one."""
    _name, path, args, named = field.deconstruct()
    return (
        path,
        args,
        {key: made_of(value) if isinstance(value, models.Field) else value for key, value in named.items()},
    )


def said(option: Any) -> str:
    """What an index, a constraint or a trigger is, in words."""
    return f"{option.name} {option.hash}" if isinstance(option, Trigger) else repr(option)


@pytest.mark.django_db
def test_the_plan_is_told_before_an_upgrade(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("upgrade_plan")
    assert "writing." not in capsys.readouterr().out
    MigrationRecorder.Migration.objects.filter(app="writing", name="0006_response_text_limit").delete()
    call_command("upgrade_plan")
    assert "writing.0006_response_text_limit" in capsys.readouterr().out


@pytest.mark.django_db
def test_a_plan_that_takes_a_stop_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    recorded: Any = MigrationRecorder.Migration.objects
    recorded.filter(app="annotation", name__gte="0004").delete()
    with pytest.raises(SystemExit) as ended:
        call_command("upgrade_plan")
    assert ended.value.code == 1
    assert "annotation.0004_rename_plain: " in capsys.readouterr().err
