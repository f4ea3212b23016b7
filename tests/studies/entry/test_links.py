"""Links: made by researchers, shown once, closed; and where people are led at the end of their visit."""

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.studies.entry import links
from crowdrag.studies.enums import EntryKind, Outcome, Role
from crowdrag.studies.models import EntryLink, Participant
from crowdrag.studies.participants import identity
from tests.factories import MembershipFactory
from tests.studies.activity import (
    PROLIFIC,
    WAY,
    agree,
    door,
    knock,
    member,
    offered_study,
    open_link,
    platform_link,
    text_of,
)

pytestmark = pytest.mark.django_db


# Where people are led


LEADS_ELSEWHERE = (
    "http://app.prolific.com/", "//evil.example", "javascript:alert(1)", "https://user@app.prolific.com/",
    "https://app.prolific.com:8443/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/",
    "https://app.prolific.com\\@evil.example/", "https://evil example/", "https://ev\u0131l.example/",
    "https:///path", "https://a" + "a" * 600 + ".example", "https://[",
)  # fmt: skip


def test_an_address_that_browsers_may_read_otherwise_is_refused() -> None:
    study = offered_study()
    for address in LEADS_ELSEWHERE:
        with pytest.raises(links.AddressError):
            links.check_address(address)
        with pytest.raises(links.AddressError):
            platform_link(study, completion={Outcome.COMPLETED: address})


def test_people_are_led_only_where_the_links_owner_said(client: Client) -> None:
    study = offered_study()
    end = "https://app.prolific.com/submissions/complete?cc=C1"
    link = platform_link(study, completion={Outcome.NO_CONSENT: end, Outcome.COMPLETED: end})
    knock(client, door(link) + "&next=https://evil.example/&completion=https://evil.example/")
    person = Participant.objects.get()
    back = links.participant_completion_target(participant=person, outcome=Outcome.COMPLETED)
    assert back == links.CompletionTarget("Prolific", end, "C1", is_completed=True)
    assert links.participant_completion_target(participant=person, outcome=Outcome.WITHDRAWN) is None
    # What came into the table by another door is not led to either.
    EntryLink.objects.filter(pk=link.pk).update(completion={Outcome.COMPLETED: "javascript:alert(1)"})
    assert links.participant_completion_target(participant=person, outcome=Outcome.COMPLETED) is None


def test_parameters_by_any_name(client: Client) -> None:
    study = offered_study()
    link = platform_link(study, platform="lab", parameters={"participant": "vp"})
    knock(client, f"{reverse('join', args=[link.token])}?vp=007&PROLIFIC_PID=other")
    assert identity.decrypt(Participant.objects.get().identity) == "lab:007"
    for wrong in ({}, {"participant": ""}, {"participant": "a b"}, {"participant": "a", "study": "a"}, {"who": "a"}):
        with pytest.raises(links.LinkError):
            platform_link(study, parameters=wrong)
    assert links.PLATFORM_PRESETS["prolific"] == PROLIFIC


# The researchers' page


def test_researchers_make_links_see_each_once_and_close_them(client: Client) -> None:
    study = offered_study()
    client.force_login(MembershipFactory(study=study, role=Role.EDITOR).user)
    address = reverse("entry_links", args=[study.slug])
    page = client.post(address, {"kind": "PERSONAL", "personal-labels": "Ada\n<b>Bob</b>\n\n", "personal-purpose": WAY})
    made = page.context["made"]
    assert [one["label"] for one in made] == ["Ada", "<b>Bob</b>"]
    assert all(links.read_key(one["address"]) for one in made)
    words = page.content.decode()
    assert "<b>Bob" not in words
    assert "&lt;b&gt;Bob" in words
    again = client.get(address).content.decode()
    assert made[0]["address"] not in again
    assert "no-store" in page["Cache-Control"]

    ada = EntryLink.objects.get(label="Ada")
    renewed = client.post(reverse("entry_link_renew", args=[study.slug, ada.pk])).context["made"]
    assert links.find(made[0]["address"]) is None
    fresh = links.find_personal(renewed[0]["address"])
    assert fresh is not None
    assert (fresh.participant_id, fresh.label) == (ada.participant_id, "Ada")
    client.post(reverse("entry_link_close", args=[study.slug, fresh.pk]))
    assert links.find(renewed[0]["address"]) is None


def test_researchers_make_links_for_platforms() -> None:
    study = offered_study()
    client, address = member(study), reverse("entry_links", args=[study.slug])
    fields = {
        "label": "batch", "platform": "prolific", "participant": "PROLIFIC_PID", "study": "STUDY_ID",
        "session": "SESSION_ID", "end_COMPLETED": "https://app.prolific.com/x?cc=1", "purpose": WAY, "days": "7",
    }  # fmt: skip
    sent = {"kind": "PLATFORM", **{f"platform-{name}": value for name, value in fields.items()}}
    for name, wrong in (
        ("end_COMPLETED", "http://evil"), ("study", "PROLIFIC_PID"), ("session", "a b"), ("purpose", "none"),
        ("days", "0"),
    ):  # fmt: skip
        assert client.post(address, sent | {f"platform-{name}": wrong}).status_code == 422, name
    assert client.post(address, sent).status_code == 302
    assert client.post(address, {"kind": "OPEN", "open-label": "poster", "open-purpose": WAY}).status_code == 302
    link = EntryLink.objects.get(kind=EntryKind.PLATFORM)
    assert link.completion == {"COMPLETED": "https://app.prolific.com/x?cc=1"}
    assert link.expires_at is not None
    knock(Client(), door(link))
    page = client.get(address)
    rows = {row.link.kind: row for row in page.context["shared"]}
    assert (rows["PLATFORM"].funnel.arrived, rows["PLATFORM"].funnel.consented) == (1, 0)
    agree(Participant.objects.get(), text_of(study))
    assert links.funnels(study)[link.pk] == links.Funnel(1, 1)
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in page.content.decode()


def test_another_studys_links_are_out_of_reach() -> None:
    study, foreign = offered_study(), open_link(offered_study())
    client = member(study, Role.OWNER)
    for name in ("entry_link_close", "entry_link_renew"):
        assert client.post(reverse(name, args=[study.slug, foreign.pk])).status_code == 404
    foreign.refresh_from_db()
    assert foreign.closed_at is None
