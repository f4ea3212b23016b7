"""Tables of grades: columns and captions."""

from ...tables.table import Column, Holds, Table, count, estimate
from ..shared_columns import DIMENSION

GRADE_MEANS = Table(
    "grade_means",
    "Mean grades",
    (
        "Mean grade of responses within their topic (1 is the worst), by dimension, style and origin, "
        "with 95 % bootstrap intervals over topics."
    ),
    (
        DIMENSION,
        Column("style", "Style", words="style"),
        Column("origin", "Origin", words="origin"),
        estimate("mean", "Mean grade", n="n"),
        count("n", "Grades"),
    ),
    across=("origin",),
    meanings={
        "dimension, style, origin": "`all`: all dimensions, styles or origins together",
        "mean, low, high": "mean grade",
        "n": "number of grades in the mean, one for each response and dimension",
    },
)
GRADES = Table(
    "grades",
    "Grades of responses",
    (
        "Merit (log scale) with its standard error, and grade of each response within its topic, by "
        "dimension. In brackets: the range of its grades in 95 % of the draws of the labels, which shows "
        "the uncertainty of the judgments."
    ),
    (
        Column("topic", "Topic", words="topic"),
        Column("response", "Response", words="response"),
        DIMENSION,
        Column("merit", "Merit", 2),
        Column("se", "Standard error", 2),
        Column("grade", "Grade", 1, low="rank_low", high="rank_high"),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    meanings={
        "merit": "log scale; comparable within one topic and dimension only. Method: `methods/grades.md`",
        "se": "its standard error, from the Hessian",
        "grade": (
            "1 (worst of its topic) to n (best); with averaged labels the mean over their draws. Responses "
            "with equal merit get the mean of their grades"
        ),
        "rank_low, rank_high": "range of the grade in 95 % of the draws of the labels",
    },
)

TABLES = (
    GRADE_MEANS,
    GRADES,
)
