"""Texts as they come from outside, made storable."""


def text(given: str) -> str:
    """Return a text with the line ends of the database, without what it cannot hold."""
    cleaned = given.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return cleaned.encode("utf-8", "replace").decode().strip()


def line(given: str) -> str:
    """Return a text of one line."""
    return " ".join(text(given).split())
