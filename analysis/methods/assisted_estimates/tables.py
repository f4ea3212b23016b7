"""Tables of model-assisted estimates: columns and captions."""

from analysis.stats.assisted import FEWEST_TOPICS, LEAST_GAIN

from ...tables.table import PARTICIPANT, Column, Holds, Table, count, named_estimate
from ..leaderboard.tables import KINDS
from ..model_judges.tables import INFERENCES
from ..shared_columns import DIMENSION

#: Advice: whether the models' votes should be used.
USE, FEW_TOPICS, NOTHING_MORE, OTHER_PAIRS, LOW, NOT_RANDOM, SEPARATE = (
    "use", "few_topics", "nothing_more", "other_pairs", "low", "not_random", "separate",
)  # fmt: skip
ADVICE = {
    USE: "use",
    FEW_TOPICS: "do not: too few topics",
    NOTHING_MORE: "do not: no further items",
    OTHER_PAIRS: "do not: other pairs in topics",
    LOW: "do not: no gain",
    NOT_RANDOM: "do not: part differs",
    SEPARATE: "do not: no common items",
}
MERIT, MEAN_GRADE, WIN_SHARE = "merit", "mean_grade", "win_share"
MEASURES = {MERIT: "merit", MEAN_GRADE: "mean grade", WIN_SHARE: "win share"}
_MEASURE = Column("measure", "Measure", words=MEASURES)
_ADVICE = Column("advice", "Models' votes", words=ADVICE)
_ESTIMATES = (
    named_estimate("people", "People alone", n="topics"),
    named_estimate("assisted", "Assisted", n="topics_all"),
    Column("correlation", "Correlation", 2, n="topics"),
    Column("effective_sample", "Effective sample", 2),
    count("topics", "Topics judged by people"),
    count("topics_all", "Topics judged by models"),
    count("pairs", "Pairs judged by people"),
    count("pairs_all", "Pairs judged by models"),
)
_HOW = (
    "People alone: from the gold labels of the pairs that people judged. Assisted: the same, corrected by the votes of "
    "model judges on these and further pairs (PPI++, predict then debias), which assumes that people judged a random "
    "part of the pairs. All 95 % intervals are over topics, with quantiles of Student's t distribution. Correlation: "
    "of people's terms by topic with those of the models. Effective sample: how many times as many topics people alone "
    "would need for as narrow an interval. Where the models' votes do not help, the result is that of people alone."
)
_MEANINGS = {
    "people, people_low, people_high": "estimate and interval of people's gold labels alone",
    "assisted, assisted_low, assisted_high": (
        "assisted estimate and interval; those of people unless the advice is `use`"
    ),
    "correlation": (
        "correlation between topics of people's terms with those of the models, on the pairs that both judged"
    ),
    "effective_sample": (
        "square of the ratio of the widths of both intervals; 1 if the models' votes are not used"
    ),
    "topics, pairs": "numbers of topics and pairs (both orders count once) that people judged",
    "topics_all, pairs_all": "numbers of topics and pairs that at least one model judged",
    "measure": (
        "`merit`: Bradley-Terry merit; `mean_grade`: mean grade within topics; `win_share`: share of comparisons that "
        "it won, a tie counting one half (of a difference: those between the two)"
    ),
    "advice": (
        f"`use`: the interval is narrower by at least {LEAST_GAIN:.0%}; `few_topics`: people judged fewer than "
        f"{FEWEST_TOPICS} topics; `nothing_more`: models judged no further pairs; `separate`: models judged none of "
        "people's pairs; `other_pairs`: grades, where people judged only some of the models' pairs in a topic; `low`: "
        "the correlation is too low for a gain"
    ),
}  # fmt: skip

ASSISTED_ESTIMATES = Table(
    "assisted_estimates",
    "Model-assisted estimates",
    "Merits, mean grades and win shares of systems and origins. " + _HOW,
    (
        Column("kind", "Kind", words=KINDS),
        Column("participant", "System", words="participant"),
        Column("origin", "Origin", words="origin"),
        DIMENSION,
        _MEASURE,
        _ADVICE,
        *_ESTIMATES,
    ),
    holds=Holds.PSEUDONYMS,
    is_whole=False,
    about=(
        "One row per origin, or system that people judged on enough topics, dimension and measure. Empty if people or "
        "models judged nothing. Method: `methods/assisted-estimates.md`."
    ),
    meanings={"kind, participant, origin": "as in `leaderboard`", **_MEANINGS},
)
ASSISTED_DIFFERENCES = Table(
    "assisted_differences",
    "Model-assisted differences",
    (
        "Differences between two systems or origins, the first minus the second. Of win shares: the share of the first "
        "in comparisons with the second. " + _HOW
    ),
    (
        Column("kind", "Kind", words=KINDS),
        Column("participant_1", "System", words="participant"),
        Column("participant_2", "Other system", words="participant"),
        DIMENSION,
        _MEASURE,
        _ADVICE,
        *_ESTIMATES,
    ),
    holds=Holds.PSEUDONYMS,
    is_whole=False,
    about=(
        "One row per two origins, or two of the systems that people judged on most topics, dimension and measure. "
        "Method: `methods/assisted-estimates.md`."
    ),
    meanings={"kind, participant_1, participant_2": "as in `win_rates`", **_MEANINGS},
)
ASSISTED_JUDGES = Table(
    "assisted_judges",
    "Model judges as helpers",
    (
        "What each model's votes can contribute. Correlation: of its labels with people's gold labels, over the pairs "
        "that both judged. Effective sample: the most that this correlation allows for a mean over pairs, with the "
        "share of the pairs that people judged. Part minus all: win share of an origin by the model's votes on the "
        "pairs that people judged, minus that on all its pairs, with its 95 % interval over topics. If they differ, "
        "people did not judge a random part. p is adjusted over origins (Bonferroni)."
    ),
    (
        Column("participant", "Model", words=PARTICIPANT),
        Column("inference", "Prompt type", words=INFERENCES),
        DIMENSION,
        _ADVICE,
        Column("correlation", "Correlation", 2, n="pairs"),
        Column("effective_sample", "Effective sample", 2),
        named_estimate("difference", "Part minus all", n="topics"),
        Column("p", "p", 4),
        count("topics", "Topics judged by both"),
        count("topics_all", "Its topics"),
        count("pairs", "Pairs judged by both"),
        count("pairs_all", "Its pairs"),
    ),
    holds=Holds.PSEUDONYMS,
    about="One row per model, prompt type and dimension. Method: `methods/assisted-estimates.md`.",
    meanings={
        "participant, inference, dimension": "as in `model_judges`",
        "advice": (
            f"`use`, or: `few_topics`: fewer than {FEWEST_TOPICS} topics judged by both; `separate`: no pairs judged "
            "by both; `nothing_more`: no further pairs; `not_random`: p is below 0.01; `low`: the correlation is at "
            "most 1 / sqrt(topics - 2)"
        ),
        "correlation": "uncentred, of leads from -1 to 1, so that it does not depend on which response is first",
        "effective_sample": "1 / (1 - correlation squared times the share of its pairs that people did not judge)",
        "difference, difference_low, difference_high, p": (
            "of the origin with the smallest p; null with one origin, or if the model judged no further pairs"
        ),
        "topics, topics_all, pairs, pairs_all": "both orders of a pair count once",
    },
)

TABLES = (ASSISTED_ESTIMATES, ASSISTED_DIFFERENCES, ASSISTED_JUDGES)
