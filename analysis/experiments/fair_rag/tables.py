"""Tables and charts of fair RAG experiments (fair_rag, Tables 1 and 2, Figures 3 to 5)."""

from ...tables.table import Column, Holds, Table, count, estimate, named_estimate

CURVES = {
    "DR": "ranking quality by disparity",
    "DU": "utility by disparity",
    "RU": "utility by ranking quality",
    "DA": "attribution rate by disparity",
    "RA": "attribution rate by ranking quality",
    "DD": "attributed disparity by disparity",
}
MEASURES = {
    "disparity": "EE-D",
    "relevance": "EE-R",
    "distance": "EE-L",
    "disparity_normalised": "EE-D, normalised",
    "relevance_normalised": "EE-R, normalised",
    "utility": "EU",
    "utility_normalised": "EU, normalised",
    "attribution": "EAR",
    "attributed_disparity": "EAE-D",
    "attributed_normalised": "EAE-D, normalised",
}
METRICS = {
    "em": "exact match",
    "f1": "F1",
    "accuracy": "accuracy",
    "mae": "MAE",
    "rmse": "RMSE",
    "rouge_1": "ROUGE-1",
    "rouge_l": "ROUGE-L",
}
RANKS = {
    "sampled": "sampled",
    "deterministic": "deterministic",
    "oracle": "oracle",
    "none": "without documents",
}
REASONS = {"": "included"}
STEPS = {"labels": "utility labels", "rankings": "rankings", "attribution": "attribution"}

RETRIEVER = Column("retriever", "Retriever")
RANK = Column("rank", "Rankings", words=RANKS)
CURVE = Column("curve", "Curve", words=CURVES)
ALPHA = Column("alpha", "Alpha", 1, is_key=True)
START, END = Column("start", "From", 1, is_key=True), Column("end", "To", 1, is_key=True)
QUERIES, RUNS = count("n", "Questions"), count("n", "Runs")
LEFT_OUT = count("left_out", "Excluded")
P, ADJUSTED = Column("p", "p", 4), Column("p_adjusted", "p adjusted", 4)

FAIR_TRADEOFF = Table(
    "fair_tradeoff",
    "Cost of fairness",
    (
        "Slope of a straight line through all runs (one for each question and alpha), and area under the "
        "curve through the means of five intervals of equal width. A steeper line means a stronger "
        "trade-off. Measures are normalised. In brackets: 95 % intervals over resampled questions."
    ),
    (
        RETRIEVER,
        CURVE,
        named_estimate("slope", "Slope", digits=3),
        named_estimate("area", "Area", digits=3),
        RUNS,
        LEFT_OUT,
    ),
    about=(
        "retriever; `curve`: `DR`, `DU`, `RU`, `DA`, `RA`, `DD` (D disparity, R ranking quality, U "
        "utility, A attribution; second by first, `DD` attributed by retrieved); slope and area with "
        "their bounds; n runs, and runs excluded as undefined"
    ),
)
FAIR_INTERVALS = Table(
    "fair_intervals",
    "Utility of fairer and deterministic rankings",
    (
        "Mean normalised utility of the runs in each interval of normalised disparity, minus that of the "
        "deterministic ranking. p: Student's unpaired t-test, adjusted for the false discovery rate over "
        "this table. In brackets: 95 % intervals over resampled questions."
    ),
    (
        RETRIEVER,
        START,
        END,
        Column("baseline", "Deterministic", 3),
        Column("utility", "Utility", 3),
        estimate("difference", "Difference", digits=3),
        P,
        ADJUSTED,
        RUNS,
        LEFT_OUT,
    ),
    about=(
        "retriever; `start`, `end` of the interval of disparity; mean utility of the deterministic "
        "`baseline` and of the interval, difference, low, high; p unpaired, p adjusted; n runs, excluded "
        "runs"
    ),
)
FAIR_ALPHAS = Table(
    "fair_alphas",
    "Disparity by alpha",
    (
        "Mean normalised disparity of the second alpha minus that of the first. p: Student's t-test "
        "paired by question, adjusted for the false discovery rate over this table. In brackets: 95 % "
        "intervals over resampled questions."
    ),
    (
        RETRIEVER,
        Column("alpha_1", "Alpha", 1, is_key=True),
        Column("alpha_2", "Compared with", 1, is_key=True),
        estimate("difference", "Difference", digits=3),
        Column("statistic", "t", 2),
        P,
        ADJUSTED,
        QUERIES,
    ),
    about=(
        "retriever; alpha_1, alpha_2; disparity of the second minus the first, low, high; t, p paired, p "
        "adjusted; n questions"
    ),
)
FAIR_SUMMARY = Table(
    "fair_summary",
    "Fairness, ranking quality, utility and attribution",
    (
        "Means over questions. EE-D: disparity of expected exposure (higher is less fair). EE-R: its "
        "relevance. EE-L: its distance from the ideal. EU: expected utility (normalised: divided by the "
        "best for the question). EAR: attribution rate. EAE-D: disparity of attributed exposure. In "
        "brackets: 95 % intervals over resampled questions. Error: standard error from generating only "
        "some lists."
    ),
    (
        RETRIEVER,
        RANK,
        ALPHA,
        Column("measure", "Measure", words=MEASURES),
        estimate("value", "Mean", digits=3),
        Column("error", "Error", 3),
        QUERIES,
    ),
    about=(
        "retriever, `rank` (`sampled`, `deterministic`, `oracle`), alpha; measure; value, low, high; "
        "`error`: standard error from generating only some lists; n questions"
    ),
)
FAIR_METRICS = Table(
    "fair_metrics",
    "Answer quality by metric",
    (
        "Scores of the answers by all metrics of their task: means over questions of the mean over "
        "sampled rankings. Lower is better for MAE and RMSE. RMSE is the root of the mean squared error. "
        "One metric defines utility. In brackets: 95 % intervals over resampled questions. Error: "
        "standard error from generating only some lists."
    ),
    (
        RETRIEVER,
        RANK,
        ALPHA,
        Column("metric", "Metric", words=METRICS),
        Column("is_utility", "Defines utility"),
        estimate("value", "Mean", digits=3),
        Column("error", "Error", 3),
        QUERIES,
    ),
    about=(
        "retriever, rank, alpha; `metric` (`em`, `f1`, `accuracy`, `mae`, `rmse`, `rouge_1`, `rouge_l`): "
        "all metrics of the task for the same answers; `is_utility`: whether it defines utility (`rmse`: "
        "by the squared error); value, low, high; `error` as above; n questions"
    ),
)
FAIR_CURVES = Table(
    "fair_curves",
    "Curves by interval",
    (
        "Means of the runs in each of five intervals of the curve's x measure. In brackets: 95 % "
        "intervals over resampled questions."
    ),
    (
        RETRIEVER,
        CURVE,
        START,
        END,
        Column("x", "x", 3),
        Column("y", "y", 3, low="low", high="high"),
        RUNS,
    ),
    about="retriever, curve, start, end; means x and y of the runs in the interval, low and high of y; n runs",
)
FAIR_QUERIES = Table(
    "fair_queries",
    "All questions and rankings",
    "All measures of each question. Errors are standard errors from generating only some of the distinct lists.",
    (
        Column("query", "Question"),
        RETRIEVER,
        RANK,
        ALPHA,
        count("items", "Documents"),
        count("useful", "Useful"),
        *(Column(key, label, 3) for key, label in MEASURES.items()),
        Column("best", "Best utility", 3),
        *(
            Column(f"{key}_error", label, 3)
            for key, label in (
                ("utility", "EU, error"),
                ("utility_normalised", "EU, normalised, error"),
                ("attribution", "EAR, error"),
                ("attributed_disparity", "EAE-D, error"),
                ("attributed_normalised", "EAE-D, normalised, error"),
            )
        ),
        count("lists", "Distinct lists"),
        count("generated", "Generated"),
    ),
    is_whole=False,
    about=(
        "question, retriever, rank, alpha; n and m; EE-D (`disparity`), EE-R, EE-L (`distance`), EU, "
        "EAR, EAE-D, normalised values, errors, best utility; number of distinct lists, and of generated "
        "lists"
    ),
)
FAIR_LABELS = Table(
    "fair_labels",
    "Utility labels",
    (
        "Utility of the generator's answer without documents and with each document alone. A document is "
        "useful if it increases utility."
    ),
    (
        Column("query", "Question"),
        Column("document", "Document"),
        Column("without", "Without documents", 3),
        Column("alone", "With this document", 3),
        Column("gain", "Gain", 3),
        Column("useful", "Useful"),
    ),
    is_whole=False,
    about="question, document; utility without documents and with this document alone, gain, useful",
)
FAIR_EXAMPLES = Table(
    "fair_examples",
    "Example answers",
    (
        "Questions sampled with the run's seed: the answer without documents, and for each ranking the "
        "answer to one of its lists, drawn in proportion to how often it was sampled. Documents are in "
        "the order in which the model read them."
    ),
    (
        Column("query", "Question"),
        Column("question", "Text"),
        Column("gold", "Right answer"),
        RETRIEVER,
        RANK,
        ALPHA,
        Column("documents", "Documents"),
        Column("answer", "Answer"),
        Column("utility", "Utility", 3),
    ),
    holds=Holds.TEXTS,
    about=(
        "for five questions sampled with the seed: ID and text, right answers (separated by ` / `), "
        "retriever, rank (`none`: without documents), alpha, IDs of the documents of one list in their "
        "order, the answer, its utility. Emptied when somebody has texts erased that the run used"
    ),
)
FAIR_LEFT_OUT = Table(
    "fair_left_out",
    "Included and excluded questions",
    (
        "Number of included questions, and of excluded ones by reason, with the IDs of the first ones. A "
        "separate column counts what was excluded from the whole file before questions were sampled, for "
        "example documents."
    ),
    (
        Column("reason", "Reason", words=REASONS),
        count("queries", "Questions"),
        count("in_file", "In whole file"),
        Column("named", "First ones"),
    ),
    about=(
        "reason (empty: included), number of `queries` of the run, the first ten of them in `named`; "
        "`in_file`: number excluded from the whole file before questions were sampled (for example "
        "documents; the other columns are null then)"
    ),
)
FAIR_COSTS = Table(
    "fair_costs",
    "Generator usage",
    (
        "Sampled rankings and the distinct prompts for them. Tokens include prompts with a stored "
        "answer. An answer is unreadable if the metric needs a rating and the answer has none. It gets "
        "the worst possible score."
    ),
    (
        Column("step", "Step", words=STEPS),
        Column("by", "Model"),
        Column("is_standin", "Replaces an entailment model"),
        count("rankings", "Sampled rankings"),
        count("prompts", "Prompts"),
        count("prompt_tokens", "Input tokens"),
        count("completion_tokens", "Output tokens"),
        count("failed", "Without answer"),
        count("unreadable", "Unreadable"),
    ),
    about=(
        "step, model, whether it replaces an entailment model; sampled rankings, prompts, tokens, "
        "prompts without an answer, answers that the metric could not read (`unreadable`)"
    ),
)

TABLES = (
    FAIR_TRADEOFF,
    FAIR_INTERVALS,
    FAIR_ALPHAS,
    FAIR_SUMMARY,
    FAIR_METRICS,
    FAIR_CURVES,
    FAIR_QUERIES,
    FAIR_LABELS,
    FAIR_EXAMPLES,
    FAIR_LEFT_OUT,
    FAIR_COSTS,
)
