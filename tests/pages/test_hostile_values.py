"""What nobody means, in every address: it is refused (400) or means nothing (404), and is never an error of ours.

Which parameters an address has is not listed here: those count that the page asks its query for.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

import pytest
from django.core.handlers import wsgi
from django.http import QueryDict
from django.test import Client
from django.urls import resolve

from crowdrag.studies.models import Participant
from tests.factories import StudyFactory, UserFactory
from tests.pages.full_study import furnished_study
from tests.participants import as_participant
from tests.studies.test_access import ROUTES, filled

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.extended]

# As they are written in an address. Each of these is tried in each parameter ...
ALONE = ["%00", "%ED%A0%80", "-1", str(10**30), "0160-03-29T09:32:48-21:34", "9999-12-31"]
# ... and each of these in all parameters of an address at once.
TOGETHER = [
    "%FF", "%25", "(((((", "x" * 5000,
    "0", str(2**31), str(2**63), "9" * 5000, "1e400", "nan", "-inf", "%C2%B2", "%D9%A1",
    "0001-01-01", "10000-01-01", "-4713-11-24", "294277-01-01T00:00:00Z", "0001-01-01T00:00:00%2B14:00",
    "9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00%00",
]  # fmt: skip
LINK = re.compile(rb'(?:href|action|src|hx-get)="(/[^"#]*)')


class Asked(QueryDict):
    """A query that remembers what it was asked for."""

    names: ClassVar[set[str]] = set()

    def __getitem__(self, key: str) -> Any:
        self.names.add(str(key))
        return super().__getitem__(key)

    def getlist(self, key: str, default: Any = None) -> Any:
        self.names.add(str(key))
        return super().getlist(key, default)

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return super().__contains__(key)


@pytest.fixture(autouse=True)
def _asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsgi, "QueryDict", Asked)


def sent(client: Client, method: str, address: str) -> int:
    """The answer's status; what is sent piece by piece is sent to its end."""
    answer = getattr(client, method)(address)
    if answer.streaming:
        for _piece in answer:
            pass
    return int(answer.status_code)


def status(client: Client, address: str) -> int:
    return sent(client, "get", address)


def parameters(client: Client, path: str) -> set[str]:
    Asked.names.clear()
    status(client, f"{path}?x=1")
    return Asked.names - {"x", "None"}


def linked(client: Client, start: str, most: int = 1) -> Iterator[str]:
    """Every path that a link leads to, so many of each pattern."""
    waiting, seen, visits = [start], {start}, dict[str, int]()
    for path in waiting:
        match = resolve(path)
        if match.app_names == ["admin"] or visits.get(match.route, 0) >= most:
            continue
        visits[match.route] = visits.get(match.route, 0) + 1
        yield path
        answer = client.get(path)
        if answer.headers.get("Content-Type", "").startswith("text/html"):
            for found in LINK.findall(answer.content):
                link = urlsplit(found.decode()).path
                if link not in seen and not link.startswith("/static/"):
                    seen.add(link)
                    waiting.append(link)


def faults(client: Client, paths: list[str]) -> list[str]:
    """The addresses of these pages with hostile values that are answered with an error of ours."""
    found = []
    for path in paths:
        if names := sorted(parameters(client, path)):
            queries = [f"{quote(name)}={value}" for name in names for value in ALONE]
            queries += ["&".join(f"{quote(name)}={value}" for name in names) for value in TOGETHER]
            found += [f"{path}?{query[:100]}" for query in queries if status(client, f"{path}?{query}") >= 500]
    return found


@pytest.mark.timeout(900)
def test_no_value_in_the_query_of_a_page_is_an_error_of_ours() -> None:
    user = UserFactory(is_staff=True, is_superuser=True)
    study = furnished_study(user)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    paths = list(linked(client, "/studies/"))
    reached = {resolve(path).route for path in paths}
    paths += [filled(route, study.slug) for route, _ in ROUTES if route not in reached and "api/v1" not in route]
    assert {"/studies/tides/review/", "/operations/access-log/", "/releases/"} <= {*paths}
    # Those that say how well the system is answer 503 when it is not.
    assert faults(client, [path for path in paths if resolve(path).url_name not in {"healthz", "readyz"}]) == []
    person = Client(raise_request_exception=False)
    participant = Participant.objects.filter(study=study).earliest("pk")
    as_participant(person, participant)
    own = [route.replace("<slug:taking_part>", study.slug) for route, _ in ROUTES if "<slug:taking_part>" in route]
    assert faults(person, [filled(route, study.slug) for route in own]) == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [("int", "0"), ("int", str(2**63)), ("int", str(10**30)), ("int", "9" * 5000)]
    + [("str", value) for value in ("%00", "%ED%A0%80", "%FF", "%0A", "x" * 5000, str(10**30))],
    ids=lambda value: value[:30],
)
def test_no_value_in_the_path_of_an_address_is_an_error_of_ours(kind: str, value: str) -> None:
    """As an operator, who may open everything: pages, files and endpoints."""
    study = StudyFactory(slug="tides")
    client = Client(raise_request_exception=False)
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    converters = r"<int:\w+>" if kind == "int" else r"<(?:str:|path:)?\w+>"
    found = []
    for route, _pattern in ROUTES:
        path = filled(re.sub(converters, "HOSTILE", route), study.slug).replace("HOSTILE", value)
        if value in path:
            found += [f"{method} {path[:200]}" for method in ("get", "post") if sent(client, method, path) >= 500]
    assert found == []
