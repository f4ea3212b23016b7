"""What the server holds of a task's text."""

from ...models import WritingLog, WritingTask
from .. import codec, logs


def log_of(task: WritingTask) -> WritingLog | None:
    """Return a task's log; None where the editor was never opened."""
    return WritingLog.objects.filter(task=task).first()


def text(task: WritingTask) -> str:
    """Return a task's text as its log has it: what every acknowledged event of the latest sitting led to.

    Where there is no log, the text that it was given.
    """
    log = log_of(task)
    return task.draft if log is None else codec.final_text(logs.events(log))
