"""The reference of the command line: every command of the product with its arguments, from their parsers."""

import argparse
from collections.abc import Iterator
from typing import Final

from django.core.management import get_commands, load_command_class

from crowdrag.runtime import cli, usage
from crowdrag.runtime.exit_codes import MEANINGS

from .markdown import table

_BEGINNING: Final = """\
# Commands

This page is for operators and for authors of scripts. It lists every command with its arguments. It is written
from the commands themselves (`make reference`). [Command line](../guides/command-line.md) explains results for
scripts, progress and stopping.
"""
#: Options of every management command, which need no description.
_SHARED: Final = frozenset({
    "help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"
})  # fmt: skip


def page() -> str:
    """Return the page."""
    lines = [_BEGINNING]
    for group, commands in usage.GROUPS.items():
        lines += [f"## {group}", ""]
        for command, _purpose in commands:
            name = command.split()[0]
            lines += [f"### crowdrag {name}", "", usage.purpose(name), "", *_arguments(_parser(name))]
    lines += [
        "## Exit codes",
        "",
        *table(("code", "meaning"), ((str(int(code)), text) for code, text in MEANINGS.items())),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _parser(name: str) -> argparse.ArgumentParser:
    if name in cli.PARSERS:
        return cli.PARSERS[name]()
    return load_command_class(get_commands()[name], name).create_parser("crowdrag", name)


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    actions = [action for action in parser._actions if action.dest not in _SHARED]
    kinds = [action for action in actions if isinstance(action, argparse._SubParsersAction)]
    rows = ((f"`{_name(action)}`", _meaning(action)) for action in actions if action not in kinds)
    yield from table(("argument", "meaning"), rows)
    for action in kinds:
        for kind, inner in action.choices.items():
            yield from (f"#### {parser.prog} {kind}", "", *([f"{inner.description}", ""] if inner.description else ()))
            yield from _arguments(inner)


def _name(action: argparse.Action) -> str:
    if not action.option_strings:
        name = str(action.metavar or action.dest).upper()
        return f"[{name}]" if action.nargs in ("?", "*") else name
    option = action.option_strings[-1]
    return option if action.nargs == 0 else f"{option} {action.metavar or action.dest.upper()}"


def _meaning(action: argparse.Action) -> str:
    parts = [(action.help or "").replace("%%", "%")]
    if action.choices is not None:
        parts.append("one of " + ", ".join(f"`{choice}`" for choice in action.choices))
    if default := _default(action):
        parts.append(f"default: `{default}`")
    if action.required and action.option_strings:
        parts.append("required")
    return "; ".join(part for part in parts if part)


def _default(action: argparse.Action) -> str:
    """Return a default that the help does not state, unless it comes from the environment (see the settings)."""
    value = action.default
    if value in (None, "", argparse.SUPPRESS) or isinstance(value, bool | list | tuple):
        return ""
    return "" if "default" in (action.help or "") or action.dest in ("host", "port") else str(value)
