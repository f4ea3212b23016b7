"""Tables and charts of plans: of what is not yet, so no report of an analysis holds them."""

from django.utils.translation import gettext_lazy as _

from ..tables.table import Column, Figure, Table, count, estimate

MEASURES = {
    "alpha": _("Alpha"),
    "alpha_width": _("Width of alpha's interval"),
    "label_accuracy": _("Gold labels that are true"),
    "mean_grade_width": _("Width of a mean grade's interval"),
    "mean_grade_all_width": _("Width of a mean grade's interval, all dimensions"),
    "difference": _("Models' mean grade less humans'"),
    "difference_width": _("Width of the interval of models less humans, all styles"),
    "power_all": _("Tests that find it, all styles together"),
    "power": _("Tests that find it in one style"),
    "rank_width": _("Width of a response's grade"),
}
STEPS = {"topics": _("more topics"), "k": _("more judges a pair")}
JUDGES, TOPICS = count("k", _("Judges a pair")), count("topics", _("Topics"))

TABLES = {
    "plan": Table(
        "planning",
        _("What designs can find out"),
        _(
            "Means over simulated studies of each design, analysed as a real one is; in brackets how far the number of "
            "simulations leaves them open (95 %). The width of models less humans is that of a dimension, all styles "
            "together; tests (p after Benjamini and Hochberg) are of a dimension with all styles together, or of a "
            "dimension and style each."
        ),
        (
            JUDGES,
            TOPICS,
            Column("measure", _("What"), words=MEASURES),
            estimate("value", _("To expect"), n="simulations", digits=3),
            count("simulations", _("Simulations")),
        ),
    ),
    "plan_costs": Table(
        "planning",
        _("What designs cost"),
        _("People, hours and money of each design, as campaigns are forecast. Money in minor units."),
        (
            JUDGES,
            TOPICS,
            Column("present", _("Present design")),
            count("pairs", _("Pairs")),
            count("presented", _("As presented")),
            count("questionnaires", _("Questionnaires")),
            count("judgments", _("Judgments")),
            count("people", _("People")),
            Column("hours", _("Hours"), 1),
            count("pay", _("Pay")),
            count("fee", _("Fees")),
            count("tax", _("Tax")),
            count("writing", _("Writing")),
            count("total", _("Total")),
            Column("currency", _("Currency")),
        ),
    ),
    "plan_next": Table(
        "planning",
        _("What the next money buys"),
        _(
            "How each figure changes with the next money from the present design on, spent on more topics or on more "
            "judges a pair: in a straight line to the nearest such design. In brackets 95 % intervals."
        ),
        (
            Column("step", _("Spent on"), words=STEPS),
            JUDGES,
            TOPICS,
            Column("measure", _("What"), words=MEASURES),
            estimate("change", _("Change"), digits=4),
            count("money", _("Money")),
            Column("currency", _("Currency")),
        ),
    ),
}

FIGURES = {
    "plan": Figure(
        "planning",
        _("What money buys"),
        _(
            "Widths of intervals, power and accuracy to expect against money, a line for each number of judges a pair "
            "and a point for each number of topics; bars: how far the simulations leave it open (95 %). The ring is "
            "the present design. The width of models less humans is that of a dimension, all styles together, and so "
            "are the tests beside it; the others are of one style each. Both are corrected for their number (Benjamini "
            "and Hochberg), so that what one style shows takes more money to find."
        ),
        _(
            "Six panels against money: the width of the difference between models and humans, the share of tests that "
            "find it with all styles together and in one style, the width of a response's grade, the width of alpha's "
            "interval, and the accuracy of gold labels; the numbers stand in the table below."
        ),
    ),
}
