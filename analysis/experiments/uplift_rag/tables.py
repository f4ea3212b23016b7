"""Tables and charts of uplift RAG experiments (uplift_rag, Tables 1 to 3, Figures 1, 2, 4 and 5)."""

from dataclasses import replace

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from analysis.rag.uplift_rag.baselines.catalogue import BASELINES, FORMS

from ...tables.table import Column, Figure, LazyText, Table, count, estimate, named_estimate

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
TITLES: dict[str, LazyText] = {**{each.name: each.title for each in BASELINES.values()}, **_OURS}
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

TABLES = {
    "uplift_results": Table(
        "uplift",
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
    ),
    "uplift_ablations": Table(
        "uplift",
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
    ),
    "uplift_inputs": Table(
        "uplift",
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
            Column("without_documents", _("Without any document"), 1, share=True),
            Column("calls", _("Calls"), 2),
            count("refused", _("Refused")),
            QUESTIONS,
        ),
    ),
    "uplift_categories": Table(
        "uplift",
        _("What documents do to answers"),
        _(
            "Shares of all documents that were retrieved, each alone beside the question against the question alone; "
            "right by exact match. In brackets 95 % intervals, questions resampled."
        ),
        (
            Column("category", _("Answer"), words=CATEGORIES),
            Column("share", _("Share"), 1, low="low", high="high", share=True),
            count("documents", _("Documents")),
            QUESTIONS,
        ),
    ),
    "uplift_errors": Table(
        "uplift",
        _("What is missing where an answer is worse than the upper bound's"),
        _(
            "Questions that a method answers worse than the upper bound does, by how much of what helps was not handed "
            "over. Where all is there, or nothing helps, other documents mislead. In brackets 95 % intervals, "
            "questions resampled."
        ),
        (
            METHOD,
            Column("missing", _("Missing"), words=MISSING),
            Column("share", _("Share"), 1, low="low", high="high", share=True),
            count("errors", _("Worse answers")),
            QUESTIONS,
        ),
    ),
    "uplift_found": Table(
        "uplift",
        _("Which helpful documents are found"),
        _(
            "Of the documents that a method hands over, the share that helps alone; of those that help alone, the "
            "share that is handed over. In brackets 95 % intervals, questions resampled."
        ),
        (
            METHOD,
            Column("measure", _("Measure"), words=MEASURES),
            Column("value", _("Share"), 1, low="low", high="high", share=True),
            QUESTIONS,
        ),
    ),
    "uplift_order": Table(
        "uplift",
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
    ),
    "uplift_thresholds": Table(
        "uplift",
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
            Column("without_documents", _("Without any"), 1, share=True),
            Column("precision", _("Help"), 1, low="precision_low", high="precision_high", share=True),
            count("precision_n", _("Of questions")),
            Column("recall", _("Found"), 1, low="recall_low", high="recall_high", share=True),
            count("recall_n", _("Of questions")),
            QUESTIONS,
        ),
    ),
    "uplift_transfer": Table(
        "uplift",
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
    ),
    "uplift_examples": Table(
        "uplift",
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
    ),
    "uplift_training": Table(
        "uplift",
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
        whole=False,
    ),
    "uplift_counts": Table(
        "uplift",
        _("Questions and labels"),
        _("What took part, and what it is like."),
        (Column("name", _("What"), words=COUNTS), count("count", _("How many"))),
    ),
    "uplift_answers": Table(
        "uplift",
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
        whole=False,
    ),
}

FIGURES = {
    "uplift_results": Figure(
        "uplift",
        _("Answers by method"),
        _("Means over questions with 95 % intervals, questions resampled. The dashed line is standard RAG."),
        _("A panel for each metric with a row for each method; the numbers stand in the table of answers by method."),
    ),
    "uplift_ablations": Figure(
        "uplift",
        _("What each part adds"),
        _("The change of the mean answer when a part is taken away, with 95 % intervals, questions resampled."),
        _("A panel for each metric with a row for each part; the numbers stand in the table of ablations."),
    ),
    "uplift_thresholds": Figure(
        "uplift",
        _("What other thresholds would hand over"),
        _(
            "Of the documents above a threshold the share that helps alone, and of those that help alone the share "
            "above it, with 95 % intervals, questions resampled. The dashed lines are this run's threshold, and the "
            "share of all documents that helps."
        ),
        _("Two curves over the threshold; the numbers stand in the table of thresholds."),
    ),
    "uplift_categories": Figure(
        "uplift",
        _("What documents do to answers"),
        _("Shares of the retrieved documents, each alone, with 95 % intervals, questions resampled."),
        _("Four bars, one for each way in which a document may change an answer; the numbers stand in the table."),
    ),
    "uplift_errors": Figure(
        "uplift",
        _("What is missing in worse answers"),
        _("Of the questions that a method answers worse than the upper bound, how much of what helps was missing."),
        _("A stacked bar for each method; the numbers stand in the table of what is missing."),
    ),
    "uplift_transfer": Figure(
        "uplift",
        _("Documents that help one model, given to another"),
        _(
            "Means over questions with 95 % intervals, questions resampled. This model is {generator}, the other "
            "{other}."
        ),
        _("A panel for each metric with a row for each model and documents; the numbers stand in the table."),
    ),
}


def _with_after(caption: LazyText) -> LazyText:
    said: LazyText = format_lazy("{caption} {after}", caption=caption, after=_AFTER)
    return said


for _name, _table in TABLES.items():
    if METHOD in _table.columns or _name == "uplift_order":
        TABLES[_name] = replace(_table, caption=_with_after(_table.caption))
for _name in ("uplift_results", "uplift_errors"):
    FIGURES[_name] = replace(FIGURES[_name], caption=_with_after(FIGURES[_name].caption))
