"""List the migrations that this release must apply, and whether the earlier release can serve meanwhile."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from ... import migration_safety


class Command(BaseCommand):
    """`crowdrag upgrade_plan`: with the new release, before `crowdrag prepare`; status 1 if it takes a stop."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Look, change nothing."""
        planned = migration_safety.pending_migrations()
        if not planned:
            self.stdout.write("There is nothing to migrate. Start the processes of the new release in any order.")
            return
        for migration in planned:
            self.stdout.write(f"  {migration.app_label}.{migration.name}")
        unsafe = migration_safety.find_unsafe([(migration.app_label, migration.name) for migration in planned])
        if not unsafe:
            self.stdout.write("All migrations can run while the previous release is running: crowdrag prepare.")
            return
        for trouble in unsafe:
            self.stderr.write(str(trouble))
        self.stderr.write(
            "First stop the previous release (docs/guides/deployment.md), or upgrade through the releases in between."
        )
        sys.exit(1)
