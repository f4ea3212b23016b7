"""An operation of migrations beside Django's own."""

from collections.abc import Sequence
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class InOneStep(Operation):
    """Several operations after each of which nobody needs the models: new tables, or new triggers.

    Django renders all related models anew after each operation, which takes most of the time of a new database. Here
    they are rendered once, after the last. So no operation may change what an earlier one in the same step has made.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = list(operations)

    @property
    def reversible(self) -> bool:  # type: ignore[override]
        """Whether all of them can be reversed."""
        return all(operation.reversible for operation in self.operations)

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change the state of the project, without the rendered models, which are then rendered when next needed."""
        state.__dict__.pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Change the database, in order."""
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        """Change the database back, in the opposite order. As in Django, `from_state` is the one with the changes."""
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """Name the operations."""
        return "; ".join(operation.describe() for operation in self.operations)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """Return how to write it in a migration."""
        return type(self).__name__, [], {"operations": self.operations}
