"""Tables of writing logs: columns and captions."""

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import DISTRIBUTION, ORIGIN, RESPONSE, STYLE

PROCESS = {
    "seconds": "Time (s)",
    "active_seconds": "Active time (s)",
    "pauses": "Pauses",
    "bursts": "Bursts",
    "pastes": "Pastes",
    "pasted_share": "Share pasted",
    "revisions": "Revisions",
    "paused_seconds": "Pause time (s)",
    "burst_characters": "Characters per burst",
    "typing_rate": "Typed characters per minute",
    "produced": "Characters produced",
    "deleted": "Characters deleted",
    "immediate_revisions": "Immediate revisions",
    "at_once_share": "Share inserted in one step",
    "passage_share": "Share from passages",
    "elsewhere_share": "Share from elsewhere",
    "passages_opened": "Passages opened",
    "passage_seconds": "Time with passages in view (s)",
    "searches": "Searches",
    "absences": "Absences",
    "away_seconds": "Time away (s)",
}
PROCESS_SHARES = {"pasted_share", "at_once_share", "passage_share", "elsewhere_share"}

WRITING_PROCESS = Table(
    "writing_process",
    "Writing process",
    (
        "Measures of each response from its writing log: time, active time, pauses, bursts, pastes, "
        "share of pasted text, revisions, sources of the text, opened passages and time away."
    ),
    (
        RESPONSE,
        *(Column(name, label, 0, is_share=name in PROCESS_SHARES) for name, label in PROCESS.items()),
    ),
    is_whole=False,
    holds=Holds.WRITING,
    about=(
        "One row per response with a log. Method: `methods/writing-process.md`. Values that the log does "
        "not record are empty."
    ),
    meanings={
        "seconds, active_seconds": "from first to last event; without gaps over 30 s",
        "pauses, bursts, revisions, immediate_revisions, paused_seconds, burst_characters, typing_rate": (
            "pauses are 2 s or more; characters per burst; typed characters per minute of active time"
        ),
        "pastes, pasted_share": "pasted or dropped texts; their share of the final text",
        "produced, deleted": "characters",
        "at_once_share, passage_share, elsewhere_share": (
            "share of the final text that was inserted in one piece; the parts of it that are in a passage, and in none"
        ),
        "passages_opened, passage_seconds, searches, absences, away_seconds": (
            "use of passages and search; absences from the page"
        ),
    },
)
WRITING_PROCESS_MEANS = Table(
    "writing_process_means",
    "Writing process by style and origin",
    (
        "Mean and median of the measures over responses, by style and origin, with 95 % bootstrap "
        "intervals over topics. Values that a log does not record are left out."
    ),
    (STYLE, ORIGIN, Column("measure", "Measure", words=PROCESS), *DISTRIBUTION, count("n", "Logs")),
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
    WRITING_PROCESS,
    WRITING_PROCESS_MEANS,
)
