"""Migrations are such that a release takes another's place while people write; those that are not are found."""

from pathlib import Path
from typing import Any

import pgtrigger
import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.functions import Now
from pgtrigger.migrations import AddTrigger

from crowdrag.operations import migration_safety
from writing.models import EditingSession

# The last migrations of each app of the last release. A release puts its own here: what comes after is checked. Version
# 0.2.0 is the first with these tables and not released yet: all of its migrations run in empty databases.
RELEASED = dict.fromkeys(
    (
        "studies", "accounts", "audit", "api", "llm", "jobs", "webhooks", "recruitment", "writing", "annotation",
        "analysis", "operations", "mail", "payments",
    ),
    "0001_initial",
) | {"annotation": "0004_assignment_policies"}  # fmt: skip
LATER = """
from django.db import migrations

class Migration(migrations.Migration):
    operations = [migrations.RunSQL("SELECT 1")]
"""
SAFE: list[Operation] = [
    migrations.CreateModel("new", [("id", models.BigAutoField(primary_key=True))]),
    migrations.AddField("editingsession", "more", models.TextField(null=True)),
    migrations.AddField("editingsession", "more", models.TextField(db_default="")),
    migrations.AlterField("editingsession", "number", models.PositiveIntegerField("its number", default=3)),
    migrations.AlterField("editingsession", "number", models.PositiveIntegerField(null=True)),
    migrations.AlterField("logbatch", "codec", models.CharField(max_length=30)),
    migrations.RemoveConstraint("editingsession", "whatever"),
    AddIndexConcurrently("editingsession", models.Index(fields=["number"], name="x")),
    AddConstraintNotValid("editingsession", models.CheckConstraint(condition=models.Q(number__gte=0), name="x")),
    migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("editingsession", "length")]),
]
UNSAFE: list[Operation] = [
    migrations.RemoveField("editingsession", "length"),
    migrations.RenameField("editingsession", "length", "size"),
    migrations.RenameModel("EditingSession", "Session"),
    migrations.DeleteModel("EditingSession"),
    migrations.SeparateDatabaseAndState(database_operations=[migrations.RemoveField("editingsession", "length")]),
    migrations.AddField("editingsession", "more", models.TextField(default="")),
    migrations.AddField("editingsession", "at", models.DateTimeField(db_default=Now())),
    migrations.AddField("editingsession", "code", models.TextField(null=True, unique=True)),
    migrations.AlterField("editingsession", "number", models.BigIntegerField()),
    migrations.AlterField("editingsession", "superseded_at", models.DateTimeField()),
    migrations.AlterField("logbatch", "codec", models.CharField(max_length=5)),
    migrations.AlterField("editingsession", "number", models.PositiveIntegerField(db_column="n")),
    migrations.AddIndex("editingsession", models.Index(fields=["number"], name="x")),
    migrations.AddConstraint("editingsession", models.CheckConstraint(condition=models.Q(number__gte=0), name="x")),
    migrations.AlterUniqueTogether("editingsession", {("log", "number")}),
    AddTrigger("editingsession", pgtrigger.Protect(name="x", operation=pgtrigger.Delete).compile(EditingSession)),
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
    gone = migrations.RemoveField("editingsession", "length")
    assert found(gone, unused_since="0.2.0") == []
    assert len(found(gone, unused_since="0.3.0")) == 1
    # That somebody vouches for it is not enough: the code that used it may still run.
    assert len(found(gone, beside_earlier="nobody will mind")) == 1


def test_an_author_may_answer_for_what_cannot_be_told_from_outside() -> None:
    filled = migrations.RunPython(migrations.RunPython.noop)
    assert found(filled, beside_earlier="it fills a column that the earlier release does not read, in batches") == []


@pytest.mark.django_db
def test_the_plan_is_told_before_an_upgrade(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("upgrade_plan")
    assert "webhooks." not in capsys.readouterr().out
    MigrationRecorder.Migration.objects.filter(app="webhooks").delete()
    call_command("upgrade_plan")
    assert "webhooks.0001_initial" in capsys.readouterr().out


@pytest.mark.django_db
def test_a_plan_that_takes_a_stop_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    folder = tmp_path / "later_migrations"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "0001_later.py").write_text(LATER)
    monkeypatch.syspath_prepend(tmp_path)
    settings.MIGRATION_MODULES = {**settings.MIGRATION_MODULES, "demo": folder.name}
    with pytest.raises(SystemExit) as ended:
        call_command("upgrade_plan")
    assert ended.value.code == 1
    assert "demo.0001_later: " in capsys.readouterr().err


@pytest.mark.django_db
def test_a_database_of_version_0_1_is_refused() -> None:
    assert list(migration_safety.check_release(databases=["default"])) == []
    MigrationRecorder.Migration.objects.create(app="studies", name="0004_bar")
    with pytest.raises(SystemCheckError, match=migration_safety.TOO_OLD):
        call_command("migrate", verbosity=0, skip_checks=False)
    assert list(migration_safety.check_release(databases=None)) == []  # no database was asked about
