"""Tables of grades: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count, estimate
from ..shared_columns import DIMENSION

GRADE_MEANS = Table(
    "grade_means",
    _("Mean grades"),
    _(
        "Mean grade of the responses within their topic (1 is the worst), by dimension, style and origin, with "
        "95 % bootstrap intervals over topics."
    ),
    (
        DIMENSION,
        Column("style", _("Style"), words="style"),
        Column("origin", _("Origin"), words="origin"),
        estimate("mean", _("Mean grade"), n="n"),
        count("n", _("Grades")),
    ),
    across=("origin",),
    meanings={
        "dimension, style, origin": "`all` stands for the margins",
        "mean, low, high": "mean grade",
        "n": "grades that the mean is of: one a response and dimension",
    },
)
GRADES = Table(
    "grades",
    _("Grades of the responses"),
    _(
        "Merit (log scale) with its standard error, and grade of each response within its topic, by dimension. In "
        "brackets the range of its grades in 95 % of the draws of the labels (what the votes leave open)."
    ),
    (
        Column("topic", _("Topic"), words="topic"),
        Column("response", _("Response"), words="response"),
        DIMENSION,
        Column("merit", _("Merit"), 2),
        Column("se", _("Standard error"), 2),
        Column("grade", _("Grade"), 1, low="rank_low", high="rank_high"),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    meanings={
        "merit": "on the log scale; comparable within one topic and dimension only. Method: `methods/grades.md`",
        "se": "its standard error, from the Hessian",
        "grade": (
            "1 (worst of its topic) to n (best), with averaged labels the mean over their draws; equal merits "
            "share the mean of their grades"
        ),
        "rank_low, rank_high": "between which grades it stands in 95 % of draws of what the votes leave open",
    },
)

TABLES = (
    GRADE_MEANS,
    GRADES,
)
