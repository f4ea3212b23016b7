"""Generated pages of the documentation are current, and complete."""

from crowdrag.operations import reference
from crowdrag.operations.reference import variables
from crowdrag.runtime import cli
from crowdrag.webhooks.enums import Event
from crowdrag.webhooks.outbox import CONTENTS
from tests.operations.test_environment_variables import read_somewhere


def test_generated_pages_are_current() -> None:
    """`make reference` writes them."""
    assert [path.name for path, _text in reference.outdated()] == []


def test_every_variable_has_a_meaning() -> None:
    described = {name for group in variables.MEANINGS.values() for name in group}
    dynamic = {"CROWDRAG_PROLIFIC_TOKEN", "CROWDRAG_PROLIFIC_HOOK_SECRET"}
    assert described == read_somewhere() | dynamic


def test_every_event_and_command_is_described() -> None:
    assert set(CONTENTS) == set(Event)
    assert set(cli.PARSERS) == set(cli.COMMANDS)
