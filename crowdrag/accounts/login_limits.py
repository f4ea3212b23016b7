"""Limits on failed sign-ins.

After ten failures for one account from one address, further tries wait until the first of these is 15 minutes old; also
after fifty failures from one address for any accounts. During the wait, a correct password is not checked either:
otherwise the wait would reveal which passwords are wrong. An account cannot be locked from another address.
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest
from django.utils import timezone

from crowdrag import client_addresses
from crowdrag.studies.models import User

from .models import SignInFailure

WINDOW: Final = timedelta(minutes=15)
MAX_PER_ACCOUNT: Final = 10
MAX_PER_ADDRESS: Final = 50
# During a wait, at most one row a minute records further tries.
NOTE_INTERVAL: Final = timedelta(minutes=1)
RETENTION: Final = timedelta(days=90)
# Stands for all tokens in place of an account; it cannot be typed as one.
API_ACCOUNT: Final = "tokens of the API"
#: Likewise for all links of invitations.
INVITATION_ACCOUNT: Final = "links of invitations"


class TooManyFailuresError(Exception):
    """There were too many failures: nothing is checked for this many seconds."""

    def __init__(self, seconds: int):
        super().__init__(f"Too many sign-ins failed: try again in {seconds} s.")
        self.seconds = seconds


Checked = TypeVar("Checked")


def guard(
    *, account: str, address: str | None, check: Callable[[], Checked | None], now: datetime | None = None
) -> Checked | None:
    """Return the result of the check, unless there were too many failures before; record a failure.

    Tries for one account from one address run one after the other, so that simultaneous tries do not exceed the limit.

    Raises
    ------
    TooManyFailuresError
        if there were too many; the check is not called.
    """
    now, account_hash = now or timezone.now(), hash_account(account)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{account_hash} {address}"])
        seconds = seconds_to_wait(account_hash=account_hash, address=address, now=now)
        if not seconds:
            result = check()
            if result is None:
                _note_failure(account, account_hash, address, now, was_refused=False)
            return result
    refusals = SignInFailure.objects.filter(account_hash=account_hash, address=address, was_refused=True)
    if not refusals.filter(at__gt=now - NOTE_INTERVAL).exists():
        _note_failure(account, account_hash, address, now, was_refused=True)
    raise TooManyFailuresError(seconds)


def note_token_failure(*, address: str | None, now: datetime | None = None) -> None:
    """Record an invalid or expired token: at most one row a minute for an address.

    Its owner is unknown, and nobody is locked out: a token cannot be guessed.
    """
    now, account_hash = now or timezone.now(), hash_account(API_ACCOUNT)
    if not SignInFailure.objects.filter(
        account_hash=account_hash, address=address, at__gt=now - NOTE_INTERVAL
    ).exists():
        SignInFailure.objects.create(at=now, account_hash=account_hash, address=address, was_refused=False)


def seconds_to_wait(*, account_hash: str, address: str | None, now: datetime) -> int:
    """Return the seconds to wait before a try for an account from an address; 0 if none."""
    tried = SignInFailure.objects.filter(address=address, at__gt=now - WINDOW, was_refused=False)
    tried = tried.exclude(account_hash=hash_account(API_ACCOUNT)).order_by("-at", "-id")
    limits = [(tried.filter(account_hash=account_hash), MAX_PER_ACCOUNT)]
    if address is not None:
        limits.append((tried, MAX_PER_ADDRESS))
    until = [at + WINDOW for rows, most in limits for at in rows.values_list("at", flat=True)[most - 1 : most]]
    return max((int((moment - now).total_seconds()) + 1 for moment in until), default=0)


def hash_account(account: str) -> str:
    """Return a keyed hash of a typed account, which distinguishes accounts and reveals nothing about them."""
    typed = account.strip().casefold().encode()
    return hmac.new(settings.SECRET_KEY.encode(), b"sign-in " + typed, hashlib.sha256).hexdigest()


def client_address(request: HttpRequest) -> str | None:
    """Return the client's address of a request; behind our proxies, as the outermost of them saw it.

    `CROWDRAG_PROXIES` is their number. Anybody can write values further left in the header.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES:
        passed = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
        address = passed[-settings.PROXIES] if len(passed) >= settings.PROXIES else address
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return None  # a socket has none


def client_origin(request: HttpRequest) -> str | None:
    """Return the address by which failures are counted (`client_addresses.origin`)."""
    address = client_address(request)
    return None if address is None else client_addresses.origin(address)


def delete_expired(now: datetime) -> int:
    """Delete failures whose retention period is over; return how many."""
    return SignInFailure.objects.filter(at__lt=now - RETENTION).delete()[0]


def _note_failure(account: str, account_hash: str, address: str | None, now: datetime, *, was_refused: bool) -> None:
    user = User.objects.filter(email__iexact=account.strip()).first()
    SignInFailure.objects.create(at=now, user=user, account_hash=account_hash, address=address, was_refused=was_refused)
