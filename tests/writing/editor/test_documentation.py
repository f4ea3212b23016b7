"""The docs say of the log what the code does."""

from pathlib import Path

from django.conf import settings

from writing.editor import codec, event_validation


def page() -> str:
    return (Path(settings.BASE_DIR) / "docs" / "reference" / "log-format.md").read_text()


def test_the_table_of_what_is_recorded_is_current() -> None:
    table = page().split("<!-- recorded -->\n")[1].split("\n<!-- /recorded -->")[0]
    assert table == event_validation.as_markdown(), (
        "put writing.editor.event_validation.as_markdown() between the marks"
    )


def test_every_codec_is_described() -> None:
    assert all(f"| `{name}` |" in page() for name in codec.CODECS)
