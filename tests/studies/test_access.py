"""Who may open what: decided by one queryset, tried for every URL and every role."""

import re

import pytest
from django.conf import settings
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study, User
from tests.factories import MembershipFactory, ParticipantFactory, StudyFactory, UserFactory
from tests.participants import as_participant
from tests.studies.rollbacks import rolled_back

pytestmark = pytest.mark.django_db

# What is sent to these by others than our pages proves by itself where it comes from.
PROVED = {"mail_stop", "writing_log", "prolific_hook", "import_form", "experiment_new"}
# Django's own: the admin checks its users itself.
OTHERS = {"admin"}


def routes(resolver: URLResolver, prefix: str = "") -> list[tuple[str, URLPattern]]:
    """Every URL pattern below a resolver with its whole route, other people's apps left out."""
    found = []
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            if pattern.app_name not in OTHERS:
                found += routes(pattern, prefix + str(pattern.pattern))
        else:
            found.append((prefix + str(pattern.pattern), pattern))
    return found


ROUTES = routes(get_resolver())
STUDY_ROUTES = [
    (route, pattern) for route, pattern in ROUTES if isinstance(getattr(pattern.callback, "access", None), Role)
]


def filled(route: str, slug: str) -> str:
    """The route's path in this study; other arguments get values that name nothing."""
    path = route.replace("<slug:slug>", slug)
    path = re.sub(r"<uuid:\w+>", "00000000-0000-4000-8000-000000000000", path)
    path = re.sub(r"<int:\w+>", "999999", path)
    return "/" + re.sub(r"<(?:\w+:)?\w+>", "nothing", path)


#: Whether a walk asks as everybody, or only as those around whom permission begins.
WALKS = [pytest.param(False, id="border"), pytest.param(True, id="everybody", marks=pytest.mark.extended)]


def roles(needed: Role | None, *, everybody: bool) -> list[Role]:
    """The lowest role that may and the highest that may not, or every role."""
    if everybody:
        return list(Role)
    may = [role for role in Role if needed is None or role >= needed]
    return [*sorted(set(Role) - set(may))[-1:], min(may)]


def has_unsafe_headers(response: HttpResponseBase) -> bool:
    """Whether a page could run scripts of others, or be shown inside a page of others."""
    policy = response.headers.get("Content-Security-Policy", "")
    others = [response.headers.get(name) for name in ("X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy")]
    return (
        "unsafe-inline" in policy
        or "unsafe-eval" in policy
        or "default-src 'self'" not in policy
        or "frame-ancestors 'none'" not in policy
        or others != ["nosniff", "DENY", "same-origin"]
    )


def test_every_view_says_who_may_open_it() -> None:
    unmarked = [route for route, pattern in ROUTES if not hasattr(pattern.callback, "access")]
    assert unmarked == []


def test_nobody_is_asked_for_a_forms_token_where_nothing_can_be_sent_and_nowhere_else() -> None:
    exempt = [
        (route, pattern)
        for route, pattern in ROUTES
        if getattr(pattern.callback, "csrf_exempt", False) and pattern.callback.access != "api"
    ]
    assert {pattern.name for _, pattern in exempt} > PROVED
    for route, pattern in exempt:
        if pattern.name not in PROVED:
            answer = Client(enforce_csrf_checks=True).post(filled(route, "mine"))
            assert (answer.status_code, answer["Allow"].split(", ")[:2]) == (405, ["GET", "HEAD"]), route
            assert "POST" not in answer["Allow"], route


def test_every_page_of_a_study_is_checked_by_the_study() -> None:
    unchecked = [
        route for route, pattern in ROUTES if "<slug:slug>" in route and not isinstance(pattern.callback.access, Role)
    ]
    assert unchecked == []


@pytest.mark.parametrize("everybody", WALKS)
def test_a_page_of_a_study_opens_for_its_members_alone(everybody: bool) -> None:
    study = StudyFactory(slug="mine")
    people: dict[str, User | None] = {"NOBODY": None, "STRANGER": MembershipFactory(role=Role.OWNER).user}
    people |= {role.name: MembershipFactory(study=study, role=role).user for role in Role}
    clients = {}
    for name, user in people.items():
        clients[name] = Client(raise_request_exception=False)
        if user:
            clients[name].force_login(user)
    wrong = []
    for route, pattern in STUDY_ROUTES:
        needed: Role = pattern.callback.access
        for method in ("get", "post"):
            asking = ["NOBODY", "STRANGER", *(role.name for role in roles(needed, everybody=everybody))]
            if method == "post" and not everybody:
                # What strangers and those who may are answered follows from who they are, not from the method.
                asking = ["NOBODY", *(role.name for role in roles(needed, everybody=False) if role < needed)]
            for name in asking:
                with rolled_back():
                    response = getattr(clients[name], method)(filled(route, "mine"))
                refusal = {"NOBODY": 302, "STRANGER": 404}.get(name) or (403 if Role[name] < needed else None)
                if refusal == 302:
                    refused = response.status_code == 302 and response["Location"].startswith(f"/{settings.LOGIN_URL}/")
                else:
                    refused = response.status_code == (refusal or 403)
                # What is posted without its fields may be refused to whoever may post.
                allowed = response.status_code < 500 and (method == "post" or not refused)
                if has_unsafe_headers(response):
                    wrong.append(f"{method} {route} {name}: unsafe headers")
                if not (refused if refusal else allowed):
                    wrong.append(f"{method} {route} {name}: {response.status_code}, not {refusal or 'open'}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_page_for_participants_opens_for_those_of_the_study_alone(method: str) -> None:
    routes = [route for route, pattern in ROUTES if "<slug:taking_part>" in route]
    marked = [route for route, pattern in ROUTES if pattern.callback.access == "participant"]
    assert routes == marked
    mine, other = ParticipantFactory(), ParticipantFactory()
    for route in routes:
        path = filled(route.replace("<slug:taking_part>", mine.study.slug), "none")
        nobody, stranger, member, person = Client(), Client(), Client(), Client()
        as_participant(stranger, other)
        member.force_login(MembershipFactory(study=mine.study, role=Role.OWNER).user)
        as_participant(person, mine)
        for client in (nobody, stranger, member):
            assert getattr(client, method)(path).status_code == 403, route
        assert getattr(person, method)(path).status_code != 403, route


def test_operator_opens_every_study() -> None:
    operator = UserFactory(is_superuser=True, is_staff=True)
    StudyFactory()
    assert list(Study.objects.for_user(operator, Role.OWNER)) == list(Study.objects.all())


def test_a_refusal_says_whom_to_ask() -> None:
    study = StudyFactory(slug="mine")
    viewer = Client()
    viewer.force_login(MembershipFactory(study=study, role=Role.VIEWER).user)
    staff = Client()
    staff.force_login(UserFactory(is_staff=True))
    owner = Client()
    owner.force_login(MembershipFactory(study=study, role=Role.OWNER).user)
    refusals = [viewer.get("/operations/"), staff.get("/admin/studies/user/"), viewer.get("/studies/mine/manage/")]
    Study.objects.update(archived_at=timezone.now())
    refusals.append(owner.post("/studies/mine/about/"))
    assert [refusal.status_code for refusal in refusals] == [403] * 4
    asked = [(refusal.context["needs_operator"], refusal.context["needs_role"]) for refusal in refusals]
    assert asked == [(True, False), (True, False), (False, True), (False, False)]


def test_an_inactive_member_sees_nothing() -> None:
    membership = MembershipFactory(role=Role.OWNER, user__is_active=False)
    assert not Study.objects.for_user(membership.user).exists()


@pytest.mark.parametrize("role", list(Role))
def test_for_user_keeps_studies_of_at_least_the_role(role: Role) -> None:
    user = UserFactory()
    held = {kept: MembershipFactory(user=user, role=kept).study for kept in Role}
    MembershipFactory(role=Role.OWNER)
    expected = {study.pk for kept, study in held.items() if kept >= role}
    assert {study.pk for study in Study.objects.for_user(user, role)} == expected


@pytest.mark.extended
def test_security_headers_are_on_every_other_page() -> None:
    """Those of a study are looked at above."""
    client = Client()
    client.force_login(UserFactory(is_superuser=True, is_staff=True))
    study = StudyFactory()
    of_studies = {route for route, _ in STUDY_ROUTES}
    unsafe = [
        route
        for route, _ in ROUTES
        if route not in of_studies and has_unsafe_headers(client.get(filled(route, study.slug)))
    ]
    assert unsafe == []
