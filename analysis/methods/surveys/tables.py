"""Tables of surveys: columns and captions."""

from ...tables.table import Column, Table, count, estimate
from ..shared_columns import STATISTICS

SURVEY = Table(
    "survey",
    "Survey",
    (
        "Writers' answers about themselves and the task, before and after writing: mean, median and "
        "share of each answer, and Spearman's rho of each two questions. With 95 % bootstrap intervals "
        "over topics."
    ),
    (
        Column("name", "Measure"),
        Column("kind", "When asked"),
        Column("question", "Question", words="question"),
        Column("statistic", "Statistic", words=STATISTICS),
        Column("option", "Answer", words="answer", is_key=True),
        estimate("value", "Value", n="n"),
        count("n", "n"),
    ),
    unprinted=("name", "kind"),
    about="Writers' answers before and after writing (crowdrag25, 3.1.4).",
    meanings={
        "name": (
            "`QUESTION_mean`, `QUESTION_median`, `QUESTION_share_VALUE`, `QUESTION1_QUESTION2_rho`; a question "
            "asked both before and after is `entry_QUESTION` and `exit_QUESTION`"
        ),
        "value, low, high, n": "n: answers",
        "kind, question, statistic, option": (
            "the parts of the name: `entry` (before) or `exit` (after); `mean`, `median`, `share` or `rho`; "
            "the answer of a share"
        ),
    },
)

TABLES = (SURVEY,)
