"""The reference of settings: every variable of the environment, its default as the code states it, and its meaning."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.conf import settings

from crowdrag.runtime import settings_check

from .markdown import table

_BEGINNING: Final = """\
# Settings

This page is for operators. It lists every variable of the environment that CrowdRAG reads. Its names and
defaults are written from the code (`make reference`). [Operating CrowdRAG](../guides/operators.md) and
[Deployment on several machines](../guides/deployment.md) say which ones you need.

All settings come from the environment. `NAME_FILE` may name a file that holds the value, for `DATABASE_URL`,
`BROKER_URL`, `SECRET_KEY`, `EMAIL_URL`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and everything that
begins with `CROWDRAG_`. Lists are separated by commas. Use the same values on all machines, unless the table says
otherwise.
"""
#: By group: the variables and their meanings.
MEANINGS: Final[dict[str, dict[str, str]]] = {
    group: {variable.name: variable.meaning for variable in variables}
    for group, variables in settings_check.groups().items()
}
_PACKAGES: Final = ("crowdrag", "annotation", "writing", "analysis")
_READERS: Final = {"get", "getenv", "str", "bool", "int", "float", "list", "db_url"}


def page() -> str:
    """Return the page."""
    defaults = dict(_defaults())
    lines = [_BEGINNING]
    for group, variables in MEANINGS.items():
        lines += [f"## {group}", ""]
        rows = ((f"`{name}`", defaults.get(name, ""), meaning) for name, meaning in variables.items())
        lines += table(("variable", "default", "meaning"), rows)
    return "\n".join(lines).rstrip() + "\n"


def _defaults() -> Iterator[tuple[str, str]]:
    """Yield each variable with its default in the code; those in the settings module come last and take precedence."""
    files = [path for package in _PACKAGES for path in sorted(Path(settings.BASE_DIR, package).rglob("*.py"))]
    main = Path(settings.BASE_DIR, "crowdrag", "settings.py")
    for path in [*(path for path in files if path != main), main]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READERS:
                yield from _read(node)


def _read(call: ast.Call) -> Iterator[tuple[str, str]]:
    values = [keyword.value for keyword in call.keywords if keyword.arg == "default"] or call.args[1:2]
    if not call.args or not values or not isinstance(call.args[0], ast.Constant):
        return
    try:
        value = ast.literal_eval(values[0])
    except ValueError:  # computed: the meaning says it
        return
    if isinstance(value, list):
        value = ",".join(map(str, value))
    if isinstance(call.args[0].value, str) and value not in ("", None):
        yield call.args[0].value, f"`{str(value).lower() if isinstance(value, bool) else value}`"
