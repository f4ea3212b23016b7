"""Tables of reading ease: columns and captions."""

from ...tables.table import Column, Table, count
from ..shared_columns import DISTRIBUTION, ORIGIN, STYLE

EASES = {
    "flesch": "Response",
    "source_flesch": "Cited passages",
    "difference": "Difference",
}

READABILITY = Table(
    "readability",
    "Reading ease",
    (
        "Distribution of Flesch reading ease of responses (median over a response's statements), of "
        "their cited passages (median over the passages that its statements cite), and of the "
        "difference, by style and origin. With 95 % bootstrap intervals over topics."
    ),
    (STYLE, ORIGIN, Column("measure", "Text", words=EASES), *DISTRIBUTION, count("n", "Responses")),
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

TABLES = (READABILITY,)
