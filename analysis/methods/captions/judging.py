"""Tables and charts about judgments."""

from django.utils.translation import gettext_lazy as _

from analysis.enums import Coders, Label, Split

from ...tables.captions import ColumnCaption, FigureCaption, TableCaption, bounded, count, estimate

DIMENSION = ColumnCaption("dimension", _("Dimension"), words="dimension")
SPLITS = {each.value: each.label for each in Split}
CODERS = {each.value: each.label for each in Coders}
LABELS = {each.value: each.label for each in Label}

KINDS = {"participant": _("participant"), "origin": _("all of an origin")}

TABLES = {
    "agreement": TableCaption(
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
            ColumnCaption("split", _("Pairs"), words=SPLITS),
            ColumnCaption("coders", _("Judges"), words=CODERS),
            estimate("alpha", _("Alpha"), n="items"),
            count("items", _("Units")),
            count("judgments", _("Judgments")),
        ),
        across=("split",),
        unprinted=("judgments",),
    ),
    "agreement_means": TableCaption(
        "agreement",
        _("Mean agreement"),
        _("Mean of Krippendorff's alpha over dimensions, with 95 % intervals over topics and judges."),
        (
            ColumnCaption("split", _("Pairs"), words=SPLITS),
            ColumnCaption("coders", _("Judges"), words=CODERS),
            estimate("alpha", _("Mean alpha"), n="dimensions"),
            count("dimensions", _("Dimensions")),
        ),
        across=("split",),
    ),
    "competence": TableCaption(
        "labels",
        _("Competence of the judges"),
        _("Spam probability of each participant on each dimension (MACE); competence is 1 minus it."),
        (
            ColumnCaption("participant", _("Participant"), words="id"),
            DIMENSION,
            ColumnCaption("spam_probability", _("Spam probability"), 2),
            count("judgments", _("Judgments")),
        ),
        whole=False,
    ),
    "mace": TableCaption(
        "labels",
        _("How well competences are determined"),
        _(
            "The fit of MACE by dimension: log likelihood of the best fit, of the best and the worst of {restarts} "
            "random restarts and their standard deviation, the mean share of restarts that give a pair the same "
            "label, and whether the likelihood had settled."
        ),
        (
            DIMENSION,
            ColumnCaption("log_likelihood", _("Log likelihood"), 1),
            ColumnCaption("best_restart", _("Best restart"), 1),
            ColumnCaption("worst_restart", _("Worst restart"), 1),
            ColumnCaption("spread", _("Spread"), 2),
            ColumnCaption("restart_agreement", _("Same label"), 2),
            count("iterations", _("Iterations")),
            ColumnCaption("converged", _("Settled")),
        ),
    ),
    "gold": TableCaption(
        "labels",
        _("Labels of the pairs"),
        _("Of each presented pair and dimension how probable each label is, and the most probable one."),
        (
            ColumnCaption("response_a", _("Left response"), words="id"),
            ColumnCaption("response_b", _("Right response"), words="id"),
            DIMENSION,
            ColumnCaption("p_a", _("Left"), 2),
            ColumnCaption("p_n", _("Neither"), 2),
            ColumnCaption("p_b", _("Right"), 2),
            ColumnCaption("label", _("Label"), words=LABELS),
        ),
        whole=False,
    ),
    "grade_means": TableCaption(
        "grades",
        _("Mean grades"),
        _(
            "Mean grade of the responses within their topic (1 is the worst), by dimension, style and origin, with "
            "95 % bootstrap intervals over topics."
        ),
        (
            DIMENSION,
            ColumnCaption("style", _("Style"), words="style"),
            ColumnCaption("origin", _("Origin"), words="origin"),
            estimate("mean", _("Mean grade"), n="n"),
            count("n", _("Grades")),
        ),
        across=("origin",),
    ),
    "grade_tests": TableCaption(
        "grades",
        _("Tests of differences between grades"),
        _(
            "Wilcoxon's signed-rank tests paired by topic, p adjusted by Benjamini and Hochberg within the table; "
            "effect is the matched-pairs rank-biserial correlation, difference the mean difference in grade, both "
            "with 95 % bootstrap intervals over topics."
        ),
        (
            DIMENSION,
            ColumnCaption("style", _("Style"), words="style"),
            ColumnCaption("comparison", _("Comparison")),
            ColumnCaption("statistic", _("Statistic"), 1),
            ColumnCaption("p", _("p"), 4),
            ColumnCaption("p_adjusted", _("p adjusted"), 4),
            bounded("effect", _("Effect"), n="n"),
            bounded("difference", _("Difference")),
            count("n", _("Topics")),
        ),
    ),
    "leaderboard": TableCaption(
        "grades",
        _("Leaderboard"),
        _(
            "Participants, and origins, by merit (Bradley-Terry with ties over all topics, log scale) and by mean "
            "grade, by dimension; merit, rank and mean grade with 95 % bootstrap intervals over topics, wider for "
            "those seen on few. Ranked are participants graded on {least_topics} topics or more. Groups other than the "
            "first are joined with it by no chain of comparisons."
        ),
        (
            ColumnCaption("kind", _("Who"), words=KINDS),
            ColumnCaption("participant", _("Participant"), words="id"),
            ColumnCaption("origin", _("Origin"), words="origin"),
            DIMENSION,
            ColumnCaption("rank", _("Rank"), 0, low="rank_low", high="rank_high"),
            estimate("merit", _("Merit")),
            ColumnCaption("mean_grade", _("Mean grade"), 2, low="mean_low", high="mean_high", n="n"),
            count("n", _("Responses")),
            count("topics", _("Topics")),
            count("group", _("Group")),
        ),
    ),
    "leaderboard_tests": TableCaption(
        "grades",
        _("Tests between participants"),
        _(
            "Wilcoxon's signed-rank tests between participants graded on at least six topics in common, paired by "
            "topic, p adjusted by Benjamini and Hochberg within the table; effect is the matched-pairs rank-biserial "
            "correlation, difference the mean difference in grade, both with 95 % bootstrap intervals over topics."
        ),
        (
            DIMENSION,
            ColumnCaption("participant_1", _("Participant"), words="id"),
            ColumnCaption("participant_2", _("Other participant"), words="id"),
            ColumnCaption("statistic", _("Statistic"), 1),
            ColumnCaption("p", _("p"), 4),
            ColumnCaption("p_adjusted", _("p adjusted"), 4),
            bounded("effect", _("Effect"), n="n"),
            bounded("difference", _("Difference")),
            count("n", _("Topics")),
        ),
        whole=False,
    ),
    "grades": TableCaption(
        "grades",
        _("Grades of the responses"),
        _(
            "Merit (log scale) with its standard error, and grade of each response within its topic, by dimension. In "
            "brackets the range of its grades in 95 % of the draws of the labels (what the votes leave open)."
        ),
        (
            ColumnCaption("topic", _("Topic"), words="id"),
            ColumnCaption("response", _("Response"), words="id"),
            DIMENSION,
            ColumnCaption("merit", _("Merit"), 2),
            ColumnCaption("se", _("Standard error"), 2),
            ColumnCaption("grade", _("Grade"), 1, low="rank_low", high="rank_high"),
        ),
        whole=False,
    ),
}

FIGURES = {
    "agreement": FigureCaption(
        "agreement",
        _("Agreement by dimension"),
        _(
            "Krippendorff's alpha by dimension, judges and split of the pairs, with 95 % intervals over topics "
            "and judges."
        ),
        _("Points with intervals: alpha by dimension, one colour for each kind of judges, one panel for each split."),
    ),
    "competence": FigureCaption(
        "labels",
        _("Competence of the judges"),
        _(
            "Participants by spam probability on each dimension (MACE; competence is 1 minus it). Dashed: "
            "{spam_threshold}, above which the corrected crowd leaves judgments out."
        ),
        _("Histograms of the participants' spam probability, one for each dimension."),
    ),
    "grades_of_systems": FigureCaption(
        "grades",
        _("Mean grades of systems"),
        _(
            "Mean grade of each system within its topics (1 is the worst), by dimension, with 95 % bootstrap intervals "
            "over topics. People are one row."
        ),
        _("Points with intervals, a row for each system, one colour for each origin, a panel for each dimension."),
    ),
    "grades": FigureCaption(
        "grades",
        _("Mean grades"),
        _("Mean grade by dimension, style and origin, with 95 % bootstrap intervals over topics."),
        _("Points with intervals: mean grade by dimension, one colour for each origin, one panel for each style."),
    ),
    "leaderboard": FigureCaption(
        "grades",
        _("Ranks of participants"),
        _(
            "Rank of participants by merit (1 is the best), by dimension, with 95 % bootstrap intervals over topics; "
            "the twenty best over all dimensions, of those graded on {least_topics} topics or more. Without an "
            "interval: graded on one topic only."
        ),
        _("Points with intervals: the rank of each participant, a panel for each dimension, a colour for each origin."),
    ),
}
