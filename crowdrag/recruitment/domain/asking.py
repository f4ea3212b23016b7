"""Asking the platform at once, for somebody who waits for the answer."""

from datetime import datetime

from ..models import PlatformStudy
from . import listings
from .prolific.account import account
from .prolific.client import Client
from .prolific.errors import PlatformError


def ask(*, platform_study: PlatformStudy, now: datetime) -> int:
    """Ask how a study and each of its submissions stand; return how many were read.

    Raises
    ------
    PlatformError
        with what went wrong.
    """
    with Client(account(platform_study.study)) as client:
        read = listings.look(client, platform_study, now=now, everything=True)
    if platform_study.problem:
        raise PlatformError(platform_study.problem)
    return read
