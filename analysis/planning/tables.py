"""Tables and charts of plans: of what is not yet, so no report of an analysis holds them."""

from django.utils.translation import gettext_lazy as _

from ..tables.table import Column, Table, count, estimate

MEASURES = {
    "alpha": _("Alpha"),
    "alpha_width": _("Width of alpha's interval"),
    "label_accuracy": _("Accuracy of gold labels"),
    "mean_grade_width": _("Width of a mean grade's interval"),
    "mean_grade_all_width": _("Width of a mean grade's interval, all dimensions"),
    "difference": _("Mean grade, models minus humans"),
    "difference_width": _("Width of the interval of models minus humans, all styles"),
    "power_all": _("Power of tests, all styles together"),
    "power": _("Power of tests, one style"),
    "rank_width": _("Width of a response's grade"),
}
STEPS = {"topics": _("more topics"), "k": _("more judges per pair")}
JUDGES, TOPICS = count("k", _("Judges per pair")), count("topics", _("Topics"))

PLAN = Table(
    "plan",
    _("Precision of designs"),
    _(
        "Means over simulated studies of each design, analysed like a real study, with 95 % simulation "
        "intervals in brackets. The width of models minus humans is for one dimension over all styles. "
        "Tests (p adjusted by Benjamini and Hochberg) are for one dimension over all styles, or for each "
        "dimension and style."
    ),
    (
        JUDGES,
        TOPICS,
        Column("measure", _("Measure"), words=MEASURES),
        estimate("value", _("Expected value"), n="simulations", digits=3),
        count("simulations", _("Simulations")),
    ),
    meanings={
        "k, topics": "the design: judges per pair, and topics; all else as in the run's parameters",
        "measure": (
            "`alpha`, `alpha_width`, `label_accuracy`, `mean_grade_width`, `mean_grade_all_width`, `difference`, "
            "`difference_width`, `power_all`, `power`, `rank_width`"
        ),
        "value, low, high": ("the mean over simulated studies, and its 95 % simulation interval"),
        "simulations": "number of simulated studies with a value",
    },
)
PLAN_COSTS = Table(
    "plan_costs",
    _("Cost of designs"),
    _("People, hours and cost of each design, computed as for campaigns. Amounts are in minor units."),
    (
        JUDGES,
        TOPICS,
        Column("present", _("Current design")),
        count("pairs", _("Pairs")),
        count("presented", _("Presented pairs")),
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
        "k, topics, present": "the design; whether it is the current design",
        "pairs, presented, questionnaires, judgments, people, hours": (
            "computed as for campaigns; `presented` counts both orders"
        ),
        "pay, fee, tax, writing, total": (
            "in minor units of `currency`; `writing`: cost of responses to topics beyond the current ones"
        ),
    },
)
PLAN_NEXT = Table(
    "plan_next",
    _("Effect of a larger budget"),
    _(
        "Change of each measure if the budget of the current design increases, spent on more topics or "
        "on more judges per pair. Changes are interpolated linearly to the nearest such design. 95 % "
        "intervals in brackets."
    ),
    (
        Column("step", _("Spent on"), words=STEPS),
        JUDGES,
        TOPICS,
        Column("measure", _("Measure"), words=MEASURES),
        estimate("change", _("Change"), digits=4),
        count("money", _("Amount")),
        Column("currency", _("Currency")),
    ),
    about="Effect of `money` (100, in major units of `currency`) added to the budget of the current design.",
    meanings={
        "step": "spent on `topics` or on `k`, judges per pair",
        "k, topics": "the nearest such design, used for linear interpolation",
        "measure": "as in `plan`",
        "change, low, high": "the change and its 95 % interval",
    },
)

TABLES = (
    PLAN,
    PLAN_COSTS,
    PLAN_NEXT,
)
