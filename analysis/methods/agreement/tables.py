"""Tables of agreement: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from analysis.enums import Split

from ...tables.table import Column, Table, count, estimate
from ..shared_columns import CODERS, DIMENSION

SPLITS = {split.value: split.label for split in Split}

AGREEMENT = Table(
    "agreement",
    _("Agreement"),
    _(
        "Krippendorff's alpha (ordinal) by dimension, split of the pairs and judges, with 95 % "
        "intervals over topics and judges (of experts over topics). Corrected: without judgments of people "
        "whose spam probability on the dimension "
        "exceeds {spam_threshold}. Without the least competent quarter: without this share ({least_competent}) of "
        "the people, the least competent on the dimension, but {kept_votes} judgments of each pair stay."
    ),
    (
        DIMENSION,
        Column("split", _("Pairs"), words=SPLITS),
        Column("coders", _("Judges"), words=CODERS),
        estimate("alpha", _("Alpha"), n="items"),
        count("items", _("Units")),
        count("judgments", _("Judgments")),
    ),
    across=("split",),
    unprinted=("judgments",),
    about=(
        "Krippendorff's alpha, ordinal, A < N < B; coders are participants, units presented pairs (of `pointwise`"
        " the rated responses). Method: `methods/agreement.md`."
    ),
    meanings={
        "split": (
            "`complete`: all; `differentiable`: more than 4/7 of the pair's dimensions have a majority among its "
            "votes; `minimal`: the others. Pairs that fewer than two people judged on every dimension are in "
            "`complete` alone. Splits are by the whole crowd's votes, for `corrected` and `expert` too. "
            "`expert_pairs`: the crowd on the pairs that experts judged"
        ),
        "coders": (
            "`crowd`; `corrected`: the crowd without judgments of participants whose spam probability on the "
            "dimension exceeds 0.7 (`spam_threshold`); `corrected_quarter`: without the least competent quarter "
            "of those who judged the dimension (`least_competent`), three judgments of each pair kept "
            "(`kept_votes`), without an interval; `expert`; `pointwise`; `pointwise_corrected`: the same "
            "correction there, with its own fit"
        ),
        "items, judgments": "units with at least two judgments, which are those that alpha is of, and their judgments",
    },
)
AGREEMENT_MEANS = Table(
    "agreement_means",
    _("Mean agreement"),
    _("Mean of Krippendorff's alpha over dimensions, with 95 % intervals over topics and judges."),
    (
        Column("split", _("Pairs"), words=SPLITS),
        Column("coders", _("Judges"), words=CODERS),
        estimate("alpha", _("Mean alpha"), n="dimensions"),
        count("dimensions", _("Dimensions")),
    ),
    across=("split",),
    about=(
        "The mean of `agreement` over dimensions: split, coders, alpha, low, high, and how many dimensions it is of."
    ),
)

AGREEMENT_AC1 = Table(
    "agreement_ac1",
    _("Agreement by Gwet's AC1"),
    _(
        "Gwet's AC1 by dimension, split of the pairs and judges, with 95 % intervals over topics and judges (of "
        "experts over topics). It counts exact agreement, and does not fall where nearly all judgments are the same. "
        "Judges and splits are those of Krippendorff's alpha."
    ),
    (*AGREEMENT.columns[:3], estimate("ac1", _("AC1"), n="items"), count("items", _("Units"))),
    across=("split",),
    about="Gwet's AC1 of the same judgments as `agreement`. Method: `methods/agreement.md`.",
    meanings={"items": "units with at least two judgments"},
)

TABLES = (AGREEMENT, AGREEMENT_MEANS, AGREEMENT_AC1)
