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

PLAN_GOAL = Table(
    "plan_goal",
    "Campaigns that stop when decided",
    (
        "What a campaign needs until it is decided whose responses are better on a dimension, people's or models', if "
        "it is looked at after each questionnaire, against the fixed design that is right as often. Means over "
        "simulated campaigns with a balanced random order of pairs. Amounts are in minor units."
    ),
    (
        JUDGES,
        TOPICS,
        Column("present", "Current design"),
        Column("power", "Decided rightly", 3),
        Column("wrong", "Decided wrongly", 3),
        Column("questionnaires", "Questionnaires until decided", 1),
        count("most", "Planned questionnaires"),
        count("cost", "Cost until decided"),
        Column("fixed", "Questionnaires of a fixed design of equal power", 1),
        count("fixed_cost", "Its cost"),
        Column("saved", "Saved", 2),
        count("campaigns", "Campaigns"),
        Column("currency", "Currency"),
    ),
    meanings={
        "k, topics, present": "the design; whether it is the current design",
        "power, wrong": "share of simulated campaigns that decide rightly, and wrongly; the others stay undecided",
        "questionnaires, cost": "mean until decided, all of them where undecided; `cost` in minor units of `currency`",
        "most": "all questionnaires of the design, each judge's counted",
        "fixed, fixed_cost": "those with which the fixed design decides rightly as often",
        "saved": "share of the fixed design's questionnaires that is saved; negative if more are needed",
        "campaigns": "number of simulated campaigns",
    },
)

CAMPAIGN_GOAL = Table(
    "campaign_goal",
    "Goal of a campaign",
    "Estimates of a campaign's goal by number of votes. The intervals hold at all looks together.",
    (
        Column("label", "Estimate"),
        count("votes", "Votes"),
        estimate("value", "Value", n="votes", digits=2),
        Column("margin", "Margin", 2),
        Column("is_difference", "Difference"),
    ),
    about="The rows of the chart on a campaign's page; the table of looks is `goal_looks` in archives.",
    meanings={
        "label": "two systems of which mean grades are compared, or one system",
        "votes": "number of votes at that look",
        "value, low, high": "difference of mean grades, or mean grade, with its interval",
        "margin, is_difference": "the difference that decides; whether it is a difference",
    },
)

TABLES = (
    PLAN,
    PLAN_COSTS,
    PLAN_NEXT,
    PLAN_GOAL,
    CAMPAIGN_GOAL,
)
