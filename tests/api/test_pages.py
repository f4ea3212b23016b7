"""The pages of tokens and of the API, without a browser."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from crowdrag.accounts import tokens
from crowdrag.accounts.enums import Scope
from crowdrag.accounts.models import ApiToken, Grant
from crowdrag.studies.enums import Role
from crowdrag.studies.models import User
from tests.factories import MembershipFactory, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db
PAGE = "/account/tokens/"


@pytest.fixture
def user(client: Client) -> User:
    made = UserFactory()
    client.force_login(made)
    return made


def test_a_token_is_made_for_what_was_chosen_and_shown_once(client: Client, user: User) -> None:
    study = MembershipFactory(user=user, role=Role.OWNER).study
    form = {"name": "nightly", "lasts": 30, "scopes": ["RUN", "CREATE"], "studies": [study.pk]}
    answer = client.post(PAGE, form)
    token = ApiToken.objects.get(user=user)
    shown = answer.context["text"]
    assert shown in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert shown.startswith(token.token_key)
    assert abs(token.expiry - timezone.now() - timedelta(days=30)) < timedelta(minutes=5)
    held = set(Grant.objects.filter(token=token).values_list("study", "scope"))
    assert held == {(study.pk, "READ"), (study.pk, "RUN"), (None, "CREATE")}
    again = client.get(PAGE).content.decode()
    assert shown not in again
    assert "nightly" in again


def test_studies_of_one_title_are_told_apart(client: Client, user: User) -> None:
    for slug in ("first", "second"):
        MembershipFactory(user=user, study=StudyFactory(title="Headphones", slug=slug))
    labels = [label for _value, label in client.get(PAGE).context["form"].fields["studies"].choices]
    assert labels == ["Headphones (first)", "Headphones (second)"]


def test_a_token_is_not_made_for_the_study_of_others(client: Client, user: User) -> None:
    answer = client.post(PAGE, {"name": "a", "lasts": 30, "studies": [StudyFactory().pk]})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("wrong", [{"name": ""}, {"lasts": 5000}, {"lasts": ""}, {"scopes": ["ALL"]}, {"name": "\x00"}])
def test_what_is_chosen_wrongly_is_said(client: Client, user: User, wrong: dict[str, object]) -> None:
    assert client.post(PAGE, {"name": "a", "lasts": 30} | wrong).status_code == 422
    assert not ApiToken.objects.exists()


def test_people_see_and_revoke_their_own_alone(client: Client, user: User) -> None:
    other, _text = tokens.issue(
        by=UserFactory(), name="somebody's", scopes=[Scope.READ], studies=None, lasts=timedelta(days=1)
    )
    mine, _text = tokens.issue(by=user, name="mine", scopes=[Scope.READ], studies=None, lasts=timedelta(days=1))
    shown = client.get(PAGE).content.decode()
    assert "somebody" not in shown
    client.post(reverse("api_token_revoke", args=[other.key]))
    client.post(reverse("api_token_revoke", args=[mine.key]))
    assert list(ApiToken.objects.all()) == [other]
    assert client.get(reverse("api_token_revoke", args=[other.key])).status_code == 405


def test_the_page_lists_many_tokens_with_as_many_queries_as_one(client: Client, user: User) -> None:
    study = MembershipFactory(user=user).study
    counts = []
    for made in (1, 10):
        for _ in range(made):
            tokens.issue(by=user, name="a", scopes=list(Scope), studies=[study], lasts=timedelta(days=1))
        with CaptureQueriesContext(connection) as queries:
            client.get(PAGE)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_page_of_the_api_holds_no_script_of_its_own(client: Client, user: User) -> None:
    answer = client.get("/api/")
    text = answer.content.decode()
    assert "swagger-ui-bundle" in text
    assert "<style" not in text
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert Client().get("/api/").status_code == 302
