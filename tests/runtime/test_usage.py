"""The help of the command line names every command that there is."""

import pytest
from django.core.management import get_commands, load_command_class

from crowdrag.command_output import ResultCommand
from crowdrag.runtime import cli, data_folder, exit_codes, usage

NAMED = {command.split()[0] for commands in usage.GROUPS.values() for command, _purpose in commands}


def test_the_help_names_every_command_of_the_product_and_no_other() -> None:
    own = {
        name
        for name, app in get_commands().items()
        if app.startswith(("crowdrag", "writing", "annotation", "analysis"))
    }
    assert {*cli.COMMANDS, *own, "createsuperuser"} == NAMED | set(usage.INTERNAL)
    assert not NAMED & set(usage.INTERNAL)


def test_every_command_that_can_be_run_is_known() -> None:
    assert usage.names() == {*cli.COMMANDS, *get_commands()}


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"]])
def test_help_is_printed_without_a_database(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(words)
    printed = capsys.readouterr().out
    assert all(f"  {name} " in printed for name in NAMED)
    assert max(map(len, printed.splitlines())) <= 110


def test_help_and_guide_state_every_exit_code() -> None:
    guide = (data_folder.REPOSITORY / "docs/guides/command-line.md").read_text(encoding="utf-8")
    for code, meaning in exit_codes.MEANINGS.items():
        assert f"  {code:<18} {meaning}" in usage.text()
        assert f"| {code} | {meaning} |" in guide
    assert set(exit_codes.MEANINGS) == set(exit_codes.ExitCode)


def test_the_guide_lists_the_commands_with_a_result_for_scripts() -> None:
    guide = (data_folder.REPOSITORY / "docs/guides/command-line.md").read_text(encoding="utf-8")
    own = {name: app for name, app in get_commands().items() if name in NAMED and name != "createsuperuser"}
    with_result = {name for name, app in own.items() if isinstance(load_command_class(app, name), ResultCommand)}
    assert {name for name in NAMED if f"| `{name}`" in guide or f", `{name}` |" in guide} == with_result | {
        "doctor", "backup", "drill", "restore"
    }  # fmt: skip
