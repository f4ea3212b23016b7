"""Storage of result tables."""

from typing import Any

import pgtrigger
from django.db import models

from crowdrag.jobs.models import Run


class ResultTableQuerySet(models.QuerySet["ResultTable"]):
    """Queries of result tables."""

    def rows_where(self, path: str, **variables: Any) -> list[dict[str, Any]]:
        """Return the rows of one table that match a JSON path, such as `$[*] ? (@.dimension == $dimension)`.

        The database filters them, so that a page about one pair does not read the labels of all.
        """
        kept = models.Func(
            models.F("rows"),
            models.Func(models.Value(path), template="%(expressions)s::jsonpath"),
            models.Value(variables, output_field=models.JSONField()),
            function="jsonb_path_query_array",
            output_field=models.JSONField(),
        )
        return self.order_by("id").values_list(kept, flat=True).first() or []


class ResultTable(models.Model):
    """One result table of a run, named as in docs/reference/tables.md: a list of objects, one for each row."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="tables")
    name = models.CharField(max_length=50)
    rows = models.JSONField(default=list)

    objects = ResultTableQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="result_table_once_per_run")]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
