"""A study that can be released, with something to leave out and something to decide on; and a release of it in each of
its states."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from analysis.models import Release
from analysis.releases import builds, services
from analysis.releases.choices import Choices, Logs, Passages, Timing
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import withdrawal
from tests.analysis.releases.consents import agrees, all_agree, study
from tests.analysis.releases.release_actions import built, drafted, published
from tests.factories import ParticipantFactory, ResponseFactory

TITLE = "Tides and harbours: answers by people and by a model, judged in pairs"
MAIL = "jane.doe@example.org"
SAID: dict[str, Any] = {
    "title": TITLE,
    "description": "Why do tides differ from harbour to harbour? People and a model answered from the same passages.",
    "creators": [
        {"name": "Ada Lovelace", "affiliation": "The University of Somewhere", "orcid": "0000-0002-1825-0097"},
        {"name": "Charles Babbage", "affiliation": "", "orcid": ""},
    ],
}
CHOICES = Choices(logs=Logs.FULL, timing=Timing.MINUTE, passages=Passages.TEXTS, passage_terms="Public domain.")


def releasable(**more: Any) -> Study:
    """Make the study: all but one agreed to a release, and in one text stands an address."""
    made = all_agree(study(slug="tides"))
    for name, value in {"title": "Tides and harbours", "contact": "tides@example.org", **more}.items():
        setattr(made, name, value)
    made.save()
    human = made.responses.get(external_id="human")
    for name, text, agreed in (
        ("found", f"Harbours see more of it [0]. Write to {MAIL} for more.", True),
        ("silent", "Some harbours see no tide at all [0].", False),
    ):
        person = ParticipantFactory(study=made, external_id=name)
        agrees(made, name, releases_text=agreed)
        ResponseFactory(study=made, topic=human.topic, style=human.style, participant=person, text=text)
    return made


def worked(run: Run) -> Run:
    """Have a run worked on in this process, as a worker would."""
    ended = lifecycle.wait(run)
    assert (ended.state, ended.error) == ("DONE", "")
    return ended


def withdraws(made: Study, name: str = "writer") -> None:
    """Let somebody withdraw and have what they gave erased."""
    withdrawal.erase(participant=Participant.objects.get(study=made, external_id=name), now=timezone.now())


def in_state(made: Study, state: str) -> Release:
    """Make a version that is a draft, building, failed, ready, published, embargoed, marked or withdrawn."""
    if state in ("draft", "building", "failed"):
        release = drafted(made, CHOICES, **SAID)
        if state != "draft":
            run = builds.start(release=release)
            if state == "failed":
                lifecycle.cancel(run=run)
    elif state == "ready":
        release = built(made, CHOICES, **SAID)
    else:
        until = timezone.now() + timedelta(days=90) if state == "embargoed" else None
        release = published(made, CHOICES, **SAID, embargo_until=until)
        if state == "marked":
            withdraws(made)
        elif state == "withdrawn":
            services.withdraw(release=release, reason="The passages were those of another study.")
    release.refresh_from_db()
    return release
