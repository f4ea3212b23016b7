"""Reading inputs: what fits comes through, what does not is a problem with its place, and nothing fills the memory."""

import gzip
import io
import json
import math
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from writing.corpus.imports import json_lines, sources
from writing.corpus.imports.fields import (
    AddressedIdentifier,
    Either,
    Flag,
    Identifier,
    ListOf,
    Number,
    Object,
    OneOf,
    Optional,
    Text,
    Whole,
)
from writing.corpus.imports.problems import MAX_PROBLEMS, BadInput, Problems
from writing.corpus.imports.sources import Member, Source

SHAPE = {"id": Identifier(), "n": Whole(0, 9), "text": Optional(Text(blank=True))}


def member(content: bytes, name: str = "file.jsonl") -> Member:
    return Member(name, len(content), lambda: io.BytesIO(content))


def read(content: bytes, shape: Any = SHAPE, **options: Any) -> tuple[list[dict[str, Any]], list[tuple[int, str, str]]]:
    """Return the records, and line, field and message of each problem."""
    problems = Problems()
    try:
        rows = [row.data for row in json_lines.records(member(content), shape, problems, **options)]
    except BadInput:
        rows = []
    return rows, [(problem.line, problem.field, problem.message) for problem in problems.found]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=10), st.booleans())
@settings(max_examples=examples(30), deadline=None)
def test_anything_in_json_is_read_or_a_problem(values: list[Any], packed: bool) -> None:
    content = "\n".join(json.dumps(value) for value in values).encode()

    rows, problems = read(gzip.compress(content) if packed else content)

    lines = {line for line, _, _ in problems}
    assert len(rows) + len(lines) == len(values)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_a_problem(content: bytes) -> None:
    rows, problems = read(content)

    assert problems or rows == []


@given(
    st.lists(
        st.tuples(
            st.text(alphabet="abc-", min_size=1),
            st.integers(0, 9),
            st.none() | st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
        )
    )
)
def test_what_fits_comes_through_unchanged(given_rows: list[tuple[str, int, str | None]]) -> None:
    records = [{"id": id_, "n": n, "text": text, "more": [1]} for id_, n, text in given_rows]

    rows, problems = read("\n".join(json.dumps(record) for record in records).encode())

    assert problems == []
    assert rows == [{key: record[key] for key in SHAPE} for record in records]


@pytest.mark.parametrize(
    ("line", "field", "named"),
    [
        (b'{"n": 1}', "id", ""),
        (b'{"id": "", "n": 1}', "id", "''"),
        (b'{"id": " a", "n": 1}', "id", "' a'"),
        (b'{"id": "a", "n": "1"}', "n", "'1'"),
        (b'{"id": "a", "n": true}', "n", "True"),
        (b'{"id": "a", "n": 1.5}', "n", "1.5"),
        (b'{"id": "a", "n": 10}', "n", "10"),
        (b'{"id": "a", "n": NaN}', "n", "nan"),
        (b'{"id": "a", "n": Infinity}', "n", "inf"),
        (b'{"id": "a", "n": 1, "text": 5}', "text", "5"),
        (b'{"id": "a", "n": 1, "text": "x\\u0000"}', "text", "'x\\x00'"),
        (b'{"id": "a", "n": 1, "text": "x\\ud83d"}', "text", "'x\\ud83d'"),
        (b'{"id": "a", "n"', "", "16"),
        (b"[1, 2]", "", "[1, 2]"),
        (b'{"id": "' + b"a" * 201 + b'", "n": 1}', "id", "201"),
        (b'{"id": "a", "n": ' + b"9" * 5000 + b"}", "", ""),
        (b"[" * 100_000, "", ""),
        ('{"id": "é", "n": 1}'.encode("latin-1"), "", "UTF-8"),
    ],
)
def test_a_field_that_does_not_fit_is_named(line: bytes, field: str, named: str) -> None:
    rows, [problem] = read(b'{"id": "first", "n": 0}\n' + line + b'\n{"id": "last", "n": 9}\n')
    assert [row["id"] for row in rows] == ["first", "last"]
    assert (*problem[:2], named in problem[2]) == (2, field, True)


def test_every_field_of_a_record_is_checked() -> None:
    _, problems = read(b'{"n": -1, "text": 1}')

    assert [(line, field) for line, field, _ in problems] == [(1, "id"), (1, "n"), (1, "text")]


def test_the_hundredth_problem_ends_it() -> None:
    problems = Problems()
    lines = iter(json_lines.records(member(b"x\n" * 1000), SHAPE, problems))

    with pytest.raises(BadInput):
        list(lines)
    assert len(problems.found) == problems.found[-1].line == MAX_PROBLEMS


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_another_encoding_is_named_once(encoding: str) -> None:
    rows, [(line, _field, message)] = read('{"id": "a", "n": 1}\n{"id": "b", "n": 1}\n'.encode(encoding))
    assert (rows, line, encoding.upper() in message) == ([], 1, True)


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_do_not_matter() -> None:
    rows, problems = read(b'\xef\xbb\xbf{"id": "a", "n": 1}\r\n\r\n{"id": "b", "n": 1.0}')

    assert problems == []
    assert [(row["id"], row["n"]) for row in rows] == [("a", 1), ("b", 1)]


def test_a_broken_gzip_is_a_problem() -> None:
    whole = gzip.compress(b'{"id": "a", "n": 1}\n' * 1000)

    def flipped(at: int) -> bytes:
        return whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]

    middle = len(whole) // 2
    for broken in (whole[:middle], flipped(middle), flipped(len(whole) - 6), whole + b"rubbish"):
        assert len(read(broken)[1]) == 1


def test_more_than_allowed_is_refused_before_it_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.jsonl"
    with huge.open("wb") as file:
        file.truncate(10 * 1024**3)  # ten gigabytes of nothing: no disk is used
    problems = Problems()

    assert list(json_lines.lines(sources.of_path(huge), problems)) == []
    assert "10.0 GB" in problems.found[0].message


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"\0" * 2**27, "16.0 MB"), ((b'{"id": "a", "n": 1}'.ljust(2**14 - 1) + b"\n") * 2**13, "32.0 MB")],
    ids=["one line", "many lines"],
)
def test_a_gzip_bomb_is_refused_without_filling_the_memory(content: bytes, expected: str) -> None:
    bomb = member(gzip.compress(content, 6))
    problems = Problems()
    limits = json_lines.Limits(file=32 * json_lines.MIB)

    tracemalloc.start()
    for _ in json_lines.lines(bomb, problems, limits=limits):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    [problem] = problems.found
    assert expected in problem.expected
    assert peak < 3 * 16 * json_lines.MIB


def test_reports_come_while_it_reads() -> None:
    content = b'{"id": "a", "n": 1}\n' * 100_000
    told: list[tuple[int, int, str]] = []

    list(json_lines.lines(member(content), Problems(), report=lambda *progress: told.append(progress)))

    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][0] > len(content) * 0.9
    assert {total for _, total, _ in told} == {len(content)}


@pytest.mark.parametrize(
    ("field", "value", "cleaned"),
    [
        (Identifier(), 7, "7"),
        (Identifier(), "https://a.example/", "https://a.example/"),
        (AddressedIdentifier(), "clueweb/12..3/.a//b", "clueweb/12..3/.a//b"),
        (Number(0), 3, 3.0),
        (Flag(), False, False),
        (OneOf({"A": -1}), "A", -1),
        (ListOf(Whole(0, 3)), [1, 2.0], [1, 2]),
        (Optional(Number()), math.nan, None),
        (Either((Whole(), Text())), "x", "x"),
        (Object({"a": Flag(), "b": Optional(Flag())}), {"a": True, "c": 1}, {"a": True, "b": None}),
    ],
)
def test_a_field_cleans_what_fits(field: Any, value: Any, cleaned: Any) -> None:
    assert field.clean(value) == cleaned


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        *((AddressedIdentifier(), value, "") for value in (".", "..", "a/../b", "a/.", "/a", "a/", "/")),
        (Number(0), -1, ""),
        (Number(), 10**400, ""),
        (Flag(), 1, ""),
        (OneOf({"A": -1}), ["A"], ""),
        (OneOf({1: 1}), True, ""),
        (ListOf(Whole(0, 3), least=2), [1], ""),
        (ListOf(Whole(0, 3), most=1), [1, 1], ""),
        (ListOf(Whole(0, 3)), [1, "x"], "[1]"),
        (Object({"a": ListOf(Object({"b": Flag()}))}), {"a": [{"b": True}, {}]}, ".a[1].b"),
        (Either((Whole(), Flag())), "x", ""),
    ],
)
def test_a_field_says_where_it_does_not_fit(field: Any, value: Any, path: str) -> None:
    with pytest.raises(ValueError, match=r".") as mismatch:
        field.clean(value)
    assert mismatch.value.path == path  # type: ignore[attr-defined]
    assert mismatch.value.expected  # type: ignore[attr-defined]


def zipped(files: dict[str, bytes]) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    file.seek(0)
    return file


def tarred(files: dict[str, bytes]) -> io.BytesIO:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("link.jsonl")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    file.seek(0)
    return file


FILES = {
    "corpus/raw/topics.jsonl.gz": gzip.compress(b'{"id": "a", "n": 1}\n'),
    "../../etc/evil.jsonl": b'{"id": "b", "n": 1}\n',
    "__MACOSX/raw/._topics.jsonl.gz": b"\0",
    ".DS_Store": b"\0",
}


@pytest.mark.parametrize(("pack", "name"), [(zipped, "corpus.zip"), (tarred, "corpus.tar.gz")])
def test_the_members_of_an_archive_are_read_without_unpacking(
    pack: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    problems = Problems()
    file = pack(FILES)

    assert sources.is_archive(file, name)
    with sources.of_archive(file, name, problems) as members:
        source = Source(members)
        found = {
            stem: [row.data["id"] for found in source.find(stem) for row in json_lines.records(found, SHAPE, problems)]
            for stem in source.names
        }

    assert found == {"topics": ["a"], "evil": ["b"]}
    assert list(tmp_path.rglob("*")) == []
    assert problems.found == []


@pytest.mark.parametrize("name", ["corpus.zip", "corpus.tar.gz"])
def test_a_broken_archive_is_a_problem(name: str) -> None:
    file = zipped(FILES) if name.endswith("zip") else tarred(FILES)
    cut = io.BytesIO(file.getvalue()[:150])

    with pytest.raises(BadInput), sources.of_archive(cut, name, Problems()):
        pytest.fail("there is nothing to read")


def test_an_archive_that_claims_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_ARCHIVE", 1000)
    bomb = {"topics.jsonl": b"\0" * 10_000}

    for pack, name in ((zipped, "a.zip"), (tarred, "a.tar")):
        problems = Problems()
        with sources.of_archive(pack(bomb), name, problems) as members:
            assert members == []
        assert [problem.file for problem in problems.found] == [name]


def test_a_file_that_is_there_twice_with_different_contents_is_a_problem() -> None:
    problems = Problems()
    source = Source([member(b"{}", "raw/tasks.jsonl.gz"), member(b"[]", "old/tasks.jsonl")])

    assert json_lines.find(source, "tasks", problems)
    assert (problems.found[0].file, "tasks" in problems.found[0].expected) == ("old/tasks.jsonl", True)


def test_the_same_content_packed_and_not_is_one_file() -> None:
    problems = Problems()
    content = b'{"id": "a"}\n'
    source = Source([member(gzip.compress(content), "raw/tasks.jsonl.gz"), member(content, "old/tasks.jsonl")])

    found = json_lines.find(source, "tasks", problems)

    assert found is not None
    assert (found.name, problems.found) == ("raw/tasks.jsonl.gz", [])
