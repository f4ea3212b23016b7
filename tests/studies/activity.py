"""A study that offers a way of taking part, and somebody at its door."""

from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowdrag.studies.entry import links
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Consent, ConsentText, EntryLink, Participant, Study
from tests.factories import ConsentTextFactory, MembershipFactory, StudyFactory, WritingPlanFactory

WAY = "writing"
PROLIFIC = {"participant": "PROLIFIC_PID", "study": "STUDY_ID", "session": "SESSION_ID"}
PERSON = "5f3c0ffee5f3c0ffee123456"


def offered_study(**fields: Any) -> Study:
    """A study whose writing is open, at 12.50 for 25 minutes."""
    study = StudyFactory(currency="EUR", **fields)
    text = ConsentTextFactory(
        study=study, text="# What we record\n\nEvery key.", log_licence="CC-BY-4.0", timing_licence="CC0-1.0"
    )
    WritingPlanFactory(study=study, consent_text=text, pay=1250, minutes=25)
    return study


def text_of(study: Study) -> ConsentText:
    return study.writing_plan.consent_text  # type: ignore[attr-defined]


def open_link(study: Study, **fields: Any) -> EntryLink:
    return links.create_open(study=study, purpose=WAY, label="poster", by=None, now=timezone.now(), **fields)


def platform_link(study: Study, **fields: Any) -> EntryLink:
    common: dict[str, Any] = {"platform": "prolific", "parameters": PROLIFIC, "label": "first batch"}
    return links.create_platform(study=study, purpose=WAY, by=None, now=timezone.now(), **(common | fields))


def personal_link(study: Study, label: str = "the third from the left", **fields: Any) -> links.LinkWithKey:
    common: dict[str, Any] = {"by": None, "now": timezone.now(), **fields}
    return links.create_personal(study=study, purpose=WAY, labels=[label], **common)[0]


def door(link: EntryLink, person: str = PERSON) -> str:
    """The address with which a platform opens its link; that of an open link has no parameters."""
    address = reverse("join", args=[link.token])
    return f"{address}?PROLIFIC_PID={person}&STUDY_ID=s1&SESSION_ID=t1" if link.platform else address


def knock(client: Client, address: str) -> Any:
    """Open the page, press its button."""
    page = client.get(address)
    return client.post(address, {"visit": page.context["visit"]} if page.context and "visit" in page.context else {})


def agree(participant: Participant, text: ConsentText) -> Consent:
    from crowdrag.studies.participants import consents

    return consents.give(participant=participant, text=text, now=timezone.now() - timedelta(minutes=1))


def member(study: Study, role: Role = Role.EDITOR) -> Client:
    """Return the client of a new member."""
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client
