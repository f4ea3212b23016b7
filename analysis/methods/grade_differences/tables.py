"""Tables of tests between grades: columns and captions."""

from ...tables.table import Column, Table, count, named_estimate
from ..shared_columns import DIMENSION

GRADE_TESTS = Table(
    "grade_tests",
    "Tests of differences between grades",
    (
        "Wilcoxon's signed-rank tests, paired by topic, with p adjusted by Benjamini and Hochberg within "
        "the table. Effect is the matched-pairs rank-biserial correlation, difference is the mean "
        "difference in grade, both with 95 % bootstrap intervals over topics."
    ),
    (
        DIMENSION,
        Column("style", "Style", words="style"),
        Column("comparison", "Comparison", words="sides"),
        Column("statistic", "Statistic", 1),
        Column("p", "p", 4),
        Column("p_adjusted", "p adjusted", 4),
        named_estimate("effect", "Effect", n="n"),
        named_estimate("difference", "Difference"),
        count("n", "Topics"),
    ),
    about="Wilcoxon's signed-rank tests, paired by topic. Method: `methods/significance.md`.",
    meanings={
        "dimension, style, comparison": (
            "`human - model` within a style or over all styles (`all`); `bullet - essay` (style `all`): two "
            "styles; dimension `all`: over all dimensions"
        ),
        "statistic, p, p_adjusted": (
            "the smaller sum of ranks; two-sided p; p adjusted within the table (Benjamini and Hochberg). "
            "Null, with a `note`, if fewer than six topics have a difference"
        ),
        "effect, effect_low, effect_high": (
            "matched-pairs rank-biserial correlation from -1 to 1; positive: the first one is graded higher"
        ),
        "n": "topics with both",
        "difference, difference_low, difference_high": "mean difference in grade",
    },
)

TABLES = (GRADE_TESTS,)
