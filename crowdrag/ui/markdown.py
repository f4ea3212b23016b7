"""Texts that researchers write in Markdown, as safe HTML: consent, instructions."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

# A researcher's own words are still only text: no raw HTML goes in, and what comes out is sanitised last.
_markdown = MarkdownIt("commonmark", {"html": False})
# From each bracket the parser goes through the rest of the text for the end of a link. No text that people write needs
# more steps than this; in one that does, brackets stay brackets.
_MAX_STEPS = 5_000_000


def render(text: str) -> SafeString:
    """Turn Markdown into safe HTML. Its headings come one level lower: the page's own title stands above them."""
    if text.count("[") * len(text) > _MAX_STEPS:
        text = text.replace("[", "&#91;")
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    return mark_safe(nh3.clean(_markdown.renderer.render(tokens, _markdown.options, {})))  # noqa: S308 - sanitised
