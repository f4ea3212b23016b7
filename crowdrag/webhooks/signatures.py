"""Secrets and signatures of webhooks, by the Standard Webhooks specification.

Source: https://github.com/standard-webhooks/standard-webhooks, symmetric signatures (`v1`).
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

PREFIX = "whsec_"
BYTES = 32


class UnreadableSecretError(ValueError):
    """A secret that was encrypted with a key that this system does not have."""

    def __init__(self) -> None:
        super().__init__("The secret cannot be decrypted with this system's key. Create a new secret.")


def generate_secret() -> str:
    """Generate a secret, in the form shown to the receiver."""
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def encrypt(secret: str) -> bytes:
    """Encrypt a secret for the database."""
    return _fernet().encrypt(secret.encode())


def decrypt(kept: bytes | memoryview) -> str:
    """Decrypt a secret.

    Raises
    ------
    UnreadableSecretError
    """
    try:
        return _fernet().decrypt(bytes(kept)).decode()
    except InvalidToken as error:
        raise UnreadableSecretError from error


def sign(*, secret: str, message: str, timestamp: int, body: str) -> str:
    """Return a message's signature: HMAC-SHA256 over its id, the time of sending and the exact bytes of its body."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message}.{timestamp}.{body}".encode()
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def build_headers(*, secrets_: Iterable[str], message: str, timestamp: int, body: str) -> dict[str, str]:
    """Return the signature headers of a message; with several secrets, any of its signatures is valid."""
    signatures = (sign(secret=secret, message=message, timestamp=timestamp, body=body) for secret in secrets_)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


@lru_cache(maxsize=1)
def _fernet() -> Fernet:
    # A separate key, derived from the encryption key: neither can be used to read what the other encrypted.
    key = hmac.new(settings.IDENTITY_KEY.encode(), b"secrets of webhooks", hashlib.sha256).digest()
    return Fernet(base64.urlsafe_b64encode(key))
