"""Markdown texts of researchers as safe HTML: consent, instructions."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

# A researcher's text is not trusted: raw HTML is not allowed, and the output is sanitised last.
_markdown = MarkdownIt("commonmark", {"html": False})
# From each bracket the parser searches the rest of the text for the end of a link. No text that people write needs more
# steps than this; in one that does, brackets stay brackets.
_MAX_STEPS = 5_000_000


def render(text: str, *, top: int | None = None) -> SafeString:
    """Convert Markdown to safe HTML. Headings are one level lower, below the page's own title.

    With `top`, the highest heading of the text gets this level, so that no level is missing on the page.
    """
    if text.count("[") * len(text) > _MAX_STEPS:
        text = text.replace("[", "&#91;")
    tokens = _markdown.parse(text)
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    lower = 1 if top is None or not headings else top - min(int(token.tag[1]) for token in headings)
    for token in headings:
        token.tag = f"h{min(int(token.tag[1]) + lower, 6)}"
    return mark_safe(nh3.clean(_markdown.renderer.render(tokens, _markdown.options, {})))  # noqa: S308 - sanitised
