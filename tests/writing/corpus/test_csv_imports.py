"""CSV and TSV files: what is read of them, how columns are chosen, and what is refused with its line."""

import csv
import io
from collections.abc import Mapping
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from crowdrag.jobs import worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from tests.factories import NOW, MembershipFactory, StudyFactory, TopicFactory
from writing.corpus.imports import csv_citations, csv_columns, csv_files, importers
from writing.corpus.imports.csv_columns import ColumnRole as R
from writing.corpus.imports.csv_files import CellRules
from writing.corpus.imports.problems import BadInput, Problems
from writing.corpus.imports.sources import Member
from writing.models import Response, RetrievedPassage, Topic

WIDE = b"""question,alpha,beta
Do heat pumps work?,"They do [0].
In Norway, too.",No.
Is it cold?,Yes.,
"""
LONG = b"""qid\tquery\tmodel\tanswer\tpassage 1\tpassage 2
q1\tDo heat pumps work?\talpha\tThey do [1].\tOne.\tTwo.
q1\tDo heat pumps work?\tbeta\tNo.\tOne.\tThree.
q2\tIs it cold?\talpha\tYes.\t\t
"""


def member(content: bytes, name: str = "file.csv") -> Member:
    return Member(name, len(content), lambda: io.BytesIO(content))


def read(
    content: bytes, roles: Mapping[str, str] | None = None, rules: CellRules | None = None, name: str = "file.csv"
) -> csv_files.CsvContent:
    return csv_files.read(member(content, name), Problems(), roles=roles, rules=rules or CellRules())


def test_a_wide_file_has_a_column_for_each_system() -> None:
    content = read(WIDE)
    assert [(topic.query, topic.passages, topic.line) for topic in content.topics] == [
        ("Do heat pumps work?", (), 2), ("Is it cold?", (), 4),
    ]  # fmt: skip
    assert [(each.participant, each.text, each.line) for each in content.responses] == [
        ("alpha", "They do [0].\nIn Norway, too.", 2), ("beta", "No.", 2), ("alpha", "Yes.", 4),
    ]  # fmt: skip
    assert [each.topic for each in content.responses] == [
        content.topics[n].external_id for n in (0, 0, 1)
    ]  # fmt: skip


def test_a_long_file_has_a_row_for_each_response() -> None:
    content = read(LONG)
    assert [(each.topic, each.participant, each.text) for each in content.responses] == [
        ("q1", "alpha", "They do [1]."), ("q1", "beta", "No."), ("q2", "alpha", "Yes."),
    ]  # fmt: skip
    assert [[passage.text for passage in topic.passages] for topic in content.topics] == [
        ["One.", "Two.", "Three."],
        [],
    ]


def test_roles_are_guessed_from_names_and_can_be_chosen() -> None:
    assert csv_columns.guess_roles(["Query_ID", "Prompt", "Context 1", "GPT", "Llama"]) == {
        "Query_ID": R.TOPIC, "Prompt": R.QUESTION, "Context 1": R.PASSAGE, "GPT": R.RESPONSES, "Llama": R.RESPONSES,
    }  # fmt: skip
    assert csv_columns.guess_roles(["question", "system", "answer", "note"]) == {
        "question": R.QUESTION, "system": R.SYSTEM, "answer": R.TEXT, "note": R.IGNORE,
    }  # fmt: skip
    chosen = {"question": R.QUESTION, "alpha": R.IGNORE, "beta": R.RESPONSES}
    assert [each.participant for each in read(WIDE, chosen).responses] == ["beta"]


@pytest.mark.parametrize(
    ("columns", "row", "roles"),
    [
        (["Nr", "Query Text", "A", "notes"], ["1", "Why?", "Because it is so.", ""], "topic question responses ignore"),
        (["no.", "question", "A"], ["1", "Why?", "Because."], "topic question responses"),
        (["question", "A", "year"], ["Why?", "Because.", "2024"], "question responses ignore"),
        (["question", "A", "Column 3"], ["Why?", "Because.", "Not so."], "question responses ignore"),
        (["question", "A", "B"], ["Where?", "Paris", "Rome"], "question responses responses"),
        (["question", "A", "B"], ["Where?", "In Paris " * 9, "ok"], "question responses ignore"),
    ],
)
def test_columns_that_hardly_contain_responses_are_ignored(columns: list[str], row: list[str], roles: str) -> None:
    assert [str(role) for role in csv_columns.guess_roles(columns, [row]).values()] == roles.split()


def test_a_column_that_numbers_the_rows_is_not_the_id_of_the_questions() -> None:
    rows = [["1", "Why?", "alpha", "So."], ["2", "Why?", "beta", "No."]]
    assert csv_columns.guess_roles(["nr", "question", "system", "answer"], rows)["nr"] == R.IGNORE


@pytest.mark.parametrize(
    ("header", "expected"),
    [("question,alpha", False), ("alpha,beta", False), ("Is it cold?,Yes.", True), ("heat pumps,They do [1].", True)],
)
def test_a_missing_header_is_noticed(header: str, expected: bool) -> None:
    assert csv_columns.looks_like_data(header.split(",")) is expected


def test_repeated_rows_and_empty_cells_are_counted() -> None:
    content = read(b"question,alpha,beta\nx,y,z\nx,y,z\nw,y,\n")
    assert (content.left_out, len(content.responses)) == ({"empty_cells": 1, "duplicate_rows": 1}, 3)


def test_two_answers_of_several_systems_are_one_problem() -> None:
    with pytest.raises(BadInput) as refused:
        read(b"question,alpha,beta\nx,y,z\nx,1,2\n")
    assert [problem.line for problem in refused.value.problems] == [3]


def test_a_file_in_windows_1252_is_read() -> None:
    content = read("question,alpha\nWo ist Köln?,Am „Rhein“.\n".encode("cp1252"))
    assert (content.topics[0].query, content.responses[0].text) == ("Wo ist Köln?", "Am „Rhein“.")
    assert content.encoding != "UTF-8"


@pytest.mark.parametrize(("start", "name"), [
    (b"PK\x03\x04", "a.xlsx"), (b"PK\x03\x04", "a.zip"), (b"\xd0\xcf\x11\xe0", "a.xls"), (b"%PDF-1.7", "a.pdf"),
])  # fmt: skip
def test_other_formats_are_one_problem(start: bytes, name: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(start + b"\n\xff", name=name)
    assert len(refused.value.problems) == 1


CITING = b"""question,passage,alpha
x,"First.
Second.","One [1]. Two [2]."
"""


def test_markers_can_count_from_one_and_lines_can_be_passages() -> None:
    content = read(CITING, rules=CellRules(from_one=True, passage_lines=True))
    assert [passage.text for passage in content.topics[0].passages] == ["First.", "Second."]
    assert content.responses[0].text == "One [0]. Two [1]."
    with pytest.raises(BadInput):
        read(b"question,alpha\nx,One [0].\n", rules=CellRules(from_one=True))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "best", "counts"),
    [
        (CITING, (True, True), (2, 2)),
        (b"question,passage 1,passage 2,alpha\nx,First.,Second.,One [1]. Two [2].\n", (True, False), (2, 1)),
        (b"question,passage 1,passage 2,alpha\nx,First.,Second.,One [0]. Two [1].\n", (False, False), (2, 0)),
        (b"question,passage 1,passage 2,alpha\nx,First.,Second.,One [0]. Two [2].\n", (False, False), (2, 1)),
        (b"question,alpha\nx,One [1]. Two [2].\n", (False, False), (2, 2)),
        (b"question,alpha\nx,None.\n", (False, False), (0, 0)),
    ],
)
def test_rules_that_lose_the_fewest_citations_are_suggested(
    content: bytes, best: tuple[bool, bool], counts: tuple[int, int]
) -> None:
    roles = csv_files.preview(member(content), Problems()).roles
    checked = csv_citations.check(study=StudyFactory(), member=member(content), roles=roles, rules=CellRules())
    assert checked is not None
    assert (checked.best.from_one, checked.best.passage_lines) == best
    assert (checked.fit.citations, checked.fit.unmatched) == counts


@pytest.mark.django_db
def test_passages_of_the_study_count_for_the_citations_of_a_file() -> None:
    study = StudyFactory()
    csv_files.store(study=study, content=read(LONG), now=NOW)
    content = b"qid,alpha\nq1,One [2]. Two [3].\n"
    roles = {"qid": R.TOPIC, "alpha": R.RESPONSES}
    checked = csv_citations.check(study=study, member=member(content), roles=roles, rules=CellRules())
    assert checked is not None
    assert (checked.fit.unmatched, checked.best.from_one) == (1, True)


@pytest.mark.parametrize(
    "roles",
    [
        {"a": R.RESPONSES},
        {"a": R.TOPIC},
        {"a": R.QUESTION, "b": R.TEXT},
        {"a": R.QUESTION, "b": R.SYSTEM},
        {"a": R.QUESTION, "b": R.QUESTION},
    ],
)
def test_roles_that_do_not_fit_are_refused(roles: dict[str, str]) -> None:
    with pytest.raises(csv_columns.ColumnsError):
        csv_columns.check_roles(roles)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", 1),
        (b"question,question\nx,y\n", 1),
        (b"question,alpha\nx,y,z\n", 2),
        (b"question,alpha\n,y\n", 2),
        (b'question,alpha\nx,"y\nz', 2),
        (b"question,alpha\nx,y\nx,z\n", 3),
        (b"id,question,alpha\n1,x,y\n1,z,y\n", 3),
        (b"question,alpha\nx,\x81\n", 2),
        (b"question,\xc3\xa9\nx,\xff\n", 2),
        (b"question,alpha\nx,y\0\n", 2),
        (b"id,question,alpha\n../x,x,y\n", 2),
        (b"question,system,answer\nx,,y\n", 2),
        ("question,alpha\nx,y\n".encode("utf-16"), 1),
    ],
)
def test_what_is_wrong_is_named_with_its_line(content: bytes, line: int) -> None:
    with pytest.raises(BadInput) as refused:
        read(content)
    assert refused.value.problems[0].line == line


CELLS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30)


@given(
    questions=st.lists(CELLS.filter(str.strip), min_size=1, max_size=5, unique_by=str.strip),
    answers=st.lists(CELLS, min_size=10, max_size=10),
    delimiter=st.sampled_from(csv_files.DELIMITERS),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_a_spreadsheet_writes_is_read_back(
    questions: list[str], answers: list[str], delimiter: str, end: str
) -> None:
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["question", "alpha", "beta"])
    rows = [(question, *answers[2 * n : 2 * n + 2]) for n, question in enumerate(questions)]
    writer.writerows(rows)
    content = read(written.getvalue().encode())
    assert [topic.query for topic in content.topics] == [question.strip() for question in questions]
    expected = [(name, text.strip()) for row in rows for name, text in zip(("alpha", "beta"), row[1:], strict=True)]
    assert [(each.participant, each.text) for each in content.responses] == [each for each in expected if each[1]]


@pytest.mark.django_db
def test_questions_that_the_study_has_keep_their_id_and_passages() -> None:
    study = StudyFactory()
    topic = TopicFactory(study=study, external_id="t-1", query="Do heat pumps work?")
    content = read(WIDE)
    made = csv_files.store(study=study, content=content, now=NOW)
    assert (made["topics"], made["topics_unchanged"], made["responses"]) == (1, 1, 3)
    assert Topic.objects.filter(study=study).count() == 2
    assert set(Response.objects.filter(topic=topic).values_list("participant__external_id", flat=True)) == {
        "alpha", "beta",
    }  # fmt: skip
    again = csv_files.store(study=study, content=content, now=NOW)
    assert (again["topics"], again["responses"], again["responses_unchanged"]) == (0, 0, 3)


@pytest.mark.django_db
def test_passages_of_a_file_are_those_that_responses_cite() -> None:
    study = StudyFactory()
    csv_files.store(study=study, content=read(LONG), now=NOW)
    ranked = RetrievedPassage.objects.filter(topic__study=study).order_by("rank")
    assert list(ranked.values_list("passage__text", flat=True)) == ["One.", "Two.", "Three."]
    cited = Response.objects.get(participant__external_id="alpha", topic__external_id="q1")
    assert list(cited.statements.values_list("citations__retrieved__passage__text", flat=True)) == ["Two."]


@pytest.fixture
def editor(client: Client, settings: Any, tmp_path: Any) -> tuple[Client, Any]:
    settings.MEDIA_ROOT = tmp_path / "files"
    membership = MembershipFactory(role=Role.EDITOR)
    client.force_login(membership.user)
    return client, membership.study


def uploaded(client: Client, study: Any, file: SimpleUploadedFile) -> str:
    """The address of the page of the columns of an uploaded file."""
    answer = client.post(reverse("import_form", args=[study.slug, "csv"]), {"file": file, "style": "news"})
    return answer["Location"]


@pytest.mark.django_db
def test_columns_are_chosen_on_a_page_before_anything_is_imported(editor: tuple[Client, Any]) -> None:
    client, study = editor
    upload = SimpleUploadedFile("mine.csv", WIDE)
    answer = client.post(reverse("import_form", args=[study.slug, "csv"]), {"file": upload, "style": "news"})
    page = client.get(answer["Location"])
    assert not Run.objects.exists()
    assert page.context["form"].initial == {"from_one": False, "passage_lines": False}
    assert b"In Norway" in page.content
    wrong = client.post(answer["Location"], {"column-1": "ignore", "column-2": "responses", "column-3": "ignore"})
    assert (wrong.status_code, Run.objects.count()) == (422, 0)
    roles = {"column-1": "question", "column-2": "responses", "column-3": "ignore"}
    started = client.post(answer["Location"], roles)
    run = Run.objects.get(study=study)
    assert started["Location"] == reverse("run", args=[study.slug, run.key])
    assert worker.work_next(run)
    run.refresh_from_db()
    assert (run.state, run.summary["topics"], run.summary["responses"]) == (RunState.DONE, 2, 2)
    assert set(Response.objects.values_list("style__name", flat=True)) == {"news"}
    assert client.get(started["Location"]).status_code == 200


@pytest.mark.django_db
def test_lost_citations_are_a_warning_before_and_after_the_import(editor: tuple[Client, Any]) -> None:
    client, study = editor
    upload = SimpleUploadedFile("mine.csv", CITING)
    columns = uploaded(client, study, upload)
    assert client.get(columns).context["form"].initial == {"from_one": True, "passage_lines": True}
    roles = {"column-1": "question", "column-2": "passage", "column-3": "responses"}
    changed = client.post(columns, roles, headers={"HX-Request": "true"})
    assert changed.context["check"].fit.unmatched == 2
    assert not Run.objects.exists()
    client.post(columns, roles)
    run = Run.objects.get()
    assert worker.work_next(run)
    run.refresh_from_db()
    assert len(importers.warnings(run)) == 1
    response = Response.objects.get()
    shown = client.get(reverse("response", args=[study.slug, response.external_id])).content.decode()
    assert (shown.count(">[1]<"), shown.count(">[2]<")) == (1, 1)
    progress = client.get(reverse("run_progress", args=[study.slug, run.key]))
    assert "HX-Redirect" not in progress
    client.post(columns, roles | {"from_one": "on", "passage_lines": "on"})
    other = Run.objects.exclude(pk=run.pk).get()
    assert worker.work_next(other)
    other.refresh_from_db()
    assert (other.state, other.is_rejected) == (RunState.FAILED, True)
    page = client.get(reverse("run", args=[study.slug, other.key]))
    assert page.context["restarts"][0].url.startswith(columns.partition("?")[0])


@pytest.mark.django_db
def test_an_import_that_ends_well_leads_on(editor: tuple[Client, Any]) -> None:
    client, study = editor
    upload = SimpleUploadedFile("mine.csv", WIDE.replace(b" [0]", b""))
    columns = uploaded(client, study, upload)
    page = client.post(columns, {"column-1": "question", "column-2": "responses", "column-3": "responses"})["Location"]
    run = Run.objects.get()
    assert worker.work_next(run)
    progress = client.get(reverse("run_progress", args=[study.slug, run.key]))
    assert progress["HX-Redirect"] == reverse("study", args=[study.slug])
    # An import can end before its page is shown. Later the page can be read.
    assert client.get(page)["Location"] == reverse("study", args=[study.slug])
    assert client.get(page).status_code == 200


@pytest.mark.django_db
def test_a_file_that_is_no_table_is_refused_on_the_page(editor: tuple[Client, Any]) -> None:
    client, study = editor
    upload = SimpleUploadedFile("mine.csv", b"question,question\nx,y\n")
    answer = client.post(reverse("import_form", args=[study.slug, "csv"]), {"file": upload, "style": "essay"})
    assert client.get(answer["Location"]).status_code == 422
    other = MembershipFactory(role=Role.EDITOR, user__email="other@example.org")
    client.force_login(other.user)
    elsewhere = answer["Location"].replace(f"/{study.slug}/", f"/{other.study.slug}/")
    assert client.get(elsewhere).status_code == 404
