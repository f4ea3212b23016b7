"""Tables and charts about judgments."""

from django.utils.translation import gettext_lazy as _

from analysis.enums import Coders, Label, Split

from .describing import Column, Figure, Table, bounded, count, estimate

DIMENSION = Column("dimension", _("Dimension"), words="dimension")
SPLITS = {each.value: each.label for each in Split}
CODERS = {each.value: each.label for each in Coders}
LABELS = {each.value: each.label for each in Label}
EFFECTS = {"within": _("within a pair"), "across": _("across the questionnaire")}
PARTS = {
    "forward": _("one order"),
    "reverse": _("the other order"),
    "both": _("both orders"),
    "first": _("first half"),
    "second": _("second half"),
}
INFERENCES = {"combined": _("all at once"), "individual": _("one at a time")}

TABLES = {
    "agreement": Table(
        "agreement",
        _("Agreement"),
        _(
            "Krippendorff's alpha (ordinal) by dimension, split of the pairs and judges, with 95 % bootstrap "
            "intervals over topics. Corrected: without judgments of people whose spam probability on the dimension "
            "exceeds {spam_threshold}."
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
    "order_effects": Table(
        "agreement",
        _("Order effects"),
        _(
            "Krippendorff's alpha of pairs judged in both orders, each order alone and both together, and of the "
            "first and second half of a questionnaire, with 95 % bootstrap intervals over topics."
        ),
        (
            DIMENSION,
            Column("effect", _("Effect"), words=EFFECTS),
            Column("part", _("Part"), words=PARTS),
            estimate("alpha", _("Alpha"), n="items"),
            count("items", _("Units")),
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
    "interdependence": Table(
        "labels",
        _("Interdependence of the dimensions"),
        _("Kendall's tau between the gold labels of two dimensions, with 95 % bootstrap intervals over topics."),
        (
            Column("dimension_1", _("Dimension"), words="dimension"),
            Column("dimension_2", _("Other dimension"), words="dimension"),
            estimate("tau", _("Tau"), n="items"),
            count("items", _("Pairs")),
        ),
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
    "model_judges": Table(
        "models",
        _("Language models as judges"),
        _(
            "Krippendorff's alpha of a model with itself in the other order and with the other way of asking, and "
            "with the crowd's gold label; the mean correlation with its other dimensions; and the share of choices "
            "for the first response; each with a 95 % bootstrap interval over topics."
        ),
        (
            Column("participant", _("Model"), words="id"),
            Column("inference", _("Asked"), words=INFERENCES),
            DIMENSION,
            bounded("alpha_orders", _("Alpha, orders"), n="items"),
            bounded("alpha_gold", _("Alpha, gold"), n="items"),
            bounded("alpha_inference", _("Alpha, ways of asking"), n="items"),
            bounded("mean_rho", _("Mean rho"), n="items"),
            bounded("front_preference", _("First preferred"), n="items"),
            count("items", _("Pairs")),
        ),
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
