"""A study's people, for the look at every page: links of each kind, somebody who came, what they asked."""

from datetime import timedelta

from django.utils import timezone

from crowdrag.studies.entry import enrolment, links
from crowdrag.studies.enums import MessageKind, Outcome, ReplyKind
from crowdrag.studies.messages import services
from crowdrag.studies.models import Study
from crowdrag.studies.notes import services as notes
from crowdrag.studies.participants import consents
from crowdrag.studies.saved_replies import services as saved_replies
from tests.factories import ConsentTextFactory, MembershipFactory

WAY = "writing"


def furnish_people(study: Study) -> None:
    """Invite, let in, ask and answer."""
    by, now = MembershipFactory(study=study).user, timezone.now()
    invited = links.create_personal(
        study=study, purpose=WAY, labels=["Ada", "Bea, from the pilot"], by=by, now=now, expires_at=now + timedelta(7)
    )
    links.close(link=invited[1].link, now=now)
    links.create_open(study=study, purpose=WAY, label="Poster in the library", by=by, now=now)
    platform = links.create_platform(
        study=study,
        purpose=WAY,
        label="First batch",
        platform="prolific",
        parameters=links.PLATFORM_PRESETS["prolific"],
        completion={Outcome.COMPLETED: "https://app.prolific.com/submissions/complete?cc=C0MPLETE"},
        by=by,
        now=now,
    )
    person = enrolment.enrol(link=platform, named=links.PlatformVisit("5f3c0ffee5f3c0ffee123456"), now=now)
    consents.give(participant=person, text=ConsentTextFactory(study=study), now=now)
    kinds = (MessageKind.CONTEST, MessageKind.QUESTION)
    _waiting, answered = (
        services.ask(participant=person, kind=kind, text="Why do you think so?", about="t-1", now=now) for kind in kinds
    )
    for reply in ReplyKind:
        saved_replies.save(study=study, kind=reply, title="As usual", text="Thank you for asking.", by=by, now=now)
    notes.add(participant=person, text="Came twice.", by=by, now=now)
    services.answer(message=answered, text="Because of the second passage.", by=by, now=now)
