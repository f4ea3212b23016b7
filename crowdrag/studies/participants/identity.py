"""The platform's id of a person, kept apart from the study's pseudonym (docs/adr/0003)."""

import hashlib
import hmac
from functools import lru_cache

from cryptography.fernet import Fernet
from django.conf import settings

from ..study.models import Study


def pseudonym(study: Study, platform_id: str) -> str:
    """Return the pseudonym of a person in one study: a keyed hash that only the key's holder can compute.

    The study's slug enters the hash, so that the pseudonyms of two studies cannot be joined.
    """
    return _keyed(f"pseudonym\0{study.slug}\0{platform_id}").hex()[:32]


def identity_hash(platform_id: str) -> bytes:
    """Return the keyed hash by which a person is found again across studies; it never leaves the system."""
    return _keyed(f"identity\0{platform_id}")


def encrypt(platform_id: str) -> bytes:
    """Encrypt a platform's id, for paying and for nothing else."""
    return _fernet().encrypt(platform_id.encode())


def decrypt(identity: bytes) -> str:
    """Return the platform's id that was encrypted."""
    return _fernet().decrypt(bytes(identity)).decode()


def _keyed(text: str) -> bytes:
    return hmac.new(settings.PSEUDONYM_KEY.encode(), text.encode(), hashlib.sha256).digest()


@lru_cache(maxsize=1)
def _fernet() -> Fernet:
    return Fernet(settings.IDENTITY_KEY.encode())
