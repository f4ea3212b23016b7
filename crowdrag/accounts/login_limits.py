"""Limits on failed sign-ins.

Who fails ten times at one account from one address waits until the first of these is a quarter of an hour old; so does
who fails fifty times from one address at whatever accounts. A right password is not looked at either while somebody
waits: else waiting would tell nothing but the wrong ones. An account cannot be locked from elsewhere.
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
# While somebody is made to wait, one row a minute says that they go on trying.
NOTE_INTERVAL: Final = timedelta(minutes=1)
RETENTION: Final = timedelta(days=90)
# Stands for all tokens in the place of an account; nobody can type it as one.
API_ACCOUNT: Final = "tokens of the API"
#: Likewise for all links of invitations.
INVITATION_ACCOUNT: Final = "links of invitations"


class TooManyFailuresError(Exception):
    """There were too many failures: nothing is tried for so many seconds."""

    def __init__(self, seconds: int):
        super().__init__(f"Too many sign-ins failed: try again in {seconds} s.")
        self.seconds = seconds


Checked = TypeVar("Checked")


def guard(
    *, account: str, address: str | None, check: Callable[[], Checked | None], now: datetime | None = None
) -> Checked | None:
    """Return what the check finds, unless too many have failed before; note a failure.

    Tries at one account from one address go one after the other, so that many at once are not many more.

    Raises
    ------
    TooManyError
        when there were too many; the check is not asked.
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
    """Note that what came as a token is none, or none any more: at most one row a minute for an address.

    Whose it was meant to be nobody knows, and it locks nobody out: a token cannot be guessed.
    """
    now, account_hash = now or timezone.now(), hash_account(API_ACCOUNT)
    if not SignInFailure.objects.filter(
        account_hash=account_hash, address=address, at__gt=now - NOTE_INTERVAL
    ).exists():
        SignInFailure.objects.create(at=now, account_hash=account_hash, address=address, was_refused=False)


def seconds_to_wait(*, account_hash: str, address: str | None, now: datetime) -> int:
    """Return for how many seconds nothing is tried at an account from an address; 0 if it is tried at once."""
    tried = SignInFailure.objects.filter(address=address, at__gt=now - WINDOW, was_refused=False)
    tried = tried.exclude(account_hash=hash_account(API_ACCOUNT)).order_by("-at", "-id")
    limits = [(tried.filter(account_hash=account_hash), MAX_PER_ACCOUNT)]
    if address is not None:
        limits.append((tried, MAX_PER_ADDRESS))
    until = [at + WINDOW for rows, most in limits for at in rows.values_list("at", flat=True)[most - 1 : most]]
    return max((int((moment - now).total_seconds()) + 1 for moment in until), default=0)


def hash_account(account: str) -> str:
    """Return what stands for an account that was typed: it tells two apart and says nothing of either."""
    typed = account.strip().casefold().encode()
    return hmac.new(settings.SECRET_KEY.encode(), b"sign-in " + typed, hashlib.sha256).hexdigest()


def client_address(request: HttpRequest) -> str | None:
    """Return the address that a request comes from; behind proxies of ours, what the outermost of them saw.

    `CROWDRAG_PROXIES` says how many there are. What stands further left in the header, anybody can write there.
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
    """Return the address that failures are counted by (`networks.origin`)."""
    address = client_address(request)
    return None if address is None else client_addresses.origin(address)


def delete_expired(now: datetime) -> int:
    """Delete failures that are older than they are kept; return how many."""
    return SignInFailure.objects.filter(at__lt=now - RETENTION).delete()[0]


def _note_failure(account: str, account_hash: str, address: str | None, now: datetime, *, was_refused: bool) -> None:
    user = User.objects.filter(email__iexact=account.strip()).first()
    SignInFailure.objects.create(at=now, user=user, account_hash=account_hash, address=address, was_refused=was_refused)
