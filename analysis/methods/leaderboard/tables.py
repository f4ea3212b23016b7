"""Tables of the leaderboard: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count, estimate, named_estimate
from ..shared_columns import DIMENSION

KINDS = {"participant": _("participant"), "origin": _("origin")}

LEADERBOARD = Table(
    "leaderboard",
    _("Leaderboard"),
    _(
        "Participants and origins by merit (Bradley-Terry with ties over all topics, log scale) and mean "
        "grade, by dimension. Merit, rank and mean grade have 95 % bootstrap intervals over topics, "
        "which are wider for few topics. Participants graded on {least_topics} topics or more are "
        "ranked. Other groups were never compared with the first group, directly or indirectly, so they "
        "cannot be ranked together."
    ),
    (
        Column("kind", _("Kind"), words=KINDS),
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
    about="One row per participant or origin, and dimension. Method: `methods/leaderboard.md`.",
    meanings={
        "participant, dimension": "`all`: all dimensions together",
        "mean_grade, mean_low, mean_high": (
            "mean grade of all responses, on the scale of the most common number of responses per topic"
        ),
        "merit, low, high": "Bradley-Terry merit over all topics, log scale; comparable within one dimension and kind",
        "rank, rank_low, rank_high": "rank by merit, 1 is the best; null: never compared with others",
        "n, topics": "number of graded responses, and of their topics",
        "kind": ("`participant`, or `origin`: all responses of an origin (named in `participant`) as one participant"),
        "group": (
            "1: the largest connected group of comparisons; participants in other groups are ranked through "
            "the model's dummy alone"
        ),
    },
)
LEADERBOARD_TESTS = Table(
    "leaderboard_tests",
    _("Pairwise comparisons of participants"),
    _(
        "Wilcoxon's signed-rank tests between participants with at least six graded topics in common, "
        "paired by topic, with p adjusted by Benjamini and Hochberg within the table. Effect is the "
        "matched-pairs rank-biserial correlation, difference is the mean difference in grade, both with "
        "95 % bootstrap intervals over topics."
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
        "Tests between participants with at least six graded topics in common: dimension, participant_1, "
        "participant_2, and the columns of `grade_tests`. p is adjusted within this table."
    ),
)

TABLES = (
    LEADERBOARD,
    LEADERBOARD_TESTS,
)
