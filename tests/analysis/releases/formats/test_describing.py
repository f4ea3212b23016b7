"""What stands beside the data: programs read it, and no text of others becomes anything else.

What it holds for the demo study is golden: tests/golden.
"""

import hashlib
import json
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import yaml as reference
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from analysis.releases.choices import Choices, Logs
from analysis.releases.contents.content_table import ContentColumn
from analysis.releases.formats import card as cards
from analysis.releases.formats import card as formats_card
from analysis.releases.formats import citation, markup, release_writer
from analysis.releases.formats.about import Exclusion, SourceRun
from tests.analysis.releases.formats.made import ABOUT, EMPTY, RESPONSES, TEXTS, TOPICS, release
from tests.analysis.reports import hostile

FILES = {
    "README.md", "FIELDS.md", "DATASHEET.md", "CHANGES.md", "LICENSE", "CITATION.cff", "croissant.json", "release.json",
    "SHA256SUMS",
}  # fmt: skip


def card(folder) -> tuple[dict, str]:
    _, metadata, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return reference.safe_load(metadata), text


def test_every_file_is_in_the_sums_and_in_the_manifest(tmp_path):
    manifest = release(tmp_path)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    lines = [line.split("  ", 1) for line in (tmp_path / "SHA256SUMS").read_text().splitlines()]
    assert {name for _sum, name in lines} == files - {"SHA256SUMS"}
    for digest, name in lines:
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert {file["path"] for file in manifest["files"]} == files - FILES
    assert {(file["path"], file["bytes"]) for file in manifest["files"]} == {
        (name, (tmp_path / name).stat().st_size) for name in files - FILES
    }
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_digest_of_the_runs_follows_what_they_took_in():
    run = ABOUT.runs[0]
    digest = release_writer.digest_of_runs(ABOUT)
    assert len(digest) == 64
    same = replace(ABOUT, runs=(replace(run, key="other", finished_at="later", stale="changed"),))
    assert release_writer.digest_of_runs(same) == digest
    for other in (replace(run, inputs_digest="cd"), replace(run, seed=8), replace(run, parameters={"resamples": 11})):
        assert release_writer.digest_of_runs(replace(ABOUT, runs=(other,))) != digest
    two = (run, SourceRun("b", "k2", "x", "1", ""))
    assert release_writer.digest_of_runs(replace(ABOUT, runs=two)) == release_writer.digest_of_runs(
        replace(ABOUT, runs=two[::-1])
    )
    assert release_writer.digest_of_runs(replace(ABOUT, runs=())) == ""


def test_the_size_is_that_of_the_longest_table():
    for rows, size in ((0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (2_000_000, "1M<n<10M")):
        tables = [{"name": "a", "rows": rows, "meaning": "m"}, {"name": "b", "rows": 1, "meaning": "m"}]
        assert cards.metadata(ABOUT, {"tables": tables})["size_categories"] == [size]


@pytest.mark.parametrize(
    ("said", "spdx", "address"),
    [
        ("CC-BY-4.0", "CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/legalcode"),
        ("cc by-sa 4.0", "CC-BY-SA-4.0", "https://creativecommons.org/licenses/by-sa/4.0/legalcode"),
        ("CC0", "CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/legalcode"),
        ("ODC-BY", "ODC-By-1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    ],
)
def test_a_known_licence_is_named_with_its_identifier_and_where_its_text_stands(tmp_path, said, spdx, address):
    release(tmp_path, licence=said, licences=(said,))
    lines = [line.strip() for line in (tmp_path / "LICENSE").read_text().splitlines()]
    assert f"SPDX-License-Identifier: {spdx}" in lines
    assert address in lines
    assert reference.safe_load((tmp_path / "CITATION.cff").read_text())["license"] == spdx
    assert json.loads((tmp_path / "croissant.json").read_text())["license"] == address


def test_a_licence_that_nobody_knows_is_named_and_no_version_guessed(tmp_path):
    release(tmp_path / "a", licence="CC-BY", licences=("CC-BY",))
    assert "SPDX" not in (tmp_path / "a/LICENSE").read_text()
    own = "Our Own 1.0"
    release(tmp_path, licence=own, licences=(own, "CC0-1.0"), passage_terms="Ask them.")
    metadata, text = card(tmp_path)
    assert (metadata["license"], metadata["license_name"], metadata["license_link"]) == ("other", own, "LICENSE")
    assert "license" not in reference.safe_load((tmp_path / "CITATION.cff").read_text())
    licence = (tmp_path / "LICENSE").read_text()
    assert "SPDX" not in licence
    assert all(part in licence for part in (own, "CC0-1.0", "    Ask them.\n"))
    assert "Ask them." in text


def test_bibtex_keeps_no_brace_of_others():
    entry = citation.bibtex(replace(ABOUT, title="a} \\write18{x} ```", creators=()))
    assert entry.count("{") == entry.count("}")
    assert "\\" not in entry
    assert "`" not in entry
    assert entry.startswith("@misc{cats_v2,\n")


# --- texts of others


@given(
    st.lists(st.dictionaries(st.sampled_from(["a", "b-c"]), st.text() | st.integers() | st.none(), min_size=1)),
    st.text(),
)
def test_yaml_is_read_back_as_it_was(mappings, text):
    value = {"list": mappings, "text": text, "texts": [text], "deep": {"is": {"so": True, "nothing": None}}}
    assert reference.safe_load(markup.dump_yaml(value)) == value


def test_yaml_holds_every_hostile_text():
    value = {"x": TEXTS, "y": [{"z": text, "a": "b"} for text in TEXTS]}
    assert reference.safe_load(markup.dump_yaml(value)) == value


class Shown(HTMLParser):
    """The elements of a page, and the words in them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.words = ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.words += data


def shown(markdown: str) -> Shown:
    found = Shown()
    found.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    return found


def test_in_markdown_every_text_is_a_text():
    for text in (*hostile.ALL, "1. x", "12) x", "+ x", "a\n\n# b", "===", "    code", "~~~", "\\|"):
        assert shown(markup.line(text)).tags <= {"p"}, text
        assert shown(markup.paragraphs(text)).tags <= {"p"}, text
        table = shown(markup.table(["a", "b"], [[markup.line(text), "x"]]))
        assert table.tags <= {"table", "thead", "tbody", "tr", "th", "td"}, text


def test_words_are_shown_as_they_were_written():
    assert shown(markup.line("<b>*x*</b> | [y](z) `c` 1_2 & so")).words.strip() == "<b>*x*</b> | [y](z) `c` 1_2 & so"


def test_no_text_of_others_becomes_markup_in_a_release(tmp_path):
    evil = "".join(hostile.HTML) + "\n\n" + "\n".join(hostile.LATEX)
    said = ContentColumn("x", "text", nullable=False, meaning=evil, values=tuple(hostile.HTML))
    tables = (replace(TOPICS, meaning=evil), replace(EMPTY, columns=(said,)))
    release(
        tmp_path, tables, title=evil, description=evil, contact=evil, licence=evil, passage_terms=evil, changes=evil,
        left_out=(Exclusion(evil, evil, 1),), creators=(replace(ABOUT.creators[0], name=evil, affiliation=evil),),
        address="https://a.example/", runs=(replace(ABOUT.runs[0], stale=evil, finished_at=evil),),
    )  # fmt: skip
    allowed = {"h1", "h2", "p", "ul", "li", "a", "table", "thead", "tbody", "tr", "th", "td", "code", "pre", "strong"}
    for name in ("README.md", "FIELDS.md", "DATASHEET.md", "CHANGES.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        text = text.split("---\n", 2)[2] if name == "README.md" else text
        assert shown(text).tags <= allowed, name
    assert card(tmp_path)[0]["pretty_name"] == evil


# --- changes


def test_what_differs_from_the_version_before_is_named(tmp_path):
    before = release(tmp_path / "a", (TOPICS, RESPONSES, EMPTY), version=1, licence="CC0-1.0", choices=Choices())
    fewer = replace(TOPICS, rows=lambda: iter(list(TOPICS.rows())[1:]))
    other = replace(
        RESPONSES,
        columns=(*RESPONSES.columns[:-1], ContentColumn("kind", "text", nullable=False, meaning="Its kind.")),
        rows=lambda: ({("kind" if k == "origin" else k): v for k, v in row.items()} for row in RESPONSES.rows()),
    )  # fmt: skip
    after = release(tmp_path / "b", (fewer, other, replace(EMPTY, name="new")), choices=Choices(logs=Logs.FULL),
                    previous=before, changes="Nothing *new*.")  # fmt: skip
    told = formats_card.compared(before, after)
    named = (
        ("`CC0-1.0`", "`CC-BY-4.0`"), ("`new`", "0"), ("`judgments`",), ("`topics`", f"{len(TEXTS) - 1}"),
        ("`responses`", "`kind`"), ("`responses`", "`origin`"), ("`logs`", "`NONE`", "`FULL`"),
    )  # fmt: skip
    assert len(told) == len(named)
    assert [line for line, parts in zip(told, named, strict=True) if not all(part in line for part in parts)] == []
    text = (tmp_path / "b/CHANGES.md").read_text()
    assert all(line in text for line in ("Nothing \\*new\\*.", *told))


def test_as_many_rows_that_are_others_are_seen_and_the_same_are_not(tmp_path):
    before = release(tmp_path / "a", (TOPICS,))
    assert formats_card.compared(before, release(tmp_path / "b", (TOPICS,))) == []
    turned = replace(TOPICS, rows=lambda: iter(list(TOPICS.rows())[::-1]))
    (line,) = formats_card.compared(before, release(tmp_path / "c", (turned,)))
    assert all(part in line for part in ("`topics`", str(len(TEXTS))))
