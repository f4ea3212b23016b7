"""Save, change and delete the replies of a study."""

from collections import defaultdict
from datetime import datetime

from django.db import transaction

from ..enums import ReplyKind
from ..study.models import Study, User
from .models import SavedReply

MAX_LENGTH = 2000


class SavedReplyError(ValueError):
    """A reply that cannot be saved; the message says why."""


@transaction.atomic
def save(
    *, study: Study, kind: ReplyKind, title: str, text: str, by: User, now: datetime, reply: SavedReply | None = None
) -> SavedReply:
    """Save a new reply, or change one. Idempotent for the same kind, title and text.

    Raises
    ------
    SavedReplyError
    """
    title, text = " ".join(title.replace("\0", "").split())[:80], text.replace("\0", "").strip()
    if not title or not text:
        raise SavedReplyError("Enter a title and a text.")
    if len(text) > MAX_LENGTH:
        raise SavedReplyError(f"The text is longer than {MAX_LENGTH} characters.")
    # The study's row is the lock, in case two people save the same title at once.
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    same = SavedReply.objects.filter(study=study, kind=kind, title=title).first()
    if same is not None and (reply is None or same.pk != reply.pk):
        if reply is None and same.text == text:
            return same
        raise SavedReplyError("A saved reply with this title already exists. Choose another title.")
    saved = reply or SavedReply(study=study)
    saved.kind, saved.title, saved.text, saved.updated_at, saved.updated_by = kind, title, text, now, by
    saved.save()
    return saved


def delete(*, reply: SavedReply) -> None:
    """Delete a reply. Messages sent with its text stay. Idempotent."""
    SavedReply.objects.filter(pk=reply.pk).delete()


def by_kind(study: Study) -> dict[str, list[SavedReply]]:
    """Return the replies of a study by kind, sorted by title."""
    replies: dict[str, list[SavedReply]] = defaultdict(list)
    for reply in SavedReply.objects.filter(study=study).order_by("title", "pk"):
        replies[reply.kind].append(reply)
    return dict(replies)
