"""List the migrations that this release must apply; exits with 1 if the upgrade needs downtime."""

import sys
from typing import Any

from crowdrag.command_output import ResultCommand
from crowdrag.runtime.exit_codes import ExitCode

from ... import migration_safety


class Command(ResultCommand):
    """For the new release, before `crowdrag prepare`; exits with 1 if the upgrade needs downtime."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Look, change nothing."""
        planned = [(migration.app_label, migration.name) for migration in migration_safety.pending_migrations()]
        unsafe = migration_safety.find_unsafe(planned)
        self.print_result(
            {
                "migrations": [f"{app}.{name}" for app, name in planned],
                "needs_stop": bool(unsafe),
                "reasons": [str(trouble) for trouble in unsafe],
            },
            *(f"  {app}.{name}" for app, name in planned),
        )
        if not planned:
            self.remark("There is nothing to migrate. Start the processes of the new release in any order.")
        elif not unsafe:
            self.remark("All migrations can run while the previous release is running: crowdrag prepare.")
        if unsafe:
            for trouble in unsafe:
                self.stderr.write(str(trouble))
            self.stderr.write(
                "First stop the previous release (docs/guides/deployment.md), "
                "or upgrade through the releases in between."
            )
            sys.exit(ExitCode.FAILED)
