"""The gateway's pages and admin: who sees them, what they show, and that they show no key."""

import pytest
from django.urls import reverse
from django.utils import timezone

from crowdrag.llm import endpoints, erasure
from crowdrag.llm.enums import Fault
from crowdrag.llm.models import Attempt, Call, Endpoint
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study, User
from crowdrag.studies.study import services

pytestmark = pytest.mark.django_db
SECRET = "sk-verysecretindeed0123456789"


@pytest.fixture
def operator(client):
    user = User.objects.create_superuser("op@example.org", "correct horse battery")
    client.force_login(user)
    return client


@pytest.fixture
def viewer(client, study):
    user = User.objects.create_user("v@example.org", "correct horse battery")
    services.set_role(study=study, user=user, role=Role.VIEWER, by=None)
    client.force_login(user)
    return client


@pytest.fixture
def used(ask, paid, monkeypatch):
    monkeypatch.setenv("CROWDRAG_LLM_KEY_ODD", SECRET)
    Endpoint.objects.update(key_variable="CROWDRAG_LLM_KEY_ODD", key_host="127.0.0.1")
    paid.refresh_from_db()
    return ask("ok:1", "fail,ok:2", "cut,ok:3", "bad_request", endpoint=paid)


def test_the_operators_page_shows_endpoints_and_spend_and_no_key(operator, used):
    text = operator.get(reverse("models")).content.decode()
    row = operator.get(reverse("models")).context["endpoints"][0]
    assert (row["endpoint"].name, row["endpoint"].unknown, list(row["problems"])) == ("odd", 1, [])
    assert "odd" in text
    assert SECRET not in text


def test_an_endpoint_can_be_tried_out(operator, used, server):
    url = reverse("model_test", args=[Endpoint.objects.get().pk])
    before = len(server.seen)
    Endpoint.objects.update(is_allowed=False)
    answer = operator.post(url, headers={"hx-request": "true"})
    assert "badge--bad" in answer.content.decode()  # what is asked is no behaviour of this server
    assert len(server.seen) == before + 1
    assert [operator.post(url).status_code, operator.get(url).status_code] == [302, 405]
    assert Attempt.objects.filter(study=None).count() == 2


def test_the_operators_page_asks_the_database_the_same_however_many_endpoints_there_are(
    operator, used, django_assert_max_num_queries
):
    for n in range(5):
        Endpoint.objects.create(name=f"e{n}", base_url="https://example.org/v1", model="m")
    with django_assert_max_num_queries(6):
        operator.get(reverse("models"))


def test_members_see_what_their_study_asked(viewer, used, study):
    page = viewer.get(reverse("study_models", args=[study.slug]))
    assert {row["fault"] for row in page.context["use"]["faults"]} == {Fault.SERVER, Fault.CUT, Fault.REJECTED}
    assert SECRET not in page.content.decode()
    use = endpoints.study_usage(study=study)
    [row] = use["rows"]
    assert (row["calls"], row["answered"], row["failed"], row["attempts"]) == (4, 3, 1, 6)
    assert use["left"] == use["budget"] - use["held"] - use["settled"]
    assert use["unknown"] == 1
    Study.objects.update(llm_budget=None)
    page = viewer.get(reverse("study_models", args=[study.slug]))
    assert (page.status_code, page.context["use"]["left"]) == (200, None)


def test_the_admin_shows_everything_but_keys_and_settles_what_is_unknown(operator, used):
    for model in ("endpoint", "call", "attempt", "studyspend"):
        text = operator.get(reverse(f"admin:llm_{model}_changelist")).content.decode()
        assert SECRET not in text
    for row in (Endpoint.objects.get(), Call.objects.first(), Attempt.objects.first()):
        url = reverse(f"admin:llm_{row._meta.model_name}_change", args=[row.pk])
        response = operator.get(url)
        assert response.status_code == 200
        assert SECRET not in response.content.decode()
    unknown = Attempt.objects.unsettled()
    chosen = {"action": "settle_as_not_billed", "_selected_action": [attempt.pk for attempt in unknown]}
    assert operator.post(reverse("admin:llm_attempt_changelist"), chosen).status_code == 302
    assert not Attempt.objects.unsettled().exists()


def test_erasing_leaves_the_digest_and_the_price(ask, server, study):
    schema = {"enum": ["never"]}
    ask('ok:Ünlikely"text"', "ok:other", "echo_key:quoted")
    ask('document:Ünlikely"text" more', schema=schema)
    assert erasure.erase_containing(['Ünlikely"text"'], now=timezone.now()) == 2
    assert erasure.erase_containing(['Ünlikely"text"']) == 0
    for call in Call.objects.filter(erased_at__isnull=False):
        assert len(call.digest) == 64
        assert (call.request, call.text, call.data, call.refusal, call.error) == (None, None, None, None, "")
        assert call.attempts.count() >= 1
        assert not any(attempt.reply or attempt.error for attempt in call.attempts.all())
    sent = len(server.seen)
    [answer] = ask('ok:Ünlikely"text"')
    assert (answer.text, answer.cached) == ('Ünlikely"text"', False)
    assert len(server.seen) == sent + 1
    assert ask("ok:other")[0].cached


def test_a_study_takes_its_texts_along(ask, study, server):
    ask("ok")
    study.delete()
    assert not Call.objects.exists()
    assert not Attempt.objects.exists()
