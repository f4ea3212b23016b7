"""A hook of MkDocs: pages of the site hold no script of their own, because the content security policy allows none.

The theme writes a few short scripts into each page. They become files of the site, named after their text.
"""

import hashlib
import posixpath
import re
from pathlib import Path
from typing import Any

INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
FOLDER = "site"
_scripts: dict[str, str] = {}


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """Put links in the place of a page's scripts."""
    return _linked(output, posixpath.dirname(page.file.dest_uri))


def on_post_template(output_content: str, *, template_name: str, config: Any) -> str:
    """Do the same on a page without a source (404.html)."""
    return _linked(output_content, "") if template_name.endswith(".html") else output_content


def on_post_build(*, config: Any) -> None:
    """Write the scripts."""
    for name, text in _scripts.items():
        Path(config.site_dir, FOLDER, name).write_text(text, encoding="utf-8")


def _linked(html: str, folder: str) -> str:
    def link(found: re.Match[str]) -> str:
        name = f"{hashlib.sha256(found[1].encode()).hexdigest()[:12]}.js"
        _scripts[name] = found[1]
        return f'<script src="{posixpath.relpath(f"{FOLDER}/{name}", folder or ".")}"></script>'

    return INLINE.sub(link, html)
