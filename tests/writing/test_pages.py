"""Pages of topics and responses."""

import pytest
from django.test import Client

from crowdrag.studies.enums import Role
from tests.factories import (
    NOW,
    MembershipFactory,
    ParticipantFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StyleFactory,
    TopicFactory,
)
from writing.domain import reading, responses
from writing.models import Response

pytestmark = pytest.mark.django_db
HOSTILE = '<script>alert("x")</script> <img src=x onerror=alert(1)>'


@pytest.fixture
def member():
    return MembershipFactory(role=Role.VIEWER)


@pytest.fixture
def client(member) -> Client:
    client = Client()
    client.force_login(member.user)
    return client


def written(study, text: str, passages: int = 3) -> Response:
    topic = TopicFactory(study=study)
    for rank in range(passages):
        RetrievedPassageFactory(topic=topic, rank=rank)
    return responses.submit(
        study=study,
        topic=topic,
        style=StyleFactory(study=study),
        participant=ParticipantFactory(study=study),
        external_id="r-1",
        text=text,
        now=NOW,
    )


@pytest.mark.parametrize("count", [1, 3])
def test_topics_take_the_same_queries_for_one_and_three(member, client, count, django_assert_num_queries) -> None:
    for _ in range(count):
        ResponseFactory(topic__study=member.study)
    ResponseFactory()  # of another study
    with django_assert_num_queries(5):
        answer = client.get(f"/studies/{member.study.slug}/topics/")
    assert [topic.response_count for topic in answer.context["page"]] == [1] * count


def test_topics_are_found_by_a_word(member, client) -> None:
    TopicFactory(study=member.study, query="why do leaves fall")
    TopicFactory(study=member.study, query="why does snow melt")
    answer = client.get(f"/studies/{member.study.slug}/topics/?q=SNOW")
    assert [topic.query for topic in answer.context["page"]] == ["why does snow melt"]
    answer = client.get(f"/studies/{member.study.slug}/topics/?q=rain")
    assert "No topic holds these words" in answer.content.decode()


def test_a_study_without_topics_says_what_to_do(member, client) -> None:
    assert "No topics yet" in client.get(f"/studies/{member.study.slug}/topics/").content.decode()


def test_a_topic_of_another_study_is_not_there(member, client) -> None:
    other = TopicFactory(external_id="hidden")
    assert client.get(f"/studies/{member.study.slug}/topics/{other.external_id}/").status_code == 404


def test_a_topic_shows_its_passages_in_rank_order_and_how_often_each_is_cited(member, client) -> None:
    response = written(member.study, "Leaves fall [2]. Snow melts [2, 0].")
    answer = client.get(f"/studies/{member.study.slug}/topics/{response.topic.external_id}/")
    assert [(row.rank, row.cited) for row in answer.context["retrieved"]] == [(0, 1), (1, 0), (2, 2)]


def test_a_response_shows_each_statement_with_links_to_what_it_cites(member, client) -> None:
    response = written(member.study, "Leaves fall [2]. Snow melts [9].\nAnd so on.")
    page = client.get(f"/studies/{member.study.slug}/responses/{response.external_id}/").content.decode()
    assert '<a class="cite" href="#passage-2">[2]</a>' in page
    assert "Citations of no passage" in page


def test_the_spans_of_a_response_hold_its_text_without_the_markers() -> None:
    response = written(MembershipFactory().study, "Leaves fall [2]. Snow melts [0][1].\nAnd so on.")
    found = reading.with_statements(Response.objects.all()).get(pk=response.pk)
    spans = reading.cited(found)
    assert "".join(span.text + span.rest for span in spans) == "Leaves fall. Snow melts.\nAnd so on."
    assert [span.ranks for span in spans] == [(2,), (0, 1), ()]


def test_hostile_texts_are_shown_and_not_run(member, client) -> None:
    response = written(member.study, HOSTILE + " [0].")
    page = client.get(f"/studies/{member.study.slug}/responses/{response.external_id}/").content.decode()
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
