"""Writing process as recorded in logs (docs/methods/writing-process.md)."""

from ..lengths import PAGE
from ..method import WRITING, Method
from ..run_facts import RunFacts
from . import compute, figures, tables


def describe_process(facts: RunFacts) -> str:
    """Describe what was measured from writing logs."""
    is_measured = "writing_process_means" not in facts.names or facts.measured("writing_process_means", "value")
    if not (facts.has("writing_process") and is_measured):
        return ""
    return "From the writing logs we measured time, pauses, bursts, revisions and the share of pasted text."


METHOD = Method(
    name="writing_process",
    title="Writing process",
    section=WRITING,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_process,),
    pages=(PAGE,),
    reads_judgments=False,
)
