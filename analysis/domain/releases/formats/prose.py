"""Words of others in Markdown: they stay words, whatever they hold."""

import re

from ...typesetting import characters

_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&!$])")
_BEGINS = re.compile(r"^([-+=]|\d+[.)])")


def line(text: str) -> str:
    """Return a text as one line of Markdown that shows it as it is."""
    plain = " ".join(characters.visible(text).split())
    return _BEGINS.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", _MARKUP.sub(r"\\\1", plain))


def paragraphs(text: str) -> str:
    """Return a text as paragraphs, which stand where it has blank lines."""
    return "\n\n".join(line(each) for each in re.split(r"\r?\n\s*\r?\n", text.strip()) if each.strip())


def code(text: str) -> str:
    """Return a name or a number of ours as code; where it is somebody else's, as a text."""
    return f"`{text}`" if re.fullmatch(r"[\w./:@+ -]+", text, re.ASCII) else line(text)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
