"""What is wrong is said in one form, with what to do; nothing is said by way of an error page."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from crowdrag.api.problems import PROBLEM_TYPES
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.studies.study import services
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
STUDIES = "/api/v1/studies/"


def test_every_sort_of_problem_is_explained_where_its_type_leads(client: Client) -> None:
    page = client.get(reverse("api_problems")).content.decode()
    for code in PROBLEM_TYPES:
        assert f'id="{code}"' in page


def test_a_problem_says_what_is_wrong_where_and_what_to_do(script: Callable[..., APIClient], study: Study) -> None:
    for given, pointer, code in (
        ({"title": "", "titel": "x"}, "#/titel", "unknown"),
        ({"title": ""}, "#/title", "blank"),
    ):
        answer = script().patch(f"{STUDIES}{study.slug}/", given, format="json")
        problem = answer.json()
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
        assert problem["type"] == "http://testserver/api/problems/#invalid"
        assert (problem["code"], problem["status"]) == ("invalid", 400)
        assert problem["title"]
        assert problem["remedy"]
        assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [(pointer, code)]


def test_a_script_that_prints_the_detail_alone_says_what_is_wrong(script: Callable[..., APIClient]) -> None:
    one = script().post(STUDIES, {"slug": "mine!", "title": "x"}, format="json").json()
    assert one["detail"] == f"slug: {one['errors'][0]['detail']}"
    several = script().get(f"{STUDIES}?a=1&b=1&c=1&d=1&e=1").json()
    named = [f"{name}: " in several["detail"] for name in "abcde"]
    assert (named, len(several["errors"])) == ([True] * 3 + [False] * 2, 5)
    created = script().get(f"{STUDIES}?created_after=yesterday").json()
    assert [error["parameter"] for error in created["errors"]] == ["created_after"]


JSON = "application/json"


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "code"),
    [
        ("get", "/api/v1/nothing/", {}, 404, "not-found"),
        ("get", "/api/v1/", {}, 404, "not-found"),
        ("get", f"{STUDIES}none/", {}, 404, "not-found"),
        ("delete", f"{STUDIES}mine/members/", {}, 405, "method"),
        ("options", STUDIES, {}, 405, "method"),
        ("get", STUDIES, {"HTTP_ACCEPT": "text/html"}, 406, "not-acceptable"),
        ("get", f"{STUDIES}?titel=x", {}, 400, "invalid"),
        ("get", f"{STUDIES}?is_simulated=x&created_after=yesterday", {}, 400, "invalid"),
        *(
            ("patch", f"{STUDIES}mine/", {"data": data, "content_type": content_type}, status, code)
            for data, content_type, status, code in (
                ("{", JSON, 400, "malformed"),
                (b"\xff", JSON, 400, "malformed"),
                ("[" * 5000, JSON, 400, "malformed"),
                ("[" * 2000 + "]" * 2000, JSON, 400, "malformed"),
                ('{"title": "\\ud800"}', JSON, 400, "malformed"),
                ("NaN", JSON, 400, "malformed"),
                ("[1]", JSON, 400, "invalid"),
                ("x", "text/plain", 415, "media-type"),
                ("x", "nonsense", 415, "media-type"),
            )
        ),
    ],
)
def test_each_wrong_request_gets_its_problem(
    script: Callable[..., APIClient], method: str, path: str, options: dict[str, object], status: int, code: str
) -> None:
    answer = getattr(script(), method)(path, **options)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json"), answer.content
    assert answer.json()["code"] == code


def test_a_method_that_there_is_not_is_answered_with_those_that_there_are(script: Callable[..., APIClient]) -> None:
    assert script().delete(STUDIES)["Allow"] == "GET, POST, HEAD"


def test_whoever_is_signed_in_on_pages_needs_the_token_of_a_form(study: Study) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(MembershipFactory(study=study, role=Role.OWNER).user)
    assert client.get(f"{STUDIES}{study.slug}/").status_code == 200
    answer = client.patch(f"{STUDIES}{study.slug}/", {"title": "x"}, format="json")
    assert answer.status_code == 403


def test_an_error_of_ours_is_a_problem_too_and_is_heard_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(**_fields: object) -> Study:
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(services, "create", breaks)
    script = by_token(UserFactory())
    script.raise_request_exception = False
    answer = script.post(STUDIES, {"slug": "s", "title": "x"}, format="json")
    assert answer.status_code == 500
    assert answer.json()["code"] == "error"
    assert "secret" not in answer.content.decode()
    assert "the secret inside" in caplog.text
    script.raise_request_exception = True
    with pytest.raises(RuntimeError):
        script.post(STUDIES, {"slug": "s", "title": "x"}, format="json")


def test_a_body_larger_than_is_read_at_once_is_refused(script: Callable[..., APIClient], settings) -> None:
    settings.API_MAX_BODY_BYTES = 100
    answer = script().patch(f"{STUDIES}mine/", {"description": "x" * 200}, format="json")
    assert answer.status_code == 413
    assert answer.json()["code"] == "too-large"
