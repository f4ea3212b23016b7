"""A person's platform ID, stored separately from the study's pseudonym (docs/adr/0003)."""

import hashlib
import hmac
from functools import lru_cache

from cryptography.fernet import Fernet
from django.conf import settings

from ..study.models import Study


def pseudonym(study: Study, platform_id: str) -> str:
    """Return a person's pseudonym in one study: a keyed hash that only the holder of the key can compute.

    The study's slug is part of the hashed value, so that pseudonyms of two studies cannot be linked.
    """
    return _keyed(f"pseudonym\0{study.slug}\0{platform_id}").hex()[:32]


def identity_hash(platform_id: str) -> bytes:
    """Return the keyed hash that identifies a person across studies; it never leaves the system."""
    return _keyed(f"identity\0{platform_id}")


def encrypt(platform_id: str) -> bytes:
    """Encrypt a platform ID, used only to pay the participant."""
    return _fernet().encrypt(platform_id.encode())


def decrypt(identity: bytes) -> str:
    """Decrypt a platform ID."""
    return _fernet().decrypt(bytes(identity)).decode()


def _keyed(text: str) -> bytes:
    return hmac.new(settings.PSEUDONYM_KEY.encode(), text.encode(), hashlib.sha256).digest()


@lru_cache(maxsize=1)
def _fernet() -> Fernet:
    return Fernet(settings.IDENTITY_KEY.encode())
