"""Texts that researchers write in Markdown, as safe HTML: consent, instructions."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

# A researcher's own words are still only text: no raw HTML goes in, and what comes out is sanitised last.
_markdown = MarkdownIt("commonmark", {"html": False})


def render(text: str) -> SafeString:
    """Turn Markdown into safe HTML. Its headings come one level lower: the page's own title stands above them."""
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    return mark_safe(nh3.clean(_markdown.renderer.render(tokens, _markdown.options, {})))  # noqa: S308 - sanitised
