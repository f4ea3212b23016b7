"""Texts of others, made safe to read."""

import re
import unicodedata

#: Characters that change the direction of what stands around them, or are not seen at all.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
#: But these join or shape letters of real scripts and emoji; behind an ASCII letter they do nothing but hide.
_SHAPING = {"\u200c", "\u200d"}
#: Longer words may break after so many letters, so that an id does not push a table off the page.
LONGEST_WORD = 14
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
_LONG = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def short(name: str) -> str:
    """Write a UUID by its first group, by which it can be told apart; other ids as they are."""
    return f"{name[:8]}…" if _UUID.match(name) else name


def visible(text: str) -> str:
    """Write characters that nobody sees, or that turn their surroundings round, as what they are: [U+202E].

    Texts of studies are written by others: a name must not be able to look like another, or to reorder a line.
    """
    return "".join(_shown(each, before) for before, each in zip(" " + text, text, strict=False))


def _shown(character: str, before: str) -> str:
    if character in {"\n", "\r", "\t"}:
        return " "
    if character in _SHAPING and not before.isascii():
        return character
    return code(character) if unicodedata.category(character) in _UNSEEN else character


def code(character: str) -> str:
    """Name a character by its number."""
    return f"[U+{ord(character):04X}]"


def breakable(text: str) -> str:
    """Let words break that are longer than a column: an invisible space after every so many letters."""
    return _LONG.sub(lambda found: "\u200b".join(_pieces(found[0])), text)


def _pieces(word: str) -> list[str]:
    return [word[at : at + LONGEST_WORD] for at in range(0, len(word), LONGEST_WORD)]
