"""Tables and charts of uplift RAG experiments (uplift_rag, Tables 1 to 3, Figures 1, 2, 4 and 5)."""

from dataclasses import replace

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from analysis.rag.uplift_rag.baselines.catalogue import BASELINES, FORMS

from ...tables.table import Column, Holds, LazyText, Table, count, estimate, named_estimate

_OURS: dict[str, LazyText] = {
    "uplift": _("Uplift RAG"),
    "without_point": _("without the pointwise loss"),
    "without_pair": _("without the pairwise loss"),
    "without_list": _("without the listwise loss"),
    "without_selection": _("without selection"),
    "without_reranking": _("without reranking"),
    "upper_bound": _("Upper bound"),
}
#: Labels of rows; those of baselines say which form of the method answered.
METHODS: dict[str, LazyText] = {**{form.key: form.label for form in FORMS.values()}, **_OURS}
#: What the form calls them, before it is known which form there will be.
TITLES: dict[str, LazyText] = {**{baseline.name: baseline.title for baseline in BASELINES.values()}, **_OURS}
#: A sentence of each caption of a table that sets methods beside each other.
_AFTER = _("“After” a paper’s method stands for it with fewer or simpler parts, named in brackets.")
METRICS = {"em": _("Exact match"), "f1": _("F1")}
CATEGORIES = {
    "wrong_right": _("wrong without, right with it"),
    "right_wrong": _("right without, wrong with it"),
    "right_right": _("right both ways"),
    "wrong_wrong": _("wrong both ways"),
}
MISSING = {
    "all": _("all that help are missing"),
    "some": _("some that help are missing"),
    "none": _("all that help are there"),
    "nothing_helps": _("no document helps"),
}
MEASURES = {"precision": _("Handed over that help"), "recall": _("Help and are handed over")}
#: Of whose order it is said how often what helps stands ahead.
ORDERS = METHODS | {"standard": _("Standard RAG: the retriever's order")}
MODELS = {"own": _("this model"), "other": _("the other model")}
#: Who answers, and with which documents: by both.
EXCHANGED = {
    ("own", "own"): _("this model, own documents"),
    ("own", "other"): _("this model, the other's"),
    ("other", "own"): _("the other, this model's"),
    ("other", "other"): _("the other, own documents"),
}
UNITS = {"tokens": _("tokens"), "words": _("words")}
COUNTS = {
    "questions": _("Questions that take part"),
    "train": _("Questions for training"),
    "dev": _("Questions for choosing an epoch"),
    "documents": _("Documents"),
    "one_document": _("Questions with one document"),
    "label_prompts": _("Prompts for the labels"),
    "refused": _("Prompts for the labels that were refused"),
    "refused_answers": _("Answers by all methods that were refused"),
    "refused_other": _("Prompts for the other model's labels that were refused"),
    "refused_transfer": _("Answers with exchanged documents that were refused"),
    "right_without": _("Questions answered right without documents"),
    "helpful": _("Documents that help"),
    "nothing_helps": _("Questions that no document helps"),
    "one_helps": _("Questions that one document helps"),
    "strangers": _("Documents of other questions"),
    "left_out": _("Left out"),
    "left_out_of_all": _("Left out of all the data, before questions were drawn"),
}

METHOD = Column("method", _("Method"), words=METHODS)
METRIC = Column("metric", _("Metric"), words=METRICS)
QUESTIONS = count("n", _("Questions"))
TESTED = (
    named_estimate("difference", _("Difference"), digits=3),
    Column("statistic", _("W"), 1),
    Column("p", _("p"), 4),
    Column("p_adjusted", _("p adjusted"), 4),
)

UPLIFT_RESULTS = Table(
    "uplift_results",
    _("Answers by method"),
    _(
        "Means over questions, each answered by what was trained on the other splits, or on the training questions "
        "that the data names. Difference: to standard RAG, "
        "paired by question, with Wilcoxon's signed-rank test (of exact match, whose differences are all of one "
        "size, it is McNemar's), p adjusted for the false discovery rate over this table. In brackets 95 % "
        "intervals, questions resampled. Intervals and tests are conditional on the trained rerankers: one seed, "
        "one reranker a split. The upper bound hands over exactly the documents that help alone."
    ),
    (METHOD, METRIC, estimate("value", _("Mean"), digits=3), *TESTED, QUESTIONS),
    about=(
        "method, metric; mean `value`, low, high; difference to `standard` with its bounds; W, p, p adjusted; n "
        "questions"
    ),
)
UPLIFT_ABLATIONS = Table(
    "uplift_ablations",
    _("Uplift RAG without its parts"),
    _(
        "Means over questions without one of the three losses, without selection (the likeliest documents, as many "
        "as standard RAG's), and without reranking (those that are selected, in the retriever's order). "
        "Difference: to the whole, tested as above within this table; beside it the difference to standard RAG, "
        "untested. In brackets 95 % intervals, questions resampled; conditional on the trained rerankers, as above."
    ),
    (
        Column("variant", _("Variant"), words=METHODS),
        METRIC,
        estimate("value", _("Mean"), digits=3),
        *TESTED,
        named_estimate("to_standard", _("To standard RAG"), digits=3),
        QUESTIONS,
    ),
    about="variant, metric; the same against `uplift`; difference `to_standard` with its bounds, untested",
)
UPLIFT_INPUTS = Table(
    "uplift_inputs",
    _("Documents and tokens a question"),
    _(
        "What each method hands over to answer a question: documents, how long these are (in the model's tokens, "
        "or in words where its tokens cannot be counted), tokens of the whole prompt with instruction and question "
        "(of all prompts where a method asks with each document), and both over standard RAG's. Calls are all "
        "that a method asked, also to decide. In brackets 95 % intervals, questions resampled."
    ),
    (
        METHOD,
        named_estimate("documents", _("Documents")),
        named_estimate("document_tokens", _("Length of the documents"), digits=1),
        Column("counted", _("In"), words=UNITS),
        named_estimate("document_ratio", _("Of standard RAG's documents"), digits=3),
        named_estimate("prompt_tokens", _("Tokens of the prompt"), digits=1),
        named_estimate("ratio", _("Of standard RAG's prompt"), digits=3),
        Column("without_documents", _("Without any document"), 1, is_share=True),
        Column("calls", _("Calls"), 2),
        count("refused", _("Refused")),
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
    _("What documents do to answers"),
    _(
        "Shares of all documents that were retrieved, each alone beside the question against the question alone; "
        "right by exact match. In brackets 95 % intervals, questions resampled."
    ),
    (
        Column("category", _("Answer"), words=CATEGORIES),
        Column("share", _("Share"), 1, low="low", high="high", is_share=True),
        count("documents", _("Documents")),
        QUESTIONS,
    ),
    about=(
        "`category` (`wrong_right`, `right_wrong`, `right_right`, `wrong_wrong`: without, with it); documents in "
        "all; share, low, high; n questions"
    ),
)
UPLIFT_ERRORS = Table(
    "uplift_errors",
    _("What is missing where an answer is worse than the upper bound's"),
    _(
        "Questions that a method answers worse than the upper bound does, by how much of what helps was not handed "
        "over. Where all is there, or nothing helps, other documents mislead. In brackets 95 % intervals, "
        "questions resampled."
    ),
    (
        METHOD,
        Column("missing", _("Missing"), words=MISSING),
        Column("share", _("Share"), 1, low="low", high="high", is_share=True),
        count("errors", _("Worse answers")),
        QUESTIONS,
    ),
    about=(
        "method; `missing` (`all`, `some`, `none`, `nothing_helps`); `errors`: answers worse than the upper "
        "bound's; share, low, high; n"
    ),
)
UPLIFT_FOUND = Table(
    "uplift_found",
    _("Which helpful documents are found"),
    _(
        "Of the documents that a method hands over, the share that helps alone; of those that help alone, the "
        "share that is handed over. In brackets 95 % intervals, questions resampled."
    ),
    (
        METHOD,
        Column("measure", _("Measure"), words=MEASURES),
        Column("value", _("Share"), 1, low="low", high="high", is_share=True),
        QUESTIONS,
    ),
    about=(
        "method; `measure` (`precision`, `recall`); value, low, high; n questions that have any of which it is a share"
    ),
)
UPLIFT_ORDER = Table(
    "uplift_order",
    _("What helps stands ahead"),
    _(
        "Of two documents of a question, one that helps alone and one that does not, how often the former is "
        "ranked ahead (equal probabilities count half): means over questions with both kinds; 0.5 is chance. "
        "Difference: to the retriever's order, paired by question, with Wilcoxon's signed-rank test, p adjusted "
        "for the false discovery rate over this table. In brackets 95 % intervals, questions resampled; "
        "conditional on the trained rerankers."
    ),
    (
        Column("method", _("Order"), words=ORDERS),
        estimate("value", _("Helpful one ahead"), digits=3),
        *TESTED,
        QUESTIONS,
    ),
    about=(
        "method (`standard`: the retriever's order); how often a document that helps stands ahead of one of its "
        "question that does not: `value`, low, high; difference to `standard` with its bounds; W, p, p adjusted; "
        "n questions with both kinds"
    ),
)
UPLIFT_THRESHOLDS = Table(
    "uplift_thresholds",
    _("What other thresholds would hand over"),
    _(
        "By uplift RAG's rerankers, without asking anything: documents a question with a probability above the "
        "threshold, questions without any, the share of these documents that helps alone, and of those that help "
        "alone the share among them, each with the questions that have any of which it is a share. At 0 all "
        "documents are handed over: a share that does not rise from there was not learnt. Round thresholds, those "
        "that leave out each tenth of the documents, and this run's, {threshold}. A threshold that is chosen here "
        "has to be tried on other questions. In brackets 95 % intervals, questions resampled."
    ),
    (
        Column("threshold", _("Threshold"), 3, is_key=True),
        named_estimate("documents", _("Documents")),
        Column("without_documents", _("Without any"), 1, is_share=True),
        Column("precision", _("Help"), 1, low="precision_low", high="precision_high", is_share=True),
        count("precision_n", _("Of questions")),
        Column("recall", _("Found"), 1, low="recall_low", high="recall_high", is_share=True),
        count("recall_n", _("Of questions")),
        QUESTIONS,
    ),
    about=(
        "threshold; what uplift RAG's rerankers put above it: documents a question, `precision`, `recall`, each "
        "with bounds, the last two with the questions that have any of which they are shares (`precision_n`, "
        "`recall_n`); share of questions `without_documents`; n questions"
    ),
)
UPLIFT_TRANSFER = Table(
    "uplift_transfer",
    _("Documents that help one model, given to another"),
    _(
        "Each of two models answers with the documents that help itself and with those that help the other. This "
        "model is {generator}, the other {other}. Difference: to its own, tested as above within this table. In "
        "brackets 95 % intervals, questions resampled."
    ),
    (
        Column("documents_for", _("Documents that help"), words=MODELS),
        Column("answered_by", _("Answered by"), words=MODELS),
        METRIC,
        estimate("value", _("Mean"), digits=3),
        *TESTED,
        QUESTIONS,
    ),
    about=(
        "`documents_for`, `answered_by` (`own`, `other`), metric; as uplift_results, difference to its own documents"
    ),
)
UPLIFT_EXAMPLES = Table(
    "uplift_examples",
    _("Examples"),
    _(
        "Some questions, drawn by the seed whatever came of them: their right answers, the documents that help "
        "alone, and by method the documents that it handed over, in its order, with its answer. As Table 4 of the "
        "paper."
    ),
    (
        Column("query", _("Question"), words="id"),
        Column("question", _("It asks")),
        Column("answers", _("Right answers")),
        Column("helpful", _("Documents that help")),
        METHOD,
        Column("documents", _("Documents handed over")),
        Column("answer", _("Answer")),
        Column("em", _("Exact match"), 0),
        Column("f1", _("F1"), 3),
    ),
    holds=Holds.TEXTS,
    about=(
        "query, question, answers, `helpful` documents, method, documents handed over (several with a bar between"
        " them), answer, em, f1"
    ),
)
UPLIFT_TRAINING = Table(
    "uplift_training",
    _("Training"),
    _(
        "Of each split: documents that were learnt from and how many of them help, epochs, the one whose weights "
        "were taken, and its losses a question; held out: the joint loss of questions that were watched. Left out: "
        "documents that a question of the split has, too, so that nothing is tested by what has learnt from it."
    ),
    (
        Column("split", _("Split"), 0, is_key=True),
        METHOD,
        count("documents", _("Documents")),
        count("helpful", _("Helpful")),
        count("epochs", _("Epochs")),
        count("best", _("Taken")),
        Column("point_first", _("Pointwise, first epoch"), 3),
        Column("point", _("Pointwise"), 3),
        Column("pair", _("Pairwise"), 3),
        Column("list", _("Listwise"), 4),
        Column("held_out", _("Held out"), 3),
        count("left_out", _("Left out")),
        Column("file", _("File")),
    ),
    is_whole=False,
    about=(
        "split, method; documents, helpful; epochs, the `best` one; losses a question: pointwise of the first "
        "epoch, then of the best; held_out; `left_out`: documents that a question of the split has, too; file"
    ),
)
UPLIFT_COUNTS = Table(
    "uplift_counts",
    _("Questions and labels"),
    _("What took part, and what it is like."),
    (Column("name", _("What"), words=COUNTS), count("count", _("How many"))),
    about="name, count",
)
UPLIFT_ANSWERS = Table(
    "uplift_answers",
    _("Every answer"),
    _("What each method answered to each question, and with how many documents and tokens."),
    (
        Column("query", _("Question")),
        Column("split", _("Split"), 0, is_key=True),
        METHOD,
        Column("answer", _("Answer")),
        Column("em", _("Exact match"), 0),
        Column("f1", _("F1"), 3),
        count("documents", _("Documents")),
        count("prompt_tokens", _("Tokens")),
    ),
    is_whole=False,
    holds=Holds.TEXTS,
    about="query, split, method, answer, em, f1, documents, prompt_tokens",
)


def with_after_note(caption: LazyText) -> LazyText:
    """A caption with what "After" means in the names of methods."""
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
