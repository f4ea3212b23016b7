"""Tables and charts of fair RAG experiments (fair_rag, Tables 1 and 2, Figures 3 to 5)."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count, estimate, named_estimate

CURVES = {
    "DR": _("ranking quality over disparity"),
    "DU": _("utility over disparity"),
    "RU": _("utility over ranking quality"),
    "DA": _("attribution rate over disparity"),
    "RA": _("attribution rate over ranking quality"),
    "DD": _("attributed disparity over disparity"),
}
MEASURES = {
    "disparity": _("EE-D"),
    "relevance": _("EE-R"),
    "distance": _("EE-L"),
    "disparity_normalised": _("EE-D, normalised"),
    "relevance_normalised": _("EE-R, normalised"),
    "utility": _("EU"),
    "utility_normalised": _("EU, normalised"),
    "attribution": _("EAR"),
    "attributed_disparity": _("EAE-D"),
    "attributed_normalised": _("EAE-D, normalised"),
}
METRICS = {
    "em": _("exact match"),
    "f1": _("F1"),
    "accuracy": _("accuracy"),
    "mae": _("MAE"),
    "rmse": _("RMSE"),
    "rouge_1": _("ROUGE-1"),
    "rouge_l": _("ROUGE-L"),
}
RANKS = {
    "sampled": _("sampled"),
    "deterministic": _("deterministic"),
    "oracle": _("oracle"),
    "none": _("without documents"),
}
REASONS = {"": _("take part")}
STEPS = {"labels": _("utility labels"), "rankings": _("rankings"), "attribution": _("attribution")}

RETRIEVER = Column("retriever", _("Retriever"))
RANK = Column("rank", _("Rankings"), words=RANKS)
CURVE = Column("curve", _("Curve"), words=CURVES)
ALPHA = Column("alpha", _("Alpha"), 1, is_key=True)
START, END = Column("start", _("From"), 1, is_key=True), Column("end", _("To"), 1, is_key=True)
QUERIES, RUNS = count("n", _("Questions")), count("n", _("Runs"))
LEFT_OUT = count("left_out", _("Left out"))
P, ADJUSTED = Column("p", _("p"), 4), Column("p_adjusted", _("p adjusted"), 4)

FAIR_TRADEOFF = Table(
    "fair_tradeoff",
    _("What fairness costs"),
    _(
        "The slope of a straight line through all runs, one a question and alpha, and the area under the curve "
        "through the means of five intervals of equal width. A steeper line is a stronger trade-off. Measures are "
        "normalised; in brackets 95 % intervals, questions resampled."
    ),
    (
        RETRIEVER,
        CURVE,
        named_estimate("slope", _("Slope"), digits=3),
        named_estimate("area", _("Area"), digits=3),
        RUNS,
        LEFT_OUT,
    ),
    about=(
        "retriever; `curve`: `DR`, `DU`, `RU`, `DA`, `RA`, `DD` (D disparity, R ranking quality, U utility, A "
        "attribution; second over first, `DD` attributed over retrieved); slope and area with their bounds; n "
        "runs, runs left out as undefined"
    ),
)
FAIR_INTERVALS = Table(
    "fair_intervals",
    _("Utility of fairer rankings beside deterministic ones"),
    _(
        "Mean normalised utility of the runs in each interval of normalised disparity less that of the "
        "deterministic ranking. p: Student's t-test, unpaired; adjusted for the false discovery rate over this "
        "table. In brackets 95 % intervals, questions resampled."
    ),
    (
        RETRIEVER,
        START,
        END,
        Column("baseline", _("Deterministic"), 3),
        Column("utility", _("Utility"), 3),
        estimate("difference", _("Difference"), digits=3),
        P,
        ADJUSTED,
        RUNS,
        LEFT_OUT,
    ),
    about=(
        "retriever; `start`, `end` of the interval of disparity; mean utility of the deterministic `baseline` and"
        " of the interval, difference, low, high; p unpaired, p adjusted; n runs, left out"
    ),
)
FAIR_ALPHAS = Table(
    "fair_alphas",
    _("Disparity by alpha"),
    _(
        "How far the second alpha's normalised disparity is above the first one's, on average. p: Student's "
        "t-test, paired by question; adjusted for the false discovery rate over this table. In brackets 95 % "
        "intervals, questions resampled."
    ),
    (
        RETRIEVER,
        Column("alpha_1", _("Alpha"), 1, is_key=True),
        Column("alpha_2", _("Beside"), 1, is_key=True),
        estimate("difference", _("Difference"), digits=3),
        Column("statistic", _("t"), 2),
        P,
        ADJUSTED,
        QUERIES,
    ),
    about=(
        "retriever; alpha_1, alpha_2; the second's disparity less the first's, low, high; t, p paired, p "
        "adjusted; n questions"
    ),
)
FAIR_SUMMARY = Table(
    "fair_summary",
    _("Fairness, ranking quality, utility and attribution"),
    _(
        "Means over questions: expected exposure's disparity (EE-D: higher is less fair), its relevance (EE-R) and "
        "distance from the ideal (EE-L); expected utility (EU; normalised: over the best seen for the question); "
        "attribution rate (EAR); disparity of attributed exposure (EAE-D). In brackets 95 % intervals, questions "
        "resampled. Error: the standard error of having generated some lists only."
    ),
    (
        RETRIEVER,
        RANK,
        ALPHA,
        Column("measure", _("Measure"), words=MEASURES),
        estimate("value", _("Mean"), digits=3),
        Column("error", _("Error"), 3),
        QUERIES,
    ),
    about=(
        "retriever, `rank` (`sampled`, `deterministic`, `oracle`), alpha; measure; value, low, high; `error`: "
        "standard error of having generated some lists only; n questions"
    ),
)
FAIR_METRICS = Table(
    "fair_metrics",
    _("Answers by all metrics of their task"),
    _(
        "What the answers score, as the metric says it (of errors, MAE and RMSE, less is better): means over "
        "questions of the mean over sampled rankings; the RMSE is the root of the mean squared error. Utility is "
        "made of one of them. In brackets 95 % intervals, questions resampled. Error: the standard error of having "
        "generated some lists only."
    ),
    (
        RETRIEVER,
        RANK,
        ALPHA,
        Column("metric", _("Metric"), words=METRICS),
        Column("is_utility", _("Makes utility")),
        estimate("value", _("Mean"), digits=3),
        Column("error", _("Error"), 3),
        QUERIES,
    ),
    about=(
        "retriever, rank, alpha; `metric` (`em`, `f1`, `accuracy`, `mae`, `rmse`, `rouge_1`, `rouge_l`): all of "
        "the task, of the same answers; `is_utility`: whether utility is made of it (`rmse`: of the squared "
        "error); value, low, high; `error` as above; n questions"
    ),
)
FAIR_CURVES = Table(
    "fair_curves",
    _("Curves by interval"),
    _(
        "Means of the runs in each of five intervals of the curve's horizontal measure. In brackets 95 % "
        "intervals, questions resampled."
    ),
    (
        RETRIEVER,
        CURVE,
        START,
        END,
        Column("x", _("Across"), 3),
        Column("y", _("Up"), 3, low="low", high="high"),
        RUNS,
    ),
    about="retriever, curve, start, end; means x and y of the interval's runs, low and high of y; n runs",
)
FAIR_QUERIES = Table(
    "fair_queries",
    _("Every question, ranked in every way"),
    _("All measures of each question; errors are standard errors of having generated some of the distinct lists only."),
    (
        Column("query", _("Question")),
        RETRIEVER,
        RANK,
        ALPHA,
        count("items", _("Documents")),
        count("useful", _("Useful")),
        *(Column(key, label, 3) for key, label in MEASURES.items()),
        Column("best", _("Best utility seen"), 3),
        *(
            Column(f"{key}_error", label, 3)
            for key, label in (
                ("utility", _("EU, error")),
                ("utility_normalised", _("EU, normalised, error")),
                ("attribution", _("EAR, error")),
                ("attributed_disparity", _("EAE-D, error")),
                ("attributed_normalised", _("EAE-D, normalised, error")),
            )
        ),
        count("lists", _("Distinct lists")),
        count("generated", _("Generated")),
    ),
    is_whole=False,
    about=(
        "question, retriever, rank, alpha; n and m; EE-D (`disparity`), EE-R, EE-L (`distance`), EU, EAR, EAE-D, "
        "normalised ones, errors, best utility; distinct lists and how many were generated"
    ),
)
FAIR_LABELS = Table(
    "fair_labels",
    _("Utility labels"),
    _(
        "The utility of the generator's answer without any document and with each one alone. A document is useful "
        "if it adds something."
    ),
    (
        Column("query", _("Question")),
        Column("document", _("Document")),
        Column("without", _("Without"), 3),
        Column("alone", _("With it alone"), 3),
        Column("gain", _("Gain"), 3),
        Column("useful", _("Useful")),
    ),
    is_whole=False,
    about="question, document; utility without and with it alone, gain, useful",
)
FAIR_EXAMPLES = Table(
    "fair_examples",
    _("Some questions and what was answered"),
    _(
        "Questions drawn with the run's seed: the answer without documents, and for each way of ranking that to "
        "one of its lists, drawn as often as it was sampled. Documents stand in the order in which they were read."
    ),
    (
        Column("query", _("Question")),
        Column("question", _("Text")),
        Column("gold", _("Right answer")),
        RETRIEVER,
        RANK,
        ALPHA,
        Column("documents", _("Documents")),
        Column("answer", _("Answer")),
        Column("utility", _("Utility"), 3),
    ),
    holds=Holds.TEXTS,
    about=(
        "of five questions, drawn with the seed: id and text, right answers (` / ` between them), retriever, rank"
        " (`none`: without documents), alpha, ids of the documents of one list in their order, the answer, its "
        "utility. Emptied when somebody whose texts a run on a study used has them erased"
    ),
)
FAIR_LEFT_OUT = Table(
    "fair_left_out",
    _("Questions that take part"),
    _(
        "Why others were left out, with the first of them by name. What was left out while the whole file was "
        "read, before questions were drawn, stands beside: documents, say."
    ),
    (
        Column("reason", _("Reason"), words=REASONS),
        count("queries", _("Questions")),
        count("in_file", _("In the whole file")),
        Column("named", _("Which")),
    ),
    about=(
        "reason (empty: takes part), `queries` of the run, the first ten of them by `named`; `in_file`: what was "
        "left out while the whole file was read, before questions were drawn (documents, say; the others are null"
        " then)"
    ),
)
FAIR_COSTS = Table(
    "fair_costs",
    _("What the generator was asked"),
    _(
        "Rankings that were sampled, and the distinct prompts that they took. Tokens are those of all prompts, "
        "also where the answer was kept from before. An answer is not to be read where the metric wants a rating "
        "and it gives none: it counts as wrong as can be."
    ),
    (
        Column("step", _("For"), words=STEPS),
        Column("by", _("Asked")),
        Column("is_standin", _("Stands in for an entailment model")),
        count("rankings", _("Sampled rankings")),
        count("prompts", _("Prompts")),
        count("prompt_tokens", _("Tokens read")),
        count("completion_tokens", _("Tokens written")),
        count("failed", _("Without an answer")),
        count("unreadable", _("Not to be read")),
    ),
    about=(
        "step, who was asked, whether that stands in for an entailment model; sampled rankings, prompts, tokens, "
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
