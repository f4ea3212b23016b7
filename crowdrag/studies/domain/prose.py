"""Texts of a study in Markdown, as safe HTML."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_markdown = MarkdownIt("commonmark", {"html": False})


def render(text: str) -> SafeString:
    """Turn Markdown into HTML; raw HTML in it is shown as text, and what comes out is sanitised."""
    return mark_safe(nh3.clean(_markdown.render(text)))  # noqa: S308 - nh3 leaves nothing that runs
