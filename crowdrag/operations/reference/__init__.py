"""Generated pages of the documentation, written from the code by `crowdrag manage reference`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from django.conf import settings
from django.utils import translation

from analysis.archive import field_docs

from . import answer_formats, commands, endpoints, result_tables, variables, webhook_events

FOLDER: Final = Path(settings.BASE_DIR, "docs", "reference")
#: The text of each page, by the name of its file.
PAGES: Final[dict[str, Callable[[], str]]] = {
    "commands.md": commands.page,
    "settings.md": variables.page,
    "api.md": endpoints.page,
    "webhook-events.md": webhook_events.page,
    "tables.md": result_tables.page,
    "answer-formats.md": answer_formats.page,
    "archive.md": field_docs.as_markdown,
}


def outdated() -> Iterator[tuple[Path, str]]:
    """Yield the file and the new text of each page that differs from the code."""
    with translation.override("en"):
        for name, page in PAGES.items():
            path, text = FOLDER / name, page()
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                yield path, text
