"""Tables and charts of plans. They are about hypothetical studies, so reports of analyses do not include them."""

from ..tables.table import Column, Table, count, estimate

MEASURES = {
    "alpha": "Alpha",
    "alpha_width": "Width of alpha's interval",
    "label_accuracy": "Accuracy of gold labels",
    "mean_grade_width": "Width of a mean grade's interval",
    "mean_grade_all_width": "Width of a mean grade's interval, all dimensions",
    "difference": "Mean grade, models minus humans",
    "difference_width": "Width of the interval of models minus humans, all styles",
    "power_all": "Power of tests, all styles together",
    "power": "Power of tests, one style",
    "rank_width": "Width of a response's grade",
}
STEPS = {"topics": "more topics", "k": "more judges per pair"}
JUDGES, TOPICS = count("k", "Judges per pair"), count("topics", "Topics")

PLAN = Table(
    "plan",
    "Precision of designs",
    (
        "Means over simulated studies of each design, analysed like a real study, with 95 % simulation "
        "intervals in brackets. The width of models minus humans is for one dimension over all styles. "
        "Tests (p adjusted by Benjamini and Hochberg) are for one dimension over all styles, or for each "
        "dimension and style."
    ),
    (
        JUDGES,
        TOPICS,
        Column("measure", "Measure", words=MEASURES),
        estimate("value", "Expected value", n="simulations", digits=3),
        count("simulations", "Simulations"),
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
    "Cost of designs",
    "People, hours and cost of each design, computed as for campaigns. Amounts are in minor units.",
    (
        JUDGES,
        TOPICS,
        Column("present", "Current design"),
        count("pairs", "Pairs"),
        count("presented", "Presented pairs"),
        count("questionnaires", "Questionnaires"),
        count("judgments", "Judgments"),
        count("people", "People"),
        Column("hours", "Hours", 1),
        count("pay", "Pay"),
        count("fee", "Fees"),
        count("tax", "Tax"),
        count("writing", "Writing"),
        count("total", "Total"),
        Column("currency", "Currency"),
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
    "Effect of a larger budget",
    (
        "Change of each measure if the budget of the current design increases, spent on more topics or "
        "on more judges per pair. Changes are interpolated linearly to the nearest such design. 95 % "
        "intervals in brackets."
    ),
    (
        Column("step", "Spent on", words=STEPS),
        JUDGES,
        TOPICS,
        Column("measure", "Measure", words=MEASURES),
        estimate("change", "Change", digits=4),
        count("money", "Amount"),
        Column("currency", "Currency"),
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
