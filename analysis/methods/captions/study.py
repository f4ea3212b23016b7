"""Tables and charts about what was written, and about the study as a whole."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Figure, Table, count, estimate
from .writing import PROCESS, PROCESS_SHARES, STATISTICS

STYLE = Column("style", _("Style"), words="style")
ORIGIN = Column("origin", _("Origin"), words="origin")
RESPONSE = Column("response", _("Response"), words="id")
METRICS = {"bleu": "BLEU", "rouge_l": "ROUGE-L", "bertscore": "BERTScore"}
RANKINGS = {"full": _("full ranking"), "best_worst": _("best and worst")}
SETS = {
    "human_human": _("human, human"),
    "human_model": _("human, model"),
    "model_model": _("model, model"),
    "human_retrieved": _("human, retrieved"),
    "model_retrieved": _("model, retrieved"),
    "system_retrieved": _("system, retrieved"),
    "human_system": _("human, system"),
    "model_system": _("model, system"),
    "system_system": _("system, system"),
}
FIGURE = Column("name", _("Figure"), words="figure")

TABLES = {
    "key_figures": Table(
        "study",
        _("Key figures"),
        _(
            "What the study holds. Means of words with 95 % bootstrap intervals over topics; responses under "
            "{min_words} words count as none."
        ),
        (FIGURE, estimate("value", _("Value"), n="n"), Column("unit", _("Unit")), count("n", _("n"))),
    ),
    "survey": Table(
        "study",
        _("Survey"),
        _(
            "What writers answered when asked about themselves and the task before and after writing: mean, median and "
            "share of each answer, and Spearman's rho of each two questions, with 95 % bootstrap intervals over topics."
        ),
        (
            Column("name", _("Figure")),
            Column("kind", _("Asked")),
            Column("question", _("Question"), words="question"),
            Column("statistic", _("Statistic"), words=STATISTICS),
            Column("option", _("Answer"), words="answer", is_key=True),
            estimate("value", _("Value"), n="n"),
            count("n", _("n")),
        ),
        unprinted=("name", "kind"),
    ),
    "responses": Table(
        "writing",
        _("Responses"),
        _(
            "Of each response its words, statements, citations, distinct cited passages, and Flesch reading ease of "
            "it and of what it cites."
        ),
        (
            RESPONSE,
            Column("topic", _("Topic"), words="id"),
            STYLE,
            ORIGIN,
            count("words", _("Words")),
            count("statements", _("Statements")),
            count("citations", _("Citations")),
            count("cited_passages", _("Cited passages")),
            Column("flesch", _("Flesch"), 1),
            Column("source_flesch", _("Flesch of the sources"), 1),
        ),
        whole=False,
    ),
    "citation_overlap": Table(
        "writing",
        _("Overlap of cited passages"),
        _(
            "Mean Jaccard coefficient between the passages that two sides cite or were given, by style, with 95 % "
            "bootstrap intervals over topics."
        ),
        (
            STYLE,
            Column("pair", _("Sets"), words=SETS),
            estimate("jaccard", _("Jaccard"), n="n"),
            count("n", _("Pairs")),
        ),
        across=("style",),
    ),
    "citation_order": Table(
        "writing",
        _("Order of citations"),
        _(
            "Mean of Spearman's rho between the positions of first citation, or the rank positions, of passages that "
            "both sides of a pair hold, by style, with 95 % bootstrap intervals over topics."
        ),
        (STYLE, Column("pair", _("Sets"), words=SETS), estimate("rho", _("Rho"), n="n"), count("n", _("Pairs"))),
        across=("style",),
    ),
    "citation_ranks": Table(
        "writing",
        _("Citations by rank"),
        _(
            "Probability that the passage at a rank is cited, by style and origin, with 95 % bootstrap intervals "
            "over topics."
        ),
        (
            STYLE,
            ORIGIN,
            Column("rank", _("Rank")),
            estimate("probability", _("Cited"), n="n"),
            count("n", _("Responses")),
        ),
        across=("style", "origin"),
    ),
    "text_reuse": Table(
        "writing",
        _("Text reuse"),
        _("Sentence-BLEU (orders up to 8) of each statement with each passage that it cites: 100 is a copy."),
        (
            RESPONSE,
            Column("statement", _("Statement"), 0, is_key=True),
            Column("passage", _("Passage"), 0, is_key=True),
            Column("bleu", _("BLEU"), 1),
        ),
        whole=False,
    ),
    "text_reuse_shares": Table(
        "writing",
        _("Text reuse, shares"),
        _(
            "Share of the pairs of a statement and a passage that it cites whose sentence-BLEU (orders up to 8) is "
            "below a limit, by style and origin, with 95 % bootstrap intervals over topics. From {reuse_limit} on a "
            "statement counts as copied."
        ),
        (
            STYLE,
            ORIGIN,
            Column("limit", _("Limit"), 0),
            Column("share", _("Below it"), 1, low="low", high="high", n="n", share=True),
            count("n", _("Pairs")),
        ),
        across=("origin",),
    ),
    "writing_process": Table(
        "writing",
        _("Writing process"),
        _(
            "From the writing logs, of each response: time, time at work, pauses, bursts, pastes, the share of the "
            "text that was pasted, revisions, where the text came from, which passages were opened, time away."
        ),
        (
            RESPONSE,
            *(Column(name, label, 0, share=name in PROCESS_SHARES) for name, label in PROCESS.items()),
        ),
        whole=False,
    ),
    "reference_metrics": Table(
        "metrics",
        _("Reference-based metrics"),
        _(
            "Spearman's rho between the ranking of a topic's responses by a metric, against its best response as the "
            "reference, and by their grades, of all candidates and of the best and the worst alone; mean over topics "
            "with 95 % bootstrap intervals. Topics that cannot be ranked are left out."
        ),
        (
            Column("dimension", _("Dimension"), words="dimension"),
            Column("metric", _("Metric"), words=METRICS),
            Column("ranking", _("Ranking"), words=RANKINGS),
            estimate("rho", _("Rho"), n="topics"),
            count("topics", _("Topics")),
            count("left_out", _("Left out")),
        ),
        across=("metric", "ranking"),
        unprinted=("left_out",),
    ),
}

FIGURES = {
    "text_reuse": Figure(
        "writing",
        _("Text reuse"),
        _(
            "Cumulative share of pairs of a statement and a passage that it cites by their sentence-BLEU (orders up to "
            "8), by style and origin: where a curve rises late, much is copied. Dashed: {reuse_limit}."
        ),
        _("Curves of cumulative shares over BLEU from 0 to 100: a panel for each style, a curve for each origin."),
    ),
    "reference_metrics": Figure(
        "metrics",
        _("Metrics against grades"),
        _(
            "Spearman's rho between metrics and grades by dimension, with 95 % bootstrap intervals over topics: 1 if "
            "the metric ranks responses as people do, 0 if it ranks them by chance."
        ),
        _("Points with intervals by dimension: a panel for each ranking, a mark and colour for each metric."),
    ),
}
