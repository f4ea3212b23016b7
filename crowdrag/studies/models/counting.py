"""Counting the rows of a relation, in a subquery of its own."""

from django.db import models
from django.db.models.functions import Coalesce


def rows(model: type[models.Model], relation: str, *, distinct: bool = False) -> Coalesce:
    """Return an annotation of `model` that counts a relation's rows, 0 where there is none.

    A subquery each: joining several relations at once would multiply the rows before counting them. The relation goes
    by its name, so that rows which an upper app owns can be counted too.
    """
    own = model._default_manager.filter(pk=models.OuterRef("pk")).order_by().values("pk")
    counted = own.annotate(n=models.Count(relation, distinct=distinct)).values("n")
    return Coalesce(models.Subquery(counted, output_field=models.IntegerField()), 0)
