"""Tables of the leaderboard: columns and captions."""

from analysis.enums import Coders

from ...tables.table import Column, Holds, LazyText, Table, count, estimate, named_estimate
from ..shared_columns import DIMENSION, STYLE
from .votes_by_judges import GOLD

KINDS = {"participant": "system", "origin": "origin"}
#: Kinds of judges for which a leaderboard can be shown.
JUDGES: dict[str, LazyText] = {
    GOLD: "gold labels",
    **{who.value: who.label for who in (Coders.CROWD, Coders.CORRECTED, Coders.EXPERT, Coders.MODEL)},
}

LEADERBOARD = Table(
    "leaderboard",
    "Leaderboard",
    (
        "Systems and origins by merit (Bradley-Terry with ties over all topics, log scale) and mean grade, by "
        "dimension. Each writer counts as one system. Merit, rank and mean grade have 95 % bootstrap intervals over "
        "topics, which are wider for few topics. Only systems with enough graded topics are ranked (minimum: "
        "{least_topics}). Other groups were never compared with the first group, directly or indirectly, so they "
        "cannot be ranked together."
    ),
    (
        Column("kind", "Kind", words=KINDS),
        Column("participant", "System", words="participant"),
        Column("origin", "Origin", words="origin"),
        DIMENSION,
        Column("rank", "Rank", 0, low="rank_low", high="rank_high"),
        estimate("merit", "Merit"),
        Column("mean_grade", "Mean grade", 2, low="mean_low", high="mean_high", n="n"),
        count("n", "Responses"),
        count("topics", "Topics"),
        count("group", "Group"),
    ),
    holds=Holds.PSEUDONYMS,
    about="One row per system or origin, and dimension. Method: `methods/leaderboard.md`.",
    meanings={
        "participant, dimension": "`all`: all dimensions together",
        "mean_grade, mean_low, mean_high": (
            "mean grade of all responses, on the scale of the most common number of responses per topic"
        ),
        "merit, low, high": "Bradley-Terry merit over all topics, log scale; comparable within one dimension and kind",
        "rank, rank_low, rank_high": "rank by merit, 1 is the best; null: never compared with others",
        "n, topics": "number of graded responses, and of their topics",
        "kind": (
            "`participant`: a system or a writer; `origin`: all responses of an origin (named in `participant`) as one "
            "system"
        ),
        "group": (
            "1: the largest connected group of comparisons; systems in other groups are ranked through the model's "
            "dummy alone"
        ),
    },
)
LEADERBOARD_TESTS = Table(
    "leaderboard_tests",
    "Pairwise comparisons of systems",
    (
        "Wilcoxon's signed-rank tests between systems with at least six graded topics in common, "
        "paired by topic. p is adjusted by Benjamini and Hochberg over all pairs of systems: once for all dimensions "
        "together, and once over the single dimensions. Effect is the "
        "matched-pairs rank-biserial correlation, difference is the mean difference in grade, both with "
        "95 % bootstrap intervals over topics."
    ),
    (
        DIMENSION,
        Column("participant_1", "System", words="participant"),
        Column("participant_2", "Other system", words="participant"),
        Column("statistic", "Statistic", 1),
        Column("p", "p", 4),
        Column("p_adjusted", "p adjusted", 4),
        named_estimate("effect", "Effect", n="n"),
        named_estimate("difference", "Difference"),
        count("n", "Topics"),
        count("more_topics", "More topics needed"),
        count("more_judgments", "More judgments needed"),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    about=(
        "Tests between systems with at least six graded topics in common: dimension, participant_1, "
        "participant_2, and the columns of `grade_tests`. p is adjusted over the rows of all dimensions together "
        "(`all`), and separately over the rows of single dimensions."
    ),
    meanings={
        "more_topics, more_judgments": (
            "about how many more topics (judged like the present ones) and judgments the test needs to find a "
            "difference of the observed size with a probability of 80 %; null: found already, no test, or more than "
            "ten times the topics"
        ),
    },
)
BY_JUDGES = Table(
    "leaderboard_by_judges",
    "Leaderboard by judges and style",
    (
        "Systems and origins by merit (Bradley-Terry with ties, log scale), by whose judgments count, style and "
        "dimension. Each writer counts as one system. Each presented pair counts once, with the shares of its "
        "judgments. A pair has a style if both responses have it. The 95 % intervals are over topics."
    ),
    (
        Column("kind", "Kind", words=KINDS),
        Column("judges", "Judges", words=JUDGES),
        STYLE,
        DIMENSION,
        Column("participant", "System", words="participant"),
        Column("origin", "Origin", words="origin"),
        count("rank", "Rank"),
        estimate("merit", "Merit"),
        count("n", "Pairs"),
        count("topics", "Topics"),
        count("group", "Group"),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    about=(
        "One row per system or origin, judges, style and dimension. Gold labels of all styles are in "
        "`leaderboard`. Method: `methods/leaderboard.md`."
    ),
    meanings={
        "judges": (
            "`gold`: the gold labels; `crowd`, `expert`, `model`: all judgments of the crowd, of experts, of language "
            "models; `corrected`: the crowd without judges whose spam probability is above the limit"
        ),
        "style, dimension": "`all`: all styles or dimensions together",
        "rank": "rank by merit, 1 is the best",
        "n, topics": "number of presented pairs with another system, one for each dimension, and of their topics",
        "group": "as in `leaderboard`",
    },
)
WIN_RATES = Table(
    "win_rates",
    "Win rates",
    (
        "How often judges preferred the first system, neither, or the other, of all judgments that compared the two, "
        "by whose judgments count, style and dimension. Each writer counts as one system. The 95 % intervals are over "
        "topics, and also over judges if these are the crowd. At most the twenty best systems by merit are compared."
    ),
    (
        Column("kind", "Kind", words=KINDS),
        Column("judges", "Judges", words=JUDGES),
        STYLE,
        DIMENSION,
        Column("participant_1", "System", words="participant"),
        Column("participant_2", "Other system", words="participant"),
        count("wins", "Wins"),
        count("ties", "Ties"),
        count("losses", "Losses"),
        Column("share_won", "Won", 2, low="won_low", high="won_high", n="n", is_share=True),
        Column("share_tied", "Tied", 2, low="tied_low", high="tied_high", is_share=True),
        Column("share_lost", "Lost", 2, low="lost_low", high="lost_high", is_share=True),
        count("n", "Judgments"),
        count("topics", "Topics"),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    about=(
        "One row per two systems or origins that were compared, judges, style and dimension. The one with the higher "
        "merit over all dimensions stands first. Method: `methods/leaderboard.md`."
    ),
    meanings={
        "judges": "as in `leaderboard_by_judges`, without `gold`: judgments as stored",
        "style, dimension": "`all`: all styles or dimensions together",
        "wins, ties, losses": "judgments that preferred the first system, neither, the other one",
        "share_won, share_tied, share_lost": "their shares of all judgments of the two",
        "n, topics": "number of judgments, and of their topics",
    },
)
FRAGILITY = Table(
    "leaderboard_fragility",
    "Fragility of the order",
    (
        "The fewest votes, judges or topics without which a system no longer ranks above the next one. The competences "
        "of the judges stay as fitted, and the merits are fitted again without what is removed. A vote is one answer "
        "to one question. At most the twenty best systems are compared. Empty: no removal changes the order."
    ),
    (
        Column("kind", "Kind", words=KINDS),
        DIMENSION,
        Column("participant_1", "System", words="participant"),
        Column("participant_2", "Next system", words="participant"),
        Column("difference", "Difference in merit", 3),
        count("votes", "Fewest votes"),
        count("n_votes", "of votes"),
        count("judges", "Fewest judges"),
        count("n_judges", "of judges"),
        count("topics", "Fewest topics"),
        count("n_topics", "of topics"),
    ),
    holds=Holds.PSEUDONYMS,
    about="One row per two neighbours in rank, and dimension. Method: `methods/fragility.md`.",
    meanings={
        "dimension": "`all`: all dimensions together",
        "difference": "merit of the first minus merit of the second, with all votes",
        "votes, judges, topics": (
            "the fewest found without which the first does not rank above the second; null: none changes the order"
        ),
        "n_votes, n_judges, n_topics": "how many there are",
    },
)
FRAGILITY_SETS = Table(
    "leaderboard_fragility_sets",
    "Votes, judges and topics that decide the order",
    (
        "What is removed for each row of the fragility of the order, the most influential first; at most ten of each. "
        "A vote is named by its judge, its pair, its dimension and its answer."
    ),
    (
        Column("kind", "Kind", words=KINDS),
        DIMENSION,
        Column("participant_1", "System", words="participant"),
        Column("participant_2", "Next system", words="participant"),
        Column("removed", "Removed", words={"votes": "votes", "judges": "judges", "topics": "topics"}),
        Column("place", "Place", 0, is_key=True),
        Column("judge", "Judge", words="participant"),
        Column("topic", "Topic", words="topic"),
        Column("response_1", "Left response", words="response"),
        Column("response_2", "Right response", words="response"),
        Column("dimension_of_vote", "Question", words="dimension"),
        Column("answer", "Answer"),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    about="One row per removed vote, judge or topic. Method: `methods/fragility.md`.",
    meanings={
        "dimension, participant_1, participant_2": "as in `leaderboard_fragility`",
        "place": "1: the most influential",
        "dimension_of_vote, answer": "of a vote: its dimension, and A, N or B as presented",
    },
)

TABLES = (
    LEADERBOARD,
    BY_JUDGES,
    WIN_RATES,
    LEADERBOARD_TESTS,
    FRAGILITY,
    FRAGILITY_SETS,
)
