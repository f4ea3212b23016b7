"""Tables of the leaderboard: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count, estimate, named_estimate
from ..shared_columns import DIMENSION

KINDS = {"participant": _("participant"), "origin": _("all of an origin")}

LEADERBOARD = Table(
    "leaderboard",
    _("Leaderboard"),
    _(
        "Participants, and origins, by merit (Bradley-Terry with ties over all topics, log scale) and by mean "
        "grade, by dimension; merit, rank and mean grade with 95 % bootstrap intervals over topics, wider for "
        "those seen on few. Ranked are participants graded on {least_topics} topics or more. Groups other than the "
        "first are joined with it by no chain of comparisons."
    ),
    (
        Column("kind", _("Who"), words=KINDS),
        Column("participant", _("Participant"), words="participant"),
        Column("origin", _("Origin"), words="origin"),
        DIMENSION,
        Column("rank", _("Rank"), 0, low="rank_low", high="rank_high"),
        estimate("merit", _("Merit")),
        Column("mean_grade", _("Mean grade"), 2, low="mean_low", high="mean_high", n="n"),
        count("n", _("Responses")),
        count("topics", _("Topics")),
        count("group", _("Group")),
    ),
    holds=Holds.PSEUDONYMS,
    about="One row a participant, or origin, and dimension. Method: `methods/leaderboard.md`.",
    meanings={
        "participant, dimension": "`all`: all dimensions together",
        "mean_grade, mean_low, mean_high": (
            "of all responses, on the scale of the most usual number of responses a topic"
        ),
        "merit, low, high": "Bradley-Terry over all topics, log scale; comparable within one dimension and kind",
        "rank, rank_low, rank_high": "by merit, 1 the best. Null: never compared with anybody else",
        "n, topics": "responses graded; topics they are of",
        "kind": "`participant`; `origin`: all responses of an origin (named in `participant`) as one",
        "group": (
            "1: the largest group that comparisons join; participants of others are ranked through the model's "
            "dummy alone"
        ),
    },
)
LEADERBOARD_TESTS = Table(
    "leaderboard_tests",
    _("Tests between participants"),
    _(
        "Wilcoxon's signed-rank tests between participants graded on at least six topics in common, paired by "
        "topic, p adjusted by Benjamini and Hochberg within the table; effect is the matched-pairs rank-biserial "
        "correlation, difference the mean difference in grade, both with 95 % bootstrap intervals over topics."
    ),
    (
        DIMENSION,
        Column("participant_1", _("Participant"), words="participant"),
        Column("participant_2", _("Other participant"), words="participant"),
        Column("statistic", _("Statistic"), 1),
        Column("p", _("p"), 4),
        Column("p_adjusted", _("p adjusted"), 4),
        named_estimate("effect", _("Effect"), n="n"),
        named_estimate("difference", _("Difference")),
        count("n", _("Topics")),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    about=(
        "Tests between participants graded on at least six topics in common: dimension, participant_1, "
        "participant_2, and the columns of `grade_tests`; p adjusted within this table."
    ),
)

TABLES = (
    LEADERBOARD,
    LEADERBOARD_TESTS,
)
