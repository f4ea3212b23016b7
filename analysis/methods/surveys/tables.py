"""Tables of surveys: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Table, count, estimate
from ..shared_columns import STATISTICS

SURVEY = Table(
    "survey",
    _("Survey"),
    _(
        "Writers' answers about themselves and the task, before and after writing: mean, median and "
        "share of each answer, and Spearman's rho of each two questions. With 95 % bootstrap intervals "
        "over topics."
    ),
    (
        Column("name", _("Measure")),
        Column("kind", _("When asked")),
        Column("question", _("Question"), words="question"),
        Column("statistic", _("Statistic"), words=STATISTICS),
        Column("option", _("Answer"), words="answer", is_key=True),
        estimate("value", _("Value"), n="n"),
        count("n", _("n")),
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
