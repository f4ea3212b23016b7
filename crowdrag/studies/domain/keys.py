"""The keys in people's links: random, kept as a hash, read forgivingly.

A key has 140 bits. Guessing one is hopeless at any rate of asking, so nothing counts attempts; and since it is that
long and random, a plain SHA-256 is enough to keep it by. It is looked up by that hash: how long the look-up takes says
nothing of the key.
"""

import hashlib
import re
import secrets

# Crockford's base 32: no letter that is taken for a digit, so that a key can be copied from paper.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 28
_READ_AS = str.maketrans({"o": "0", "i": "1", "l": "1", "-": None, " ": None})
_IN_A_LINK = re.compile(r"/join/([^/?#\s]+)")
_KEY = re.compile(f"[{ALPHABET}]{{{LENGTH}}}")


def make() -> str:
    """Draw a key."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def grouped(key: str) -> str:
    """Write a key as people copy it: in groups of four."""
    return "-".join(key[start : start + 4] for start in range(0, len(key), 4))


def read(given: str) -> str | None:
    """Return the key in what somebody typed or pasted, a whole link or the key alone; None where there is none."""
    found = _IN_A_LINK.search(given)
    key = (found[1] if found else given.strip()).lower().translate(_READ_AS)
    return key if _KEY.fullmatch(key) else None


def digest(key: str) -> bytes:
    """Return what is kept of a key."""
    return hashlib.sha256(key.encode()).digest()
