"""Tables and charts about judgments."""

from django.utils.translation import gettext_lazy as _

from analysis.enums import Coders, Label, Split

from ...tables.table import Column, Figure, Table, count, estimate, named_estimate

DIMENSION = Column("dimension", _("Dimension"), words="dimension")
SPLITS = {each.value: each.label for each in Split}
CODERS = {each.value: each.label for each in Coders}
LABELS = {each.value: each.label for each in Label}

KINDS = {"participant": _("participant"), "origin": _("all of an origin")}

TABLES = {
    "agreement": Table(
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
    ),
    "agreement_means": Table(
        "agreement",
        _("Mean agreement"),
        _("Mean of Krippendorff's alpha over dimensions, with 95 % intervals over topics and judges."),
        (
            Column("split", _("Pairs"), words=SPLITS),
            Column("coders", _("Judges"), words=CODERS),
            estimate("alpha", _("Mean alpha"), n="dimensions"),
            count("dimensions", _("Dimensions")),
        ),
        across=("split",),
    ),
    "competence": Table(
        "labels",
        _("Competence of the judges"),
        _("Spam probability of each participant on each dimension (MACE); competence is 1 minus it."),
        (
            Column("participant", _("Participant"), words="id"),
            DIMENSION,
            Column("spam_probability", _("Spam probability"), 2),
            count("judgments", _("Judgments")),
        ),
        whole=False,
    ),
    "mace": Table(
        "labels",
        _("How well competences are determined"),
        _(
            "The fit of MACE by dimension: log likelihood of the best fit, of the best and the worst of {restarts} "
            "random restarts and their standard deviation, the mean share of restarts that give a pair the same "
            "label, and whether the likelihood had settled."
        ),
        (
            DIMENSION,
            Column("log_likelihood", _("Log likelihood"), 1),
            Column("best_restart", _("Best restart"), 1),
            Column("worst_restart", _("Worst restart"), 1),
            Column("spread", _("Spread"), 2),
            Column("restart_agreement", _("Same label"), 2),
            count("iterations", _("Iterations")),
            Column("converged", _("Settled")),
        ),
    ),
    "gold": Table(
        "labels",
        _("Labels of the pairs"),
        _("Of each presented pair and dimension how probable each label is, and the most probable one."),
        (
            Column("response_a", _("Left response"), words="id"),
            Column("response_b", _("Right response"), words="id"),
            DIMENSION,
            Column("p_a", _("Left"), 2),
            Column("p_n", _("Neither"), 2),
            Column("p_b", _("Right"), 2),
            Column("label", _("Label"), words=LABELS),
        ),
        whole=False,
    ),
    "grade_means": Table(
        "grades",
        _("Mean grades"),
        _(
            "Mean grade of the responses within their topic (1 is the worst), by dimension, style and origin, with "
            "95 % bootstrap intervals over topics."
        ),
        (
            DIMENSION,
            Column("style", _("Style"), words="style"),
            Column("origin", _("Origin"), words="origin"),
            estimate("mean", _("Mean grade"), n="n"),
            count("n", _("Grades")),
        ),
        across=("origin",),
    ),
    "grade_tests": Table(
        "grades",
        _("Tests of differences between grades"),
        _(
            "Wilcoxon's signed-rank tests paired by topic, p adjusted by Benjamini and Hochberg within the table; "
            "effect is the matched-pairs rank-biserial correlation, difference the mean difference in grade, both "
            "with 95 % bootstrap intervals over topics."
        ),
        (
            DIMENSION,
            Column("style", _("Style"), words="style"),
            Column("comparison", _("Comparison")),
            Column("statistic", _("Statistic"), 1),
            Column("p", _("p"), 4),
            Column("p_adjusted", _("p adjusted"), 4),
            named_estimate("effect", _("Effect"), n="n"),
            named_estimate("difference", _("Difference")),
            count("n", _("Topics")),
        ),
    ),
    "leaderboard": Table(
        "grades",
        _("Leaderboard"),
        _(
            "Participants, and origins, by merit (Bradley-Terry with ties over all topics, log scale) and by mean "
            "grade, by dimension; merit, rank and mean grade with 95 % bootstrap intervals over topics, wider for "
            "those seen on few. Ranked are participants graded on {least_topics} topics or more. Groups other than the "
            "first are joined with it by no chain of comparisons."
        ),
        (
            Column("kind", _("Who"), words=KINDS),
            Column("participant", _("Participant"), words="id"),
            Column("origin", _("Origin"), words="origin"),
            DIMENSION,
            Column("rank", _("Rank"), 0, low="rank_low", high="rank_high"),
            estimate("merit", _("Merit")),
            Column("mean_grade", _("Mean grade"), 2, low="mean_low", high="mean_high", n="n"),
            count("n", _("Responses")),
            count("topics", _("Topics")),
            count("group", _("Group")),
        ),
    ),
    "leaderboard_tests": Table(
        "grades",
        _("Tests between participants"),
        _(
            "Wilcoxon's signed-rank tests between participants graded on at least six topics in common, paired by "
            "topic, p adjusted by Benjamini and Hochberg within the table; effect is the matched-pairs rank-biserial "
            "correlation, difference the mean difference in grade, both with 95 % bootstrap intervals over topics."
        ),
        (
            DIMENSION,
            Column("participant_1", _("Participant"), words="id"),
            Column("participant_2", _("Other participant"), words="id"),
            Column("statistic", _("Statistic"), 1),
            Column("p", _("p"), 4),
            Column("p_adjusted", _("p adjusted"), 4),
            named_estimate("effect", _("Effect"), n="n"),
            named_estimate("difference", _("Difference")),
            count("n", _("Topics")),
        ),
        whole=False,
    ),
    "grades": Table(
        "grades",
        _("Grades of the responses"),
        _(
            "Merit (log scale) with its standard error, and grade of each response within its topic, by dimension. In "
            "brackets the range of its grades in 95 % of the draws of the labels (what the votes leave open)."
        ),
        (
            Column("topic", _("Topic"), words="id"),
            Column("response", _("Response"), words="id"),
            DIMENSION,
            Column("merit", _("Merit"), 2),
            Column("se", _("Standard error"), 2),
            Column("grade", _("Grade"), 1, low="rank_low", high="rank_high"),
        ),
        whole=False,
    ),
}

FIGURES = {
    "agreement": Figure(
        "agreement",
        _("Agreement by dimension"),
        _(
            "Krippendorff's alpha by dimension, judges and split of the pairs, with 95 % intervals over topics "
            "and judges."
        ),
        _("Points with intervals: alpha by dimension, one colour for each kind of judges, one panel for each split."),
    ),
    "competence": Figure(
        "labels",
        _("Competence of the judges"),
        _(
            "Participants by spam probability on each dimension (MACE; competence is 1 minus it). Dashed: "
            "{spam_threshold}, above which the corrected crowd leaves judgments out."
        ),
        _("Histograms of the participants' spam probability, one for each dimension."),
    ),
    "grades_of_systems": Figure(
        "grades",
        _("Mean grades of systems"),
        _(
            "Mean grade of each system within its topics (1 is the worst), by dimension, with 95 % bootstrap intervals "
            "over topics. People are one row."
        ),
        _("Points with intervals, a row for each system, one colour for each origin, a panel for each dimension."),
    ),
    "grades": Figure(
        "grades",
        _("Mean grades"),
        _("Mean grade by dimension, style and origin, with 95 % bootstrap intervals over topics."),
        _("Points with intervals: mean grade by dimension, one colour for each origin, one panel for each style."),
    ),
    "leaderboard": Figure(
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
