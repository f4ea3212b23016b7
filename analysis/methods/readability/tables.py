"""Tables of reading ease: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Table, count
from ..shared_columns import DISTRIBUTION, ORIGIN, STYLE

EASES = {
    "flesch": _("Response"),
    "source_flesch": _("Cited passages"),
    "difference": _("Difference"),
}

READABILITY = Table(
    "readability",
    _("Reading ease"),
    _(
        "Distribution of Flesch's reading ease over responses (median of a response's statements), over what they "
        "cite (median of the passages that its statements cite), and of the difference of the two, by style and "
        "origin. 95 % bootstrap intervals over topics."
    ),
    (STYLE, ORIGIN, Column("measure", _("Text"), words=EASES), *DISTRIBUTION, count("n", _("Responses"))),
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

TABLES = (READABILITY,)
