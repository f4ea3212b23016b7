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
from writing.corpus.imports import csv_files
from writing.corpus.imports.csv_files import ColumnRole as R
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


def read(content: bytes, roles: Mapping[str, str] | None = None) -> csv_files.CsvContent:
    return csv_files.read(member(content), Problems(), roles=roles)


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
    assert csv_files.guess_roles(["Query_ID", "Prompt", "Context 1", "GPT", "Llama"]) == {
        "Query_ID": R.TOPIC, "Prompt": R.QUESTION, "Context 1": R.PASSAGE, "GPT": R.RESPONSES, "Llama": R.RESPONSES,
    }  # fmt: skip
    assert csv_files.guess_roles(["question", "system", "answer", "note"]) == {
        "question": R.QUESTION, "system": R.SYSTEM, "answer": R.TEXT, "note": R.IGNORE,
    }  # fmt: skip
    chosen = {"question": R.QUESTION, "alpha": R.IGNORE, "beta": R.RESPONSES}
    assert [each.participant for each in read(WIDE, chosen).responses] == ["beta"]


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
    with pytest.raises(csv_files.ColumnsError):
        csv_files.check_roles(roles)


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
        (b"question,alpha\nx,\xff\n", 2),
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


@pytest.mark.django_db
def test_columns_are_chosen_on_a_page_before_anything_is_imported(editor: tuple[Client, Any]) -> None:
    client, study = editor
    upload = SimpleUploadedFile("mine.csv", WIDE)
    answer = client.post(reverse("import_form", args=[study.slug, "csv"]), {"file": upload, "style": "news"})
    page = client.get(answer["Location"])
    assert not Run.objects.exists()
    assert page.context["form"].initial == {}
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
def test_a_file_that_is_no_table_is_refused_on_the_page(editor: tuple[Client, Any]) -> None:
    client, study = editor
    upload = SimpleUploadedFile("mine.csv", b"question,question\nx,y\n")
    answer = client.post(reverse("import_form", args=[study.slug, "csv"]), {"file": upload, "style": "essay"})
    assert client.get(answer["Location"]).status_code == 422
    other = MembershipFactory(role=Role.EDITOR, user__email="other@example.org")
    client.force_login(other.user)
    elsewhere = answer["Location"].replace(f"/{study.slug}/", f"/{other.study.slug}/")
    assert client.get(elsewhere).status_code == 404
