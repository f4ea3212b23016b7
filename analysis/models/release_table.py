"""A table of a release as its page shows it: its columns, how many rows, and the first of them."""

import pgtrigger
from django.db import models

from .release import Release
from .release_file import parts_stay


class ReleaseTable(models.Model):
    """One table. `preview` are its first rows; it is emptied when somebody in the release has theirs erased."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="tables")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=100)
    about = models.CharField(max_length=500, blank=True)
    rows = models.BigIntegerField()
    columns = models.JSONField(default=list)
    preview = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "name"], name="release_table_name_unique"),
            models.CheckConstraint(condition=models.Q(rows__gte=0), name="release_table_rows_not_negative"),
        ]
        triggers = [
            *parts_stay(),
            pgtrigger.Protect(
                name="never_changes", operation=pgtrigger.Update, condition=pgtrigger.AnyChange(exclude=["preview"])
            ),
            pgtrigger.Protect(
                name="preview_is_only_emptied",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.preview IS DISTINCT FROM NEW.preview AND NEW.preview <> '[]'::jsonb"
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name
