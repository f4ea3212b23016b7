"""Tables and charts of plans: of what is not yet, so no report of an analysis holds them."""

from django.utils.translation import gettext_lazy as _

from ..tables.table import Column, Table, count, estimate

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

PLAN = Table(
    "plan",
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
    meanings={
        "k, topics": "the design: judges a pair, and topics; all else as in the run's parameters",
        "measure": (
            "`alpha`, `alpha_width`, `label_accuracy`, `mean_grade_width`, `mean_grade_all_width`, `difference`, "
            "`difference_width`, `power_all`, `power`, `rank_width`"
        ),
        "value, low, high": (
            "the mean over simulated studies, and its 95 % interval: how far the number of simulations leaves it open"
        ),
        "simulations": "studies that could say it",
    },
)
PLAN_COSTS = Table(
    "plan_costs",
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
    meanings={
        "k, topics, present": "the design; whether it is the one that was asked about",
        "pairs, presented, questionnaires, judgments, people, hours": (
            "as campaigns are forecast; `presented` counts both orders"
        ),
        "pay, fee, tax, writing, total": (
            "in minor units of `currency`; `writing` of responses to topics beyond the present ones"
        ),
    },
)
PLAN_NEXT = Table(
    "plan_next",
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
    about="What the next `money` (100, major units of `currency`) buys from the present design on.",
    meanings={
        "step": "spent on `topics` or on `k`, judges a pair",
        "k, topics": "the nearest such design, to which a straight line is drawn",
        "measure": "as in `plan`",
        "change, low, high": "by how much it changes, and its 95 % interval",
    },
)

TABLES = (
    PLAN,
    PLAN_COSTS,
    PLAN_NEXT,
)
