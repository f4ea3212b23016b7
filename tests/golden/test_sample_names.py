"""Of the sample no id and no text is stored."""

from typing import Any

import pytest

from crowdrag.studies.enums import ParticipantKind
from tests.factories import ParticipantFactory, ResponseFactory
from tests.golden.sample_study import Names

pytestmark = pytest.mark.django_db
RESPONSE, WRITER, MODEL = "0a1b2c3d-response", "5f6a7b8c-writer", "a-model-of-2024"
TEXT = "Wombats dig at night [0]."


@pytest.fixture
def names() -> Names:
    writer = ParticipantFactory(external_id=WRITER)
    ParticipantFactory(external_id=MODEL, study=writer.study, kind=ParticipantKind.MODEL)
    topic = {"topic__study": writer.study, "topic__external_id": "7", "topic__query": "what do wombats do"}
    return Names(ResponseFactory(external_id=RESPONSE, text=TEXT, participant=writer, **topic).study)


@pytest.mark.parametrize("value", [RESPONSE, f"{RESPONSE[:8]}…", WRITER, "7", TEXT, "a note: what do wombats do"])
def test_what_names_something_is_refused(names: Names, value: str) -> None:
    with pytest.raises(AssertionError, match="would be stored"):
        names.check({"tables": {"a.json": [{"name": value}]}})
    names.check({"tables": {"a.json": [{"name": MODEL, "value": 7, "style": "essay"}]}})


@pytest.mark.parametrize("value", [RESPONSE, WRITER, "7", "x" * 500])
def test_table_that_names_something_is_an_outline(names: Names, value: str) -> None:
    rows: list[dict[str, Any]] = [{"name": value, "value": 0.5}, {"name": "b", "value": 1.5}]
    found = names.without(rows)
    assert (found["rows"], found["columns"]["value"]["mean"]) == (2, 1.0)
    names.check(found)
    assert names.without([{"name": MODEL, "value": 0.5}]) == [{"name": MODEL, "value": 0.5}]


def test_line_that_names_something_is_a_digest(names: Names) -> None:
    found = names.without_lines(f"Mean | 0.5\n{WRITER[:8]}… | 0.7\n1 | {TEXT}\n{MODEL} | 0.2")
    names.check(found)
    kept = [line for line in found.splitlines() if not line.startswith("<a line")]
    assert kept == ["Mean | 0.5", f"{MODEL} | 0.2"]
