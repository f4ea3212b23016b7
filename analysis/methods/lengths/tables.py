"""Tables of responses and their lengths: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import DISTRIBUTION, ORIGIN, RESPONSE, STYLE

MEASURES = {
    "words": _("Words"),
    "statements": _("Statements"),
    "cited_passages": _("Cited passages"),
    "citations_per_passage": _("Citations per cited passage"),
    "passages_per_statement": _("Passages per statement"),
}

RESPONSES = Table(
    "responses",
    _("Responses"),
    _(
        "Of each response its words, statements, citations, distinct cited passages, and Flesch reading ease of "
        "it and of what it cites."
    ),
    (
        RESPONSE,
        Column("topic", _("Topic"), words="topic"),
        STYLE,
        ORIGIN,
        count("words", _("Words")),
        count("statements", _("Statements")),
        count("citations", _("Citations")),
        count("cited_passages", _("Cited passages")),
        Column("flesch", _("Flesch"), 1),
        Column("source_flesch", _("Flesch of the sources"), 1),
    ),
    is_whole=False,
    holds=Holds.WRITING,
    about="One row a response that counts.",
    meanings={
        "words, statements, citations, cited_passages": (
            "words are space-separated, markers none; a passage counts as a citation once for each statement that"
            " cites it. Method: `methods/statements.md`"
        ),
        "flesch, source_flesch": (
            "median reading ease of its statements, and of the passages that they cite, for each citation. "
            "Method: `methods/readability.md`"
        ),
    },
)
LENGTHS = Table(
    "lengths",
    _("Lengths of responses"),
    _(
        "Distribution of space-separated words, statements and distinct cited passages over responses, of the "
        "citations of a cited passage, and of the passages that a statement cites, by style and origin; responses "
        "under {min_words} words left out. 95 % bootstrap intervals over topics."
    ),
    (STYLE, ORIGIN, Column("measure", _("Measure"), words=MEASURES), *DISTRIBUTION, count("n", _("n"))),
    across=("statistic",),
    about=(
        "Distributions by style and origin (`all`: all styles), one row a measure and statistic. Methods: "
        "`methods/writing-behaviour.md`, `methods/writing-process.md`."
    ),
    meanings={
        "measure": (
            "of `lengths`: `words`, `statements`, `cited_passages` (of responses), `citations_per_passage` (of "
            "cited passages), `passages_per_statement` (of statements); non-responses left out. Of `readability`:"
            " `flesch`, `source_flesch`, `difference` (the first less the second). Of `writing_process_means`: "
            "those of `writing_process` that a log says"
        ),
        "statistic": (
            "`mean`, `median`; of `lengths` and `readability` also `sd`, `p05`, `lower_quartile`, "
            "`upper_quartile`, `p95`"
        ),
        "n": "responses, cited passages, statements, or logs",
    },
)

TABLES = (
    RESPONSES,
    LENGTHS,
)
