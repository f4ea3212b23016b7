"""A sitting is opened, sends, finishes; what it sent comes back as the text."""

import pytest

from writing.domain import sittings

from .typist import Editor

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor() -> Editor:
    made = Editor()
    assert made.open().status_code == 201
    return made


def test_what_is_typed_is_the_text(editor: Editor) -> None:
    assert editor.type("Hello 🧊").json()["acked"] == 0
    assert editor.type(" again").json() == {
        "acked": 1,
        "next_event": 13,
        "fenced": False,
        "lease_until": "2036-01-01T00:00:00Z",
    }
    assert sittings.text(editor.task) == "Hello 🧊 again"
    assert editor.finish().json()["next"].endswith("/exit/")
    editor.task.refresh_from_db()
    assert editor.task.draft == "Hello 🧊 again"
