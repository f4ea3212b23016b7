"""Tokens: shown once, found by their hash, for what they are for, until they end."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from crowdrag.accounts import login_limits, tokens
from crowdrag.accounts.enums import Scope
from crowdrag.accounts.models import ApiToken, Grant, SignInFailure
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db
STUDIES = "/api/v1/studies/"
WEEK = timedelta(days=7)


def sent(header: str) -> dict[str, object]:
    """What the API answers to a request with this Authorization."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header)
    answer = client.get(STUDIES)
    return {"status": answer.status_code, "code": answer.json().get("code"), "asks": answer.get("WWW-Authenticate")}


def test_nothing_of_a_token_is_kept_but_its_hash_and_its_first_letters() -> None:
    token, text = tokens.issue(by=UserFactory(), name="a", scopes=[], studies=None, lasts=WEEK)
    assert text.startswith("crowdrag_")
    assert len(text) > 60
    row = ApiToken.objects.filter(pk=token.pk).values().get()
    assert text not in str(row)
    assert row["token_key"] == text[:15]


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer a b",
        "Bearer nothing",
        "Bearer crowdrag_0000000",
        "Bearer \x00",
        "Bearer \xe4\xff",
        "Token x",
        "Basic dXNlcjpwYXNz",
        "Bearer " + "a" * 5000,
    ],
)
def test_what_is_no_token_of_ours_is_told_so(header: str) -> None:
    assert sent(header) == {"status": 401, "code": "unauthenticated", "asks": 'Bearer realm="CrowdRAG"'}


def test_a_token_that_differs_in_one_letter_is_none() -> None:
    _token, text = tokens.issue(by=UserFactory(), name="a", scopes=[], studies=None, lasts=WEEK)
    other = text[:-1] + ("0" if text[-1] != "0" else "1")
    assert sent(f"Bearer {text}")["status"] == 200
    assert sent(f"Bearer {other}")["status"] == 401


def test_a_token_that_has_expired_opens_nothing_and_stays_where_its_owner_sees_it() -> None:
    then = timezone.now() - WEEK
    token, text = tokens.issue(by=UserFactory(), name="a", scopes=[], studies=None, lasts=WEEK, now=then)
    assert sent(f"Bearer {text}")["status"] == 401
    assert ApiToken.objects.filter(pk=token.pk).exists()


def test_a_token_that_was_revoked_opens_nothing_at_once() -> None:
    user = UserFactory()
    token, text = tokens.issue(by=user, name="a", scopes=[], studies=None, lasts=WEEK)
    assert not tokens.revoke(by=UserFactory(), key=token.key)
    assert sent(f"Bearer {text}")["status"] == 200
    assert tokens.revoke(by=user, key=token.key)
    assert sent(f"Bearer {text}")["status"] == 401


def test_a_token_lasts_a_year_at_most() -> None:
    with pytest.raises(tokens.TooLongError):
        tokens.issue(by=UserFactory(), name="a", scopes=[], studies=None, lasts=timedelta(days=367))


def test_when_a_token_was_last_used_is_known_to_the_minute() -> None:
    user = UserFactory()
    script = by_token(user)
    assert ApiToken.objects.get(user=user).last_used_at is None
    script.get(STUDIES)
    first = ApiToken.objects.get(user=user).last_used_at
    assert first is not None
    script.get(STUDIES)
    assert ApiToken.objects.get(user=user).last_used_at == first
    ApiToken.objects.update(last_used_at=datetime(2026, 1, 1, tzinfo=UTC))
    script.get(STUDIES)
    assert ApiToken.objects.get(user=user).last_used_at >= first


def test_a_token_for_some_studies_finds_no_others() -> None:
    user = UserFactory()
    mine, other = (MembershipFactory(user=user, role=Role.OWNER).study for _ in range(2))
    script = by_token(user, Scope.READ, studies=[mine])
    assert [row["slug"] for row in script.get(STUDIES).json()["results"]] == [mine.slug]
    assert script.get(f"{STUDIES}{mine.slug}/").status_code == 200
    assert script.get(f"{STUDIES}{other.slug}/").status_code == 404


def test_a_token_never_opens_what_its_owner_may_not_open(study: Study) -> None:
    stranger = by_token(UserFactory())
    assert stranger.get(f"{STUDIES}{study.slug}/").status_code == 404
    # Not even where the token names the study, as after its owner was taken out of it.
    left = MembershipFactory(study=study, role=Role.OWNER)
    script = by_token(left.user, studies=[study])
    assert script.get(f"{STUDIES}{study.slug}/").status_code == 200
    left.delete()
    assert script.get(f"{STUDIES}{study.slug}/").status_code == 404
    assert script.get(STUDIES).json()["results"] == []


@pytest.mark.parametrize("broken", [{"scope": "ALL"}, {"scope": Scope.CREATE, "study": True}, {"scope": Scope.READ}])
def test_the_database_keeps_grants_sensible(broken: dict[str, object]) -> None:
    token, _text = tokens.issue(by=UserFactory(), name="a", scopes=[], studies=None, lasts=WEEK)
    if broken.pop("study", None):
        broken["study"] = StudyFactory()
    with pytest.raises(IntegrityError), transaction.atomic():
        Grant.objects.create(token=token, **broken)


@pytest.mark.parametrize("broken", [{"expiry": datetime(2020, 1, 1, tzinfo=UTC)}, {"name": ""}])
def test_the_database_keeps_tokens_named_and_ending(broken: dict[str, object]) -> None:
    token, _text = tokens.issue(by=UserFactory(), name="a", scopes=[], studies=None, lasts=WEEK)
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.filter(pk=token.pk).update(**broken)


def test_what_is_no_token_is_noted_as_a_sign_in_that_failed_once_a_minute() -> None:
    assert sent("Bearer crowdrag_guessed")["status"] == 401
    assert sent("Bearer crowdrag_guessed_again")["status"] == 401
    noted = SignInFailure.objects.get()
    assert (noted.user, noted.address) == (None, "127.0.0.1")
    login_limits.note_token_failure(address="127.0.0.1", now=noted.at + timedelta(minutes=2))
    login_limits.note_token_failure(address="192.0.2.7", now=noted.at)
    assert SignInFailure.objects.count() == 3
    # Nobody who types a password from there has to wait for it.
    account = login_limits.hash_account("anybody@example.org")
    many = [
        SignInFailure(at=noted.at, account_hash=noted.account_hash, address=noted.address)
        for _ in range(login_limits.MAX_PER_ADDRESS)
    ]
    SignInFailure.objects.bulk_create(many)
    assert login_limits.seconds_to_wait(account_hash=account, address="127.0.0.1", now=noted.at) == 0


def test_a_token_that_has_ended_is_noted_and_a_good_one_is_not() -> None:
    user = UserFactory()
    token, text = tokens.issue(by=user, name="a", scopes=[], studies=None, lasts=WEEK)
    assert sent(f"Bearer {text}")["status"] == 200
    assert not SignInFailure.objects.exists()
    ApiToken.objects.filter(pk=token.pk).update(expiry=timezone.now())
    assert sent(f"Bearer {text}")["status"] == 401
    assert SignInFailure.objects.count() == 1


def test_a_new_password_ends_all_tokens() -> None:
    user = UserFactory()
    _old, text = tokens.issue(by=user, name="a", scopes=[], studies=None, lasts=WEEK)
    assert sent(f"Bearer {text}")["status"] == 200
    user.set_password("another one entirely")
    user.save()
    assert sent(f"Bearer {text}")["status"] == 401
    assert list(tokens.list_for(user)) == []
    new, text = tokens.issue(by=user, name="b", scopes=[], studies=None, lasts=WEEK)
    assert sent(f"Bearer {text}")["status"] == 200
    assert list(tokens.list_for(user)) == [new]


def test_a_token_of_an_earlier_release_is_bound_to_the_password_when_it_is_used() -> None:
    token, text = tokens.issue(by=UserFactory(), name="a", scopes=[], studies=None, lasts=WEEK)
    ApiToken.objects.filter(pk=token.pk).update(password_digest="")
    assert sent(f"Bearer {text}")["status"] == 200
    token.refresh_from_db()
    assert token.password_digest == tokens.password_digest(token.user)
