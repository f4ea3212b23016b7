"""Sign-ins that fail: noted without what was typed, and not as many as somebody likes."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client, RequestFactory, override_settings
from django.utils import timezone

from crowdrag.accounts import login_limits
from crowdrag.accounts.models import SignInFailure
from tests.concurrency import together
from tests.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def enter(client: Client, account: str, password: str, address: str = "198.51.100.7", path: str = "/login/") -> Any:
    return client.post(path, {"username": account, "password": password}, REMOTE_ADDR=address)


@pytest.fixture
def fail() -> Any:
    """Fail so many times at an account, at a time."""

    def failing(
        times: int, account: str = "a@example.org", address: str | None = "198.51.100.7", at: Any = NOW
    ) -> None:
        for _ in range(times):
            assert login_limits.guard(account=account, address=address, check=lambda: None, now=at) is None

    return failing


def test_a_failure_is_noted_without_what_was_typed(client: Client) -> None:
    user = UserFactory(email="known@example.org")
    assert enter(client, "KNOWN@example.org", "wrong secret").status_code == 200
    assert enter(client, "my-password-in-the-wrong-field", "wrong secret").status_code == 200
    known, unknown = SignInFailure.objects.order_by("id")
    assert (known.user, known.address, unknown.user) == (user, "198.51.100.7", None)
    assert known.account_hash != unknown.account_hash
    with connection.cursor() as cursor:
        cursor.execute("SELECT failure::text FROM accounts_signinfailure failure")
        assert not any(
            word in row[0] for row in cursor.fetchall() for word in ("wrong secret", "my-password", "known@")
        )


def test_who_signs_in_leaves_no_failure(client: Client) -> None:
    user = UserFactory()
    assert enter(client, user.email, PASSWORD).status_code == 302
    assert not SignInFailure.objects.exists()


@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
def test_a_right_password_is_refused_after_too_many_wrong_ones(client: Client, fail: Any, path: str) -> None:
    user = UserFactory(is_staff=True, is_superuser=True)
    fail(login_limits.MAX_PER_ACCOUNT, user.email, at=timezone.now())
    answer = enter(client, user.email, PASSWORD, path=path)

    assert "_auth_user_id" not in client.session
    if path == "/login/":
        assert answer.status_code == 429
        assert 0 < int(answer["Retry-After"]) <= login_limits.WINDOW.total_seconds() + 1
    # From elsewhere the account is open: nobody can lock somebody else out.
    assert enter(client, user.email, PASSWORD, "203.0.113.9", path=path).status_code == 302


def test_waiting_ends_when_the_first_failure_is_old_enough(fail: Any) -> None:
    fail(login_limits.MAX_PER_ACCOUNT)
    given: dict[str, Any] = {"account": "a@example.org", "address": "198.51.100.7"}
    with pytest.raises(login_limits.TooManyFailuresError) as refused:
        login_limits.guard(**given, check=lambda: pytest.fail("tried"), now=NOW + timedelta(minutes=5))
    later = NOW + timedelta(minutes=5, seconds=refused.value.seconds)
    assert later - NOW >= login_limits.WINDOW
    user = UserFactory()
    assert login_limits.guard(**given, check=lambda: user, now=later) is user


def test_trying_while_refused_does_not_make_it_longer(fail: Any) -> None:
    fail(login_limits.MAX_PER_ACCOUNT)
    for minute in range(1, 15):
        with pytest.raises(login_limits.TooManyFailuresError):
            fail(2, at=NOW + timedelta(minutes=minute, seconds=1))
        with pytest.raises(login_limits.TooManyFailuresError):
            fail(1, at=NOW + timedelta(minutes=minute, seconds=1))
    assert SignInFailure.objects.filter(was_refused=True).count() == 14
    fail(1, at=NOW + login_limits.WINDOW + timedelta(seconds=1))


def test_many_accounts_from_one_address_are_refused_too(fail: Any) -> None:
    for number in range(login_limits.MAX_PER_ADDRESS):
        fail(1, f"{number}@example.org")
    with pytest.raises(login_limits.TooManyFailuresError):
        fail(1, "another@example.org")
    fail(1, "another@example.org", "203.0.113.9")
    for number in range(login_limits.MAX_PER_ADDRESS + 1):
        fail(1, f"{number}@example.org", None)  # behind a socket nobody can be told from another


@pytest.mark.django_db(transaction=True)
def test_many_tries_at_once_are_no_more_than_one_after_the_other() -> None:
    def attempt() -> str:
        try:
            login_limits.guard(account="a@example.org", address="198.51.100.7", check=lambda: None)
        except login_limits.TooManyFailuresError:
            return "refused"
        return "tried"

    assert together([attempt] * 24).count("tried") == login_limits.MAX_PER_ACCOUNT


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "203.0.113.5", "10.0.0.1"),  # anybody can write the header
        (1, "6.6.6.6, 203.0.113.5", "203.0.113.5"),
        (2, "6.6.6.6, 203.0.113.5, 10.0.0.2", "203.0.113.5"),
        (2, "203.0.113.5", "10.0.0.1"),
        (1, "nonsense", None),
        (1, "", "10.0.0.1"),
    ],
)
def test_where_a_request_comes_from(proxies: int, forwarded: str, expected: str | None) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", headers={"x-forwarded-for": forwarded})
    with override_settings(PROXIES=proxies):
        assert login_limits.client_address(request) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:3::1", "2001:db8:1:3::"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("198.51.100.7", "198.51.100.7"),
    ],
)
def test_failures_are_counted_by_network(address: str, expected: str) -> None:
    assert login_limits.client_origin(RequestFactory().get("/", REMOTE_ADDR=address)) == expected


def test_a_failure_is_never_rewritten_and_goes_after_a_while(fail: Any) -> None:
    fail(1, at=NOW - login_limits.RETENTION - timedelta(days=1))
    fail(1)
    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        SignInFailure.objects.update(was_refused=True)
    assert login_limits.delete_expired(NOW) == 1
    assert SignInFailure.objects.count() == 1


def test_another_address_of_the_same_network_does_not_help(fail: Any) -> None:
    user = UserFactory()
    origin = login_limits.client_origin(RequestFactory().get("/", REMOTE_ADDR="2001:db8::1"))
    fail(login_limits.MAX_PER_ACCOUNT - 1, user.email, origin, at=timezone.now())
    assert enter(Client(), user.email, "wrong", "2001:db8::2").status_code == 200
    assert enter(Client(), user.email, PASSWORD, "2001:db8::ffff").status_code == 429
    assert enter(Client(), user.email, PASSWORD, "2001:db8:0:1::1").status_code == 302


@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
def test_signing_in_again_changes_the_session_key(path: str) -> None:
    user, client = UserFactory(is_staff=True), Client()
    enter(client, user.email, PASSWORD, path="/admin/login/")
    before = client.session.session_key
    enter(client, user.email, PASSWORD, path=path)
    assert client.session["_auth_user_id"] == str(user.pk)
    if path == "/admin/login/":  # the other one knows who is signed in, and takes no password
        assert client.session.session_key != before


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:8000", 200), ("localhost", 200), ("[::1]:80", 200), ("localhost:99999", 400), ("localhost:0", 400)],
)
def test_a_host_has_a_port_that_there_is(host: str, status: int) -> None:
    assert Client(raise_request_exception=False).get("/login/", HTTP_HOST=host).status_code == status
