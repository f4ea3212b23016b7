"""Tables of tests between grades: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Table, count, named_estimate
from ..shared_columns import DIMENSION

GRADE_TESTS = Table(
    "grade_tests",
    _("Tests of differences between grades"),
    _(
        "Wilcoxon's signed-rank tests paired by topic, p adjusted by Benjamini and Hochberg within the table; "
        "effect is the matched-pairs rank-biserial correlation, difference the mean difference in grade, both "
        "with 95 % bootstrap intervals over topics."
    ),
    (
        DIMENSION,
        Column("style", _("Style"), words="style"),
        Column("comparison", _("Comparison")),
        Column("statistic", _("Statistic"), 1),
        Column("p", _("p"), 4),
        Column("p_adjusted", _("p adjusted"), 4),
        named_estimate("effect", _("Effect"), n="n"),
        named_estimate("difference", _("Difference")),
        count("n", _("Topics")),
    ),
    about="Wilcoxon's signed-rank tests, paired by topic. Method: `methods/significance.md`.",
    meanings={
        "dimension, style, comparison": (
            "`human - model` within a style, `all`: over all styles; `bullet - essay` (style `all`): two styles; "
            "dimension `all`: over all dimensions"
        ),
        "statistic, p, p_adjusted": (
            "the smaller sum of ranks; two-sided; adjusted within the table (Benjamini and Hochberg). Null, with "
            "a `note`, where fewer than six topics tell the two apart"
        ),
        "effect, effect_low, effect_high": (
            "matched-pairs rank-biserial correlation, -1 to 1; positive: the first named is graded higher"
        ),
        "n": "topics with both",
        "difference, difference_low, difference_high": "mean difference in grade",
    },
)

TABLES = (GRADE_TESTS,)
