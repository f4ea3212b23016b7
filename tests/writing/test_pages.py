"""Pages of topics and responses."""

import pytest
from django.test import Client
from django.urls import resolve, reverse

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


def written(study, text: str, passages: int = 3, *, name: str = "r-1", topic: str = "t-1") -> Response:
    asked = TopicFactory(study=study, external_id=topic)
    for rank in range(passages):
        RetrievedPassageFactory(topic=asked, rank=rank)
    return responses.submit(
        study=study,
        topic=asked,
        style=StyleFactory(study=study),
        participant=ParticipantFactory(study=study),
        external_id=name,
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


def test_pages_and_the_api_find_ids_with_slashes(member, client) -> None:
    name = "clueweb/12?3/a\nb"
    response = written(member.study, "Leaves fall [2].", name="runs/a/b", topic=name)
    base = f"/studies/{member.study.slug}/"
    address = reverse("topic", args=[member.study.slug, name])
    assert f'href="{address}"' in client.get(f"{base}topics/").content.decode()
    page = client.get(address)
    assert page.context["topic"].pk == response.topic_id
    assert f'href="{base}responses/runs/a/b/"' in page.content.decode()
    assert client.get(f"{base}responses/runs/a/b/").context["response"].pk == response.pk
    assert client.get(f"{base}responses/runs%2Fa%2Fb/").context["response"].pk == response.pk
    assert client.get(f"/api/v1{base}responses/runs%2Fa%2Fb/").json()["external_id"] == "runs/a/b"
    passages = reverse("api_passages", args=[member.study.slug, name])
    assert len(client.get(passages).json()["results"]) == 3


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("responses/a/b/", "response"),
        ("responses/a/b/replay/", "replay"),
        ("responses/a/b/replay/log/", "replay_log"),
        ("review/a/b/", "review_task"),
        ("review/a/b/hold/", "review_hold"),
        ("review/next/", "review_next"),
        ("writing/plan/style/a/b/", "writing_plan_style"),
    ],
)
def test_addresses_with_slashes_in_their_ids_lead_to_one_page(path: str, name: str) -> None:
    found = resolve(f"/studies/s/{path}")
    assert found.url_name == name
    assert {value for key, value in found.kwargs.items() if key != "slug"} <= {"a/b"}


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
