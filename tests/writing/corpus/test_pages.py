"""Pages of topics and responses."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
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
    WritingTaskFactory,
)
from writing.corpus import queries as corpus_queries
from writing.corpus import responses
from writing.enums import TaskState
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


@pytest.fixture
def base(member) -> str:
    return f"/studies/{member.study.slug}/"


def written(study, text: str, *, name: str = "r-1", topic: str = "t-1") -> Response:
    asked = TopicFactory(study=study, external_id=topic)
    for rank in range(3):
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


def test_topics_are_listed_with_their_responses_by_as_many_queries_for_three_as_for_one(member, client, base) -> None:
    counts = []
    for number in (1, 3):
        while member.study.topics.count() < number:
            ResponseFactory(topic__study=member.study)
        ResponseFactory()  # of another study
        with CaptureQueriesContext(connection) as asked:
            page = client.get(f"{base}topics/").context["page"]
        counts.append(len(asked))
        assert [topic.response_count for topic in page] == [1] * number
    assert counts[0] == counts[1]


def test_topics_are_found_by_a_word(member, client, base) -> None:
    TopicFactory(study=member.study, query="why do leaves fall")
    TopicFactory(study=member.study, query="why does snow melt")
    for words, queries in (("SNOW", ["why does snow melt"]), ("rain", [])):
        assert [topic.query for topic in client.get(f"{base}topics/?q={words}").context["page"]] == queries


def test_a_topic_of_another_study_is_not_there(client, base) -> None:
    assert client.get(f"{base}topics/{TopicFactory().external_id}/").status_code == 404


def test_a_topic_shows_its_passages_in_rank_order_and_how_often_each_is_cited(member, client, base) -> None:
    written(member.study, "Leaves fall [2]. Snow melts [2, 0].")
    retrieved = client.get(f"{base}topics/t-1/").context["retrieved"]
    assert [(row.rank, row.cited) for row in retrieved] == [(0, 1), (1, 0), (2, 2)]


def test_pages_and_the_api_find_ids_with_slashes(member, client, base) -> None:
    name = "clueweb/12?3/a\nb"
    response = written(member.study, "Leaves fall [2].", name="runs/a/b", topic=name)
    address = reverse("topic", args=[member.study.slug, name])
    assert f'href="{address}"' in client.get(f"{base}topics/").content.decode()
    page = client.get(address)
    assert page.context["topic"].pk == response.topic_id
    assert f'href="{base}responses/runs/a/b/"' in page.content.decode()
    for path in ("runs/a/b", "runs%2Fa%2Fb"):
        assert client.get(f"{base}responses/{path}/").context["response"].pk == response.pk
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
        ("review/a/b/lock/", "review_lock"),
        ("review/next/", "review_next"),
        ("writing/plan/style/a/b/", "writing_plan_style"),
    ],
)
def test_addresses_with_slashes_in_their_ids_lead_to_one_page(path: str, name: str) -> None:
    match = resolve(f"/studies/s/{path}")
    assert match.url_name == name
    assert {value for key, value in match.kwargs.items() if key != "slug"} <= {"a/b"}


def test_a_response_links_to_what_it_cites_and_hostile_texts_do_not_run(member, client, base) -> None:
    written(member.study, f"Leaves fall [2]. {HOSTILE} [0].")
    page = client.get(f"{base}responses/r-1/").content.decode()
    assert '<a class="cite" href="#passage-2">[2]</a>' in page
    assert [each in page for each in ("&lt;script&gt;", "<script>alert", "<img src=x")] == [True, False, False]


def test_the_spans_of_a_response_hold_its_text_without_the_markers() -> None:
    response = written(MembershipFactory().study, "Leaves fall [2]. Snow melts [0][1].\nAnd so on.")
    spans = corpus_queries.citation_spans(corpus_queries.with_statements(Response.objects.all()).get(pk=response.pk))
    assert "".join(span.text + span.rest for span in spans) == "Leaves fall. Snow melts.\nAnd so on."
    assert [span.ranks for span in spans] == [(2,), (0, 1), ()]


def listed(client, base, query: str = "") -> list[str]:
    return [row.external_id for row, _status, _version in client.get(f"{base}responses/{query}").context["rows"]]


def test_responses_are_listed_by_as_many_queries_for_three_as_for_one(member, client, base) -> None:
    counts = []
    for number in (1, 3):
        while member.study.responses.count() < number:
            ResponseFactory(study=member.study, topic__study=member.study)
        ResponseFactory()  # of another study
        client.get(f"{base}responses/")
        with CaptureQueriesContext(connection) as asked:
            assert len(listed(client, base)) == number
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_responses_are_filtered_and_the_filter_stays_until_it_is_cleared(member, client, base) -> None:
    snow = TopicFactory(study=member.study, query="why does snow melt")
    mine = {"study": member.study, "topic": snow, "style": StyleFactory(study=member.study)}
    ResponseFactory(**mine, external_id="of-a", origin="SYSTEM", participant__external_id="sys-a", words=7)
    ResponseFactory(**mine, external_id="of-b", origin="SYSTEM", participant__external_id="sys-b", words=5)
    ResponseFactory(**mine, external_id="out", origin="HUMAN", is_included=False, words=9)
    everything = {"of-a", "of-b", "out"}
    for query, expected in (
        ("?q=SNOW", everything), ("?q=rain", set()), ("?system=sys-a", {"of-a"}), ("?origin=HUMAN", {"out"}),
        ("?status=excluded", {"out"}), ("?status=waiting", set()), ("?status=nonsense&origin=nonsense", everything),
    ):  # fmt: skip
        assert set(listed(client, base, query)) == expected, query
    assert listed(client, base, "?sort=-words") == ["out", "of-a", "of-b"]
    assert listed(client, base, "?origin=SYSTEM&sort=words&page=1") == ["of-b", "of-a"]
    again = client.get(f"{base}responses/")
    assert again.url == f"{base}responses/?origin=SYSTEM&sort=words"
    assert set(listed(client, base, "?all=1")) == everything
    assert set(listed(client, base)) == everything


def test_a_response_is_listed_with_its_state_and_the_version_of_its_text(member) -> None:
    mine = {"study": member.study, "topic": TopicFactory(study=member.study), "claimed": True, "submitted_at": NOW}
    first = WritingTaskFactory(**mine, state=TaskState.REVISION)
    second = WritingTaskFactory(**mine, state=TaskState.SUBMITTED, revises=first)
    erased = ResponseFactory(study=member.study, topic__study=member.study, text="", erased_at=NOW)
    for task in (first, second):
        ResponseFactory(study=member.study, topic=task.topic, task=task)
    rows = list(corpus_queries.list_responses(member.study, corpus_queries.ResponseFilter()))
    states = {row.task_id: corpus_queries.status(row).value for row in rows}
    assert states == {first.pk: "revision", second.pk: "waiting", None: "erased"}
    versions = corpus_queries.response_versions(rows)
    assert {row.task_id: versions[row.pk] for row in rows} == {first.pk: 1, second.pk: 2, None: 1}
    for status in corpus_queries.ResponseStatus:
        filtered = corpus_queries.list_responses(member.study, corpus_queries.ResponseFilter(status=status))
        assert [corpus_queries.status(row) for row in filtered] in ([], [status])
    assert erased.pk in {row.pk for row in rows}


def test_the_sidebar_counts_topics_once_whatever_their_versions(member, django_assert_num_queries) -> None:
    for version in (1, 2):
        TopicFactory(study=member.study, external_id="t-1", version=version)
    ResponseFactory(study=member.study, topic=TopicFactory(study=member.study))
    with django_assert_num_queries(1):
        assert corpus_queries.sidebar_counts(member.study) == {"topics": 2, "responses": 1}
