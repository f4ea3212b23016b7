"""Questions, one a line: read from a file, pasted into a form, and stored as topics."""

import io

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.enums import Role
from tests.factories import NOW, MembershipFactory, RetrievedPassageFactory, StudyFactory, TopicFactory
from writing.corpus.imports import csv_files, question_files
from writing.corpus.imports.problems import BadInput, Problems
from writing.corpus.imports.sources import Member
from writing.models import Topic


def read(text: str):
    content = text.encode()
    return question_files.read(Member("questions.txt", len(content), lambda: io.BytesIO(content)), Problems())


def test_each_line_is_a_question_with_an_id_before_a_tab_or_without() -> None:
    topics = read("\nDo heat pumps work?\nq2\t Is it cold? \n\nDo heat pumps work?\n")
    assert [(topic.external_id, topic.query, topic.line) for topic in topics] == [
        (csv_files.topic_id("Do heat pumps work?"), "Do heat pumps work?", 2), ("q2", "Is it cold?", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [("q\tOne?\nq\tTwo?", 2), ("\n../a\tOne?", 2), ("", 0), (f"{'i' * 201}\tOne?", 1), ("One?\nTwo\0?", 2)],
)
def test_a_faulty_line_is_named_and_nothing_is_read(text: str, line: int) -> None:
    with pytest.raises(BadInput) as refused:
        read(text)
    assert [problem.line for problem in refused.value.problems] == [line]


@pytest.mark.django_db
def test_a_question_that_the_study_has_keeps_its_id_and_its_passages() -> None:
    study = StudyFactory()
    known = TopicFactory(study=study, external_id="t-1", query="Do heat pumps work?")
    RetrievedPassageFactory(topic=known)
    for _ in range(2):
        question_files.store(study=study, topics=read("Do heat pumps work?\nIs it cold?"), now=NOW)
    topics = Topic.objects.filter(study=study).order_by("pk")
    assert [(topic.external_id, topic.version) for topic in topics] == [
        ("t-1", 1), (csv_files.topic_id("Is it cold?"), 1),
    ]  # fmt: skip


@pytest.mark.django_db
def test_pasted_questions_are_imported_by_editors_alone_and_faults_are_shown_by_line(client: Client) -> None:
    member = MembershipFactory(role=Role.EDITOR)
    address = reverse("import_paste", args=[member.study.slug])
    client.force_login(MembershipFactory(study=member.study, role=Role.REVIEWER).user)
    assert client.post(address, {"questions": "Is it cold?"}).status_code == 403
    client.force_login(member.user)
    refused = client.post(address, {"questions": "q\tOne?\nq\tTwo?"})
    assert refused.status_code == 422
    assert "Line 2" in refused.context["form"].errors["questions"][0]
    assert not member.study.runs.exists()
    answer = client.post(address, {"questions": "Is it cold?\r\nq2\tIs it wet?\r\n"})
    run = member.study.runs.get()
    assert answer.url == reverse("run", args=[member.study.slug, run.key])
    assert (run.created_by, lifecycle.wait(run).state) == (member.user, RunState.DONE)
    assert set(member.study.topics.values_list("query", flat=True)) == {"Is it cold?", "Is it wet?"}
