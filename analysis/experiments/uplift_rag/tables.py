"""Tables and charts of uplift RAG experiments (uplift_rag, Tables 1 to 3, Figures 1, 2, 4 and 5)."""

from dataclasses import replace

from django.utils.text import format_lazy

from analysis.rag.uplift_rag.baselines.catalogue import BASELINES, FORMS

from ...tables.table import Column, Holds, LazyText, Table, count, estimate, named_estimate

_OURS: dict[str, LazyText] = {
    "uplift": "Uplift RAG",
    "without_point": "without the pointwise loss",
    "without_pair": "without the pairwise loss",
    "without_list": "without the listwise loss",
    "without_selection": "without selection",
    "without_reranking": "without reranking",
    "upper_bound": "Upper bound",
}
#: Labels of rows; for baselines, the form of the method that answered.
METHODS: dict[str, LazyText] = {**{form.key: form.label for form in FORMS.values()}, **_OURS}
#: Labels in the form that starts a run, before the forms of the methods are known.
TITLES: dict[str, LazyText] = {**{baseline.name: baseline.title for baseline in BASELINES.values()}, **_OURS}
#: A sentence for captions of tables that compare methods.
_AFTER = "“After” means a simplified version of a paper’s method, with the difference in brackets."
METRICS = {"em": "Exact match", "f1": "F1"}
CATEGORIES = {
    "wrong_right": "wrong without, right with document",
    "right_wrong": "right without, wrong with document",
    "right_right": "right in both cases",
    "wrong_wrong": "wrong in both cases",
}
MISSING = {
    "all": "all helpful documents missing",
    "some": "some helpful documents missing",
    "none": "no helpful documents missing",
    "nothing_helps": "no document helps",
}
MEASURES = {"precision": "Precision", "recall": "Recall"}
#: Methods in the table that measures how often helpful documents rank above others.
ORDERS = METHODS | {"standard": "Standard RAG (retriever's order)"}
MODELS = {"own": "this model", "other": "the other model"}
#: Labels by whose documents are used, and by who answers.
EXCHANGED = {
    ("own", "own"): "this model, own documents",
    ("own", "other"): "this model, the other's",
    ("other", "own"): "the other, this model's",
    ("other", "other"): "the other, own documents",
}
UNITS = {"tokens": "tokens", "words": "words"}
COUNTS = {
    "questions": "Included questions",
    "train": "Questions for training",
    "dev": "Questions for selecting an epoch",
    "documents": "Documents",
    "one_document": "Questions with one document",
    "label_prompts": "Prompts for labels",
    "refused": "Refused prompts for labels",
    "refused_answers": "Refused answers of all methods",
    "refused_other": "Refused prompts for the other model's labels",
    "refused_transfer": "Refused answers with exchanged documents",
    "right_without": "Questions answered right without documents",
    "helpful": "Documents that help",
    "nothing_helps": "Questions without helpful documents",
    "one_helps": "Questions with exactly one helpful document",
    "strangers": "Documents of other questions",
    "left_out": "Excluded",
    "left_out_of_all": "Excluded from the whole data before sampling questions",
}

METHOD = Column("method", "Method", words=METHODS)
METRIC = Column("metric", "Metric", words=METRICS)
QUESTIONS = count("n", "Questions")
TESTED = (
    named_estimate("difference", "Difference", digits=3),
    Column("statistic", "W", 1),
    Column("p", "p", 4),
    Column("p_adjusted", "p adjusted", 4),
)

UPLIFT_RESULTS = Table(
    "uplift_results",
    "Answers by method",
    (
        "Means over questions. Methods are trained on the other splits, or on the training questions "
        "named in the data. Difference: from standard RAG, paired by question, with Wilcoxon's "
        "signed-rank test (for exact match: McNemar's test) and p adjusted for the false discovery rate "
        "over this table. In brackets: 95 % intervals over resampled questions. Intervals and tests are "
        "conditional on the trained rerankers: one seed, one reranker per split. The upper bound selects "
        "exactly the documents that help alone."
    ),
    (METHOD, METRIC, estimate("value", "Mean", digits=3), *TESTED, QUESTIONS),
    about=(
        "method, metric; mean `value`, low, high; difference from `standard` with its bounds; W, p, p "
        "adjusted; n questions"
    ),
)
UPLIFT_ABLATIONS = Table(
    "uplift_ablations",
    "Ablations of uplift RAG",
    (
        "Means over questions without one of the three losses, without selection (the top documents, as "
        "many as for standard RAG), and without reranking (the selected documents in the retriever's "
        "order). Difference: from the full method, tested as above within this table. The difference "
        "from standard RAG is not tested. In brackets: 95 % intervals over resampled questions, "
        "conditional on the trained rerankers."
    ),
    (
        Column("variant", "Variant", words=METHODS),
        METRIC,
        estimate("value", "Mean", digits=3),
        *TESTED,
        named_estimate("to_standard", "Difference from standard RAG", digits=3),
        QUESTIONS,
    ),
    about="variant, metric; the same compared with `uplift`; difference `to_standard` with its bounds, not tested",
)
UPLIFT_INPUTS = Table(
    "uplift_inputs",
    "Documents and tokens per question",
    (
        "Input of each method per question: documents, their length, tokens of the prompt, and ratios to "
        "standard RAG. Lengths are in the model's tokens, or in words if tokens cannot be counted. "
        "Prompt tokens include instruction and question. If a method prompts with each document, they "
        "are for all prompts. Calls include calls to select documents. In brackets: 95 % intervals over "
        "resampled questions."
    ),
    (
        METHOD,
        named_estimate("documents", "Documents"),
        named_estimate("document_tokens", "Length of documents", digits=1),
        Column("counted", "Unit", words=UNITS),
        named_estimate("document_ratio", "Ratio to standard RAG, documents", digits=3),
        named_estimate("prompt_tokens", "Prompt tokens", digits=1),
        named_estimate("ratio", "Ratio to standard RAG, prompt", digits=3),
        Column("without_documents", "Without documents", 1, is_share=True),
        Column("calls", "Calls", 2),
        count("refused", "Refused"),
        QUESTIONS,
    ),
    about=(
        "method; documents, document_tokens (`counted` in `tokens` or `words`), `document_ratio` of these to "
        "`standard`, prompt_tokens, `ratio` of these to `standard`, each with bounds; share of questions "
        "`without_documents`; calls; `refused` answers; n questions"
    ),
)
UPLIFT_CATEGORIES = Table(
    "uplift_categories",
    "Effect of documents on answers",
    (
        "Shares of all retrieved documents: answer with the document alone compared with the answer "
        "without documents, right by exact match. In brackets: 95 % intervals over resampled questions."
    ),
    (
        Column("category", "Answer", words=CATEGORIES),
        Column("share", "Share", 1, low="low", high="high", is_share=True),
        count("documents", "Documents"),
        QUESTIONS,
    ),
    about=(
        "`category` (`wrong_right`, `right_wrong`, `right_right`, `wrong_wrong`: answer without, with "
        "the document); total documents; share, low, high; n questions"
    ),
)
UPLIFT_ERRORS = Table(
    "uplift_errors",
    "Missing documents in answers worse than the upper bound",
    (
        "Questions that a method answers worse than the upper bound, by how many helpful documents were "
        "not selected. If none is missing, or no document helps, other documents mislead the model. In "
        "brackets: 95 % intervals over resampled questions."
    ),
    (
        METHOD,
        Column("missing", "Missing", words=MISSING),
        Column("share", "Share", 1, low="low", high="high", is_share=True),
        count("errors", "Worse answers"),
        QUESTIONS,
    ),
    about=(
        "method; `missing` (`all`, `some`, `none`, `nothing_helps`); `errors`: answers worse than the "
        "upper bound; share, low, high; n"
    ),
)
UPLIFT_FOUND = Table(
    "uplift_found",
    "Precision and recall of helpful documents",
    (
        "Precision: share of a method's selected documents that help alone. Recall: share of documents "
        "that help alone that are selected. In brackets: 95 % intervals over resampled questions."
    ),
    (
        METHOD,
        Column("measure", "Measure", words=MEASURES),
        Column("value", "Share", 1, low="low", high="high", is_share=True),
        QUESTIONS,
    ),
    about=("method; `measure` (`precision`, `recall`); value, low, high; n questions with a defined share"),
)
UPLIFT_ORDER = Table(
    "uplift_order",
    "Helpful documents ranked first",
    (
        "Share of pairs of a helpful and an unhelpful document of a question in which the helpful one is "
        "ranked first (ties count half). Means over questions with both kinds, 0.5 is chance. "
        "Difference: from the retriever's order, paired by question, with Wilcoxon's signed-rank test "
        "and p adjusted for the false discovery rate over this table. In brackets: 95 % intervals over "
        "resampled questions, conditional on the trained rerankers."
    ),
    (
        Column("method", "Ranking", words=ORDERS),
        estimate("value", "Helpful document first", digits=3),
        *TESTED,
        QUESTIONS,
    ),
    about=(
        "method (`standard`: the retriever's order); share of pairs with the helpful document ranked "
        "before the unhelpful one: `value`, low, high; difference from `standard` with its bounds; W, p, "
        "p adjusted; n questions with both kinds"
    ),
)
UPLIFT_THRESHOLDS = Table(
    "uplift_thresholds",
    "Other thresholds",
    (
        "Results of other thresholds for uplift RAG's rerankers, without new calls: documents per "
        "question above the threshold, questions without documents, precision and recall, each with its "
        "number of questions. At 0 all documents are selected: if precision does not rise from there, "
        "the reranker learnt nothing. Thresholds: round numbers, those that exclude each tenth of the "
        "documents, and this run's, {threshold}. Test a threshold that you choose here on other "
        "questions. In brackets: 95 % intervals over resampled questions."
    ),
    (
        Column("threshold", "Threshold", 3, is_key=True),
        named_estimate("documents", "Documents"),
        Column("without_documents", "Without documents", 1, is_share=True),
        Column("precision", "Precision", 1, low="precision_low", high="precision_high", is_share=True),
        count("precision_n", "Questions"),
        Column("recall", "Recall", 1, low="recall_low", high="recall_high", is_share=True),
        count("recall_n", "Questions"),
        QUESTIONS,
    ),
    about=(
        "threshold; for documents above it by uplift RAG's rerankers: documents per question, "
        "`precision`, `recall`, each with bounds, the last two with their number of questions "
        "(`precision_n`, `recall_n`); share of questions `without_documents`; n questions"
    ),
)
UPLIFT_TRANSFER = Table(
    "uplift_transfer",
    "Exchange of helpful documents between models",
    (
        "Each of two models answers with the documents that help itself and with those that help the "
        "other. This model is {generator}, the other one {other}. Difference: from the model's own "
        "documents, tested as above within this table. In brackets: 95 % intervals over resampled "
        "questions."
    ),
    (
        Column("documents_for", "Documents that help", words=MODELS),
        Column("answered_by", "Answered by", words=MODELS),
        METRIC,
        estimate("value", "Mean", digits=3),
        *TESTED,
        QUESTIONS,
    ),
    about=(
        "`documents_for`, `answered_by` (`own`, `other`), metric; as in uplift_results; difference from "
        "its own documents"
    ),
)
UPLIFT_EXAMPLES = Table(
    "uplift_examples",
    "Examples",
    (
        "Questions sampled with the seed, independent of results: their right answers, the documents "
        "that help alone, and each method's selected documents in its order, with its answer. As Table 4 "
        "of the paper."
    ),
    (
        Column("query", "Question", words="id"),
        Column("question", "Question text"),
        Column("answers", "Right answers"),
        Column("helpful", "Documents that help"),
        METHOD,
        Column("documents", "Selected documents"),
        Column("answer", "Answer"),
        Column("em", "Exact match", 0),
        Column("f1", "F1", 3),
    ),
    holds=Holds.TEXTS,
    about=(
        "query, question, answers, `helpful` documents, method, selected documents (separated by a bar), answer, em, f1"
    ),
)
UPLIFT_TRAINING = Table(
    "uplift_training",
    "Training",
    (
        "Training for each split: training documents and how many of them help, epochs, the best epoch "
        "(used for the weights), and its losses per question. Held out: joint loss of held-out "
        "questions. Excluded: documents that are also documents of a tested question in the split, to "
        "avoid leakage."
    ),
    (
        Column("split", "Split", 0, is_key=True),
        METHOD,
        count("documents", "Documents"),
        count("helpful", "Helpful"),
        count("epochs", "Epochs"),
        count("best", "Best epoch"),
        Column("point_first", "Pointwise, first epoch", 3),
        Column("point", "Pointwise", 3),
        Column("pair", "Pairwise", 3),
        Column("list", "Listwise", 4),
        Column("held_out", "Held out", 3),
        count("left_out", "Excluded"),
        Column("file", "File"),
    ),
    is_whole=False,
    about=(
        "split, method; documents, helpful; epochs, the `best` one; losses per question: pointwise of "
        "the first epoch, then of the best; held_out; `left_out`: documents that are also documents of a "
        "question of the split; file"
    ),
)
UPLIFT_COUNTS = Table(
    "uplift_counts",
    "Questions and labels",
    "Counts of questions, documents and labels.",
    (Column("name", "Quantity", words=COUNTS), count("count", "Count")),
    about="name, count",
)
UPLIFT_ANSWERS = Table(
    "uplift_answers",
    "All answers",
    "Each method's answer to each question, with numbers of documents and tokens.",
    (
        Column("query", "Question"),
        Column("split", "Split", 0, is_key=True),
        METHOD,
        Column("answer", "Answer"),
        Column("em", "Exact match", 0),
        Column("f1", "F1", 3),
        count("documents", "Documents"),
        count("prompt_tokens", "Tokens"),
    ),
    is_whole=False,
    holds=Holds.TEXTS,
    about="query, split, method, answer, em, f1, documents, prompt_tokens",
)


def with_after_note(caption: LazyText) -> LazyText:
    """A caption with an explanation of "After" in the names of methods."""
    text: LazyText = format_lazy("{caption} {after}", caption=caption, after=_AFTER)
    return text


def _with_note(table: Table) -> Table:
    names_methods = METHOD in table.columns or table is UPLIFT_ORDER
    return replace(table, caption=with_after_note(table.caption)) if names_methods else table


TABLES = tuple(
    _with_note(table)
    for table in (
        UPLIFT_RESULTS,
        UPLIFT_ABLATIONS,
        UPLIFT_INPUTS,
        UPLIFT_CATEGORIES,
        UPLIFT_ERRORS,
        UPLIFT_FOUND,
        UPLIFT_ORDER,
        UPLIFT_THRESHOLDS,
        UPLIFT_TRANSFER,
        UPLIFT_EXAMPLES,
        UPLIFT_TRAINING,
        UPLIFT_COUNTS,
        UPLIFT_ANSWERS,
    )
)
