"""What lets an editor send events of its sitting: a signed token, so that an expired session never stops the saving."""

from dataclasses import dataclass
from datetime import timedelta

from django.core import signing

from ...models import Sitting
from ..incoming import RefusedError

# Longer than any task is held: what was typed offline on a laptop that then lay in a drawer still comes in.
VALID_FOR = timedelta(days=30)
SALT = "writing.sitting"


class BadTokenError(RefusedError):
    """Nobody signed this, or too long ago; the editor opens a new sitting."""

    problem = "token"


@dataclass(frozen=True, slots=True)
class Key:
    """What a token stands for."""

    task: int
    sitting: int


def issue(sitting: Sitting, task: int) -> str:
    """Return the token of a sitting of this task."""
    return signing.dumps([task, sitting.pk], salt=SALT)


def read(token: str) -> Key:
    """Return what a token stands for.

    Raises
    ------
    BadTokenError
        if it is not ours, or older than `VALID_FOR`.
    """
    try:
        task, sitting = signing.loads(token, salt=SALT, max_age=VALID_FOR)
    except signing.BadSignature as error:
        raise BadTokenError("This token is not valid, or no longer.") from error
    return Key(task, sitting)
