"""Tables of agreement: columns and captions."""

from analysis.enums import Split

from ...tables.table import Column, Table, count, estimate
from ..shared_columns import CODERS, DIMENSION

SPLITS = {split.value: split.label for split in Split}

AGREEMENT = Table(
    "agreement",
    "Agreement",
    (
        "Krippendorff's alpha (ordinal) by dimension, group of pairs and group of judges, with 95 % intervals "
        "over topics and judges (for experts: over topics). The corrected crowd excludes judges with a "
        "spam probability above {spam_threshold} on the dimension. Without the least competent quarter: "
        "the least competent judges (share {least_competent}) on each dimension are excluded, but at "
        "least {kept_votes} judgments of each pair are kept."
    ),
    (
        DIMENSION,
        Column("split", "Pairs", words=SPLITS),
        Column("coders", "Judges", words=CODERS),
        estimate("alpha", "Alpha", n="items"),
        count("items", "Units"),
        count("judgments", "Judgments"),
    ),
    across=("split",),
    unprinted=("judgments",),
    about=(
        "Krippendorff's alpha, ordinal, A < N < B. Coders are participants, units are presented pairs "
        "(for `pointwise`: rated responses). Method: `methods/agreement.md`."
    ),
    meanings={
        "split": (
            "`complete`: all pairs; `differentiable`: pairs with a majority of judgments on more than 4/7 of "
            "their dimensions; `minimal`: the other pairs. Pairs judged by fewer than two people on every "
            "dimension are in `complete` only. The judgments of the whole crowd define the splits, also for "
            "`corrected` and `expert`. `expert_pairs`: the crowd on the pairs judged by experts"
        ),
        "coders": (
            "`crowd`; `corrected`: the crowd without participants with a spam probability above 0.7 on the "
            "dimension (`spam_threshold`); `corrected_quarter`: without the least competent quarter of the "
            "dimension's judges (`least_competent`), but with three judgments of each pair kept "
            "(`kept_votes`), without an interval; `expert`; `pointwise`; `pointwise_corrected`: the same "
            "correction for pointwise ratings, with its own fit"
        ),
        "items, judgments": "units with at least two judgments (used for alpha), and their judgments",
    },
)
AGREEMENT_MEANS = Table(
    "agreement_means",
    "Mean agreement",
    "Mean of Krippendorff's alpha over dimensions, with 95 % intervals over topics and judges.",
    (
        Column("split", "Pairs", words=SPLITS),
        Column("coders", "Judges", words=CODERS),
        estimate("alpha", "Mean alpha", n="dimensions"),
        count("dimensions", "Dimensions"),
    ),
    across=("split",),
    about=("The mean of `agreement` over dimensions: split, coders, alpha, low, high, and the number of dimensions."),
)

AGREEMENT_AC1 = Table(
    "agreement_ac1",
    "Agreement by Gwet's AC1",
    (
        "Gwet's AC1 by dimension, group of pairs and group of judges, with 95 % intervals over topics and "
        "judges (for experts: over topics). It measures exact agreement and stays high if nearly all "
        "judgments are the same. Judges and groups are the same as for Krippendorff's alpha."
    ),
    (*AGREEMENT.columns[:3], estimate("ac1", "AC1", n="items"), count("items", "Units")),
    across=("split",),
    about="Gwet's AC1 for the same judgments as `agreement`. Method: `methods/agreement.md`.",
    meanings={"items": "units with at least two judgments"},
)

TABLES = (AGREEMENT, AGREEMENT_MEANS, AGREEMENT_AC1)
