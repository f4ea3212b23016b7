"""Operations of migrations in one step do what they do one by one."""

import pytest
from django.db import connection, models
from django.db.migrations.operations import CreateModel, RunPython
from django.db.migrations.state import ProjectState
from django.db.migrations.writer import MigrationWriter

from crowdrag.migration_operations import InOneStep

KEY = ("id", models.BigAutoField(primary_key=True))
OPERATIONS = [
    CreateModel(
        "First",
        [KEY, ("number", models.IntegerField())],
        options={"indexes": [models.Index(fields=["number"], name="by_number")]},
    ),
    CreateModel("Second", [KEY, ("first", models.ForeignKey("made.First", models.PROTECT))]),
]


@pytest.fixture
def before():
    """A state whose models are rendered, as they are while migrations run."""
    state = ProjectState()
    assert state.apps
    return state


def tables():
    return {name for name in connection.introspection.table_names() if name.startswith("made_")}


def test_the_state_is_that_of_one_operation_after_the_other(before):
    together, one_by_one = before.clone(), before.clone()
    InOneStep(OPERATIONS).state_forwards("made", together)
    for operation in OPERATIONS:
        operation.state_forwards("made", one_by_one)
    assert together == one_by_one
    assert together.apps.get_model("made", "second")._meta.get_field("first").related_model.__name__ == "First"


@pytest.mark.django_db
def test_tables_come_and_go(before):
    step, after = InOneStep(OPERATIONS), before.clone()
    step.state_forwards("made", after)
    with connection.schema_editor() as editor:
        step.database_forwards("made", editor, before, after)
    assert tables() == {"made_first", "made_second"}
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, "made_first")
        assert "by_number" in found
        (relation,) = connection.introspection.get_relations(cursor, "made_second").values()
    assert relation == ("id", "made_first")
    with connection.schema_editor() as editor:
        step.database_backwards("made", editor, after, before)
    assert tables() == set()


def test_a_migration_can_be_written_with_it():
    written, imports = MigrationWriter.serialize(InOneStep(OPERATIONS[:1]))
    assert "crowdrag.migration_operations.InOneStep(" in written
    assert "import crowdrag.migration_operations" in imports
    assert InOneStep(OPERATIONS).reversible
    assert not InOneStep([*OPERATIONS, RunPython(RunPython.noop)]).reversible
