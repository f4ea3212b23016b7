"""Tables of responses and their lengths: columns and captions."""

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import DISTRIBUTION, ORIGIN, RESPONSE, STYLE

MEASURES = {
    "words": "Words",
    "statements": "Statements",
    "cited_passages": "Cited passages",
    "citations_per_passage": "Citations per cited passage",
    "passages_per_statement": "Passages per statement",
}

RESPONSES = Table(
    "responses",
    "Responses",
    (
        "Words, statements, citations and distinct cited passages of each response, and Flesch reading "
        "ease of the response and of the passages that it cites."
    ),
    (
        RESPONSE,
        Column("topic", "Topic", words="topic"),
        STYLE,
        ORIGIN,
        count("words", "Words"),
        count("statements", "Statements"),
        count("citations", "Citations"),
        count("cited_passages", "Cited passages"),
        Column("flesch", "Flesch", 1),
        Column("source_flesch", "Flesch of cited passages", 1),
    ),
    is_whole=False,
    holds=Holds.WRITING,
    about="One row per included response.",
    meanings={
        "words, statements, citations, cited_passages": (
            "words are separated by spaces, markers do not count; each passage counts as one citation for "
            "each statement that cites it. Method: `methods/statements.md`"
        ),
        "flesch, source_flesch": (
            "median Flesch reading ease of its statements, and of the passages that they cite (one value for "
            "each citation). Method: `methods/readability.md`"
        ),
    },
)
LENGTHS = Table(
    "lengths",
    "Lengths of responses",
    (
        "Distribution of words, statements and distinct cited passages per response, citations per cited "
        "passage and cited passages per statement, by style and origin. With 95 % bootstrap intervals "
        "over topics. Responses under {min_words} words are left out."
    ),
    (STYLE, ORIGIN, Column("measure", "Measure", words=MEASURES), *DISTRIBUTION, count("n", "n")),
    across=("statistic",),
    about=(
        "Distributions by style and origin (`all`: all styles), one row per measure and statistic. "
        "Methods: `methods/writing-behaviour.md`, `methods/writing-process.md`."
    ),
    meanings={
        "measure": (
            "in `lengths`: `words`, `statements`, `cited_passages` (of responses), `citations_per_passage` "
            "(of cited passages), `passages_per_statement` (of statements), without non-responses. In "
            "`readability`: `flesch`, `source_flesch`, `difference` (the first minus the second). In "
            "`writing_process_means`: the measures of `writing_process` that a log records"
        ),
        "statistic": (
            "`mean`, `median`; in `lengths` and `readability` also `sd`, `p05`, `lower_quartile`, "
            "`upper_quartile`, `p95`"
        ),
        "n": "number of responses, cited passages, statements, or logs",
    },
)

TABLES = (
    RESPONSES,
    LENGTHS,
)
