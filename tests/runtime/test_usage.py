"""The help of the command line names every command that there is."""

import pytest
from django.core.management import get_commands

from crowdrag.runtime import cli, usage

NAMED = {command.split()[0] for commands in usage.GROUPS.values() for command, _purpose in commands}


def test_the_help_names_every_command_of_the_product_and_no_other() -> None:
    own = {
        name
        for name, app in get_commands().items()
        if app.startswith(("crowdrag", "writing", "annotation", "analysis"))
    }
    assert {*cli.COMMANDS, *own, "createsuperuser"} == NAMED | set(usage.INTERNAL)
    assert not NAMED & set(usage.INTERNAL)


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"]])
def test_help_is_printed_without_a_database(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(words)
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in NAMED)
    assert max(map(len, printed.splitlines())) <= 110
