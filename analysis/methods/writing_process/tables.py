"""Tables of writing logs: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import DISTRIBUTION, ORIGIN, RESPONSE, STYLE

PROCESS = {
    "seconds": _("Time (s)"),
    "active_seconds": _("Active time (s)"),
    "pauses": _("Pauses"),
    "bursts": _("Bursts"),
    "pastes": _("Pastes"),
    "pasted_share": _("Share pasted"),
    "revisions": _("Revisions"),
    "paused_seconds": _("Paused (s)"),
    "burst_characters": _("Characters per burst"),
    "typing_rate": _("Typed characters per minute"),
    "produced": _("Characters produced"),
    "deleted": _("Characters deleted"),
    "immediate_revisions": _("Immediate revisions"),
    "at_once_share": _("Share that came at once"),
    "passage_share": _("Share taken from passages"),
    "elsewhere_share": _("Share from elsewhere"),
    "passages_opened": _("Passages opened"),
    "passage_seconds": _("Passages in view (s)"),
    "searches": _("Searches"),
    "absences": _("Times away"),
    "away_seconds": _("Away (s)"),
}
PROCESS_SHARES = {"pasted_share", "at_once_share", "passage_share", "elsewhere_share"}

WRITING_PROCESS = Table(
    "writing_process",
    _("Writing process"),
    _(
        "From the writing logs, of each response: time, time at work, pauses, bursts, pastes, the share of the "
        "text that was pasted, revisions, where the text came from, which passages were opened, time away."
    ),
    (
        RESPONSE,
        *(Column(name, label, 0, is_share=name in PROCESS_SHARES) for name, label in PROCESS.items()),
    ),
    is_whole=False,
    holds=Holds.WRITING,
    about=(
        "One row a response that has a log. Method: `methods/writing-process.md`. Empty is what the log does not "
        "record."
    ),
    meanings={
        "seconds, active_seconds": "from first to last event; without gaps over 30 s",
        "pauses, bursts, revisions, immediate_revisions, paused_seconds, burst_characters, typing_rate": (
            "pauses of 2 s and more; characters per burst; typed characters a minute of active time"
        ),
        "pastes, pasted_share": "texts pasted or dropped, and their share of the final text",
        "produced, deleted": "characters",
        "at_once_share, passage_share, elsewhere_share": (
            "shares of the final text that came in one piece; of these in a passage, in none"
        ),
        "passages_opened, passage_seconds, searches, absences, away_seconds": (
            "what was looked at, and times away from the page"
        ),
    },
)
WRITING_PROCESS_MEANS = Table(
    "writing_process_means",
    _("Writing process, means"),
    _(
        "Mean and median over responses of what their logs say, by style and origin, with 95 % bootstrap intervals "
        "over topics. What a log does not record is left out."
    ),
    (STYLE, ORIGIN, Column("measure", _("Measure"), words=PROCESS), *DISTRIBUTION, count("n", _("Logs"))),
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
    WRITING_PROCESS,
    WRITING_PROCESS_MEANS,
)
