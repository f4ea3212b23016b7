"""Tables and charts about judgments."""

from django.utils.translation import gettext_lazy as _

from analysis.enums import Coders, Label, Split

from .describing import Column, Figure, Table, count, estimate

DIMENSION = Column("dimension", _("Dimension"), words="dimension")
SPLITS = {each.value: each.label for each in Split}
CODERS = {each.value: each.label for each in Coders}
LABELS = {each.value: each.label for each in Label}

TABLES = {
    "agreement": Table(
        "agreement",
        _("Agreement"),
        _(
            "Krippendorff's alpha (ordinal) by dimension, split of the pairs and judges, with 95 % bootstrap "
            "intervals over topics. Corrected: without judgments of people whose spam probability on the dimension "
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
    ),
    "agreement_means": Table(
        "agreement",
        _("Mean agreement"),
        _("Mean of Krippendorff's alpha over dimensions, with 95 % bootstrap intervals over topics."),
        (
            Column("split", _("Pairs"), words=SPLITS),
            Column("coders", _("Judges"), words=CODERS),
            estimate("alpha", _("Mean alpha"), n="dimensions"),
            count("dimensions", _("Dimensions")),
        ),
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
    ),
    "grade_tests": Table(
        "grades",
        _("Tests of differences between grades"),
        _(
            "Wilcoxon's signed-rank tests paired by topic, p adjusted by Benjamini and Hochberg within the table; "
            "effect is the matched-pairs rank-biserial correlation."
        ),
        (
            DIMENSION,
            Column("style", _("Style"), words="style"),
            Column("comparison", _("Comparison")),
            Column("statistic", _("Statistic"), 1),
            Column("p", _("p"), 4),
            Column("p_adjusted", _("p adjusted"), 4),
            Column("effect", _("Effect"), 2),
            count("n", _("Topics")),
        ),
    ),
    "leaderboard": Table(
        "grades",
        _("Leaderboard"),
        _(
            "Participants by mean grade and by merit, with 95 % intervals of the mean grade and of the rank. All "
            "responses of a participant count."
        ),
        (
            Column("participant", _("Participant"), words="id"),
            DIMENSION,
            estimate("mean_grade", _("Mean grade"), n="n"),
            Column("merit", _("Merit"), 2),
            count("rank_low", _("Best rank")),
            count("rank_high", _("Worst rank")),
            count("n", _("Responses")),
        ),
    ),
    "grades": Table(
        "grades",
        _("Grades of the responses"),
        _("Merit (log scale) with its standard error, and grade of each response within its topic, by dimension."),
        (
            Column("topic", _("Topic"), words="id"),
            Column("response", _("Response"), words="id"),
            DIMENSION,
            Column("merit", _("Merit"), 2),
            Column("se", _("Standard error"), 2),
            Column("grade", _("Grade"), 1),
        ),
        whole=False,
    ),
}

FIGURES = {
    "agreement": Figure(
        "agreement",
        _("Agreement by dimension"),
        _(
            "Krippendorff's alpha by dimension, judges and split of the pairs, with 95 % bootstrap intervals over "
            "topics."
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
    "grades": Figure(
        "grades",
        _("Mean grades"),
        _("Mean grade by dimension, style and origin, with 95 % bootstrap intervals over topics."),
        _("Points with intervals: mean grade by dimension, one colour for each origin, one panel for each style."),
    ),
}
