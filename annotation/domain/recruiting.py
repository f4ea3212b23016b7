"""Judging as a recruitment platform sees it: what is freed when somebody gives up, who is needed, how work stands."""

from collections.abc import Sequence
from typing import Final

from crowdrag.recruitment import listeners
from crowdrag.recruitment.enums import LocalStatus
from crowdrag.recruitment.listeners import RecruitmentNeeds, StatusChanged, Visit
from crowdrag.studies.models import Study

from ..enums import AssignmentState
from ..models import Assignment, Campaign, Place
from . import assignments

PREFIX: Final = "judging"
_HERE: Final = {
    AssignmentState.ASSIGNED: LocalStatus.WORKING,
    AssignmentState.SUBMITTED: LocalStatus.HANDED_IN,
    AssignmentState.SURPLUS: LocalStatus.HANDED_IN,
    AssignmentState.ACCEPTED: LocalStatus.ACCEPTED,
    AssignmentState.REJECTED: LocalStatus.REJECTED,
}


def register() -> None:
    """Listen for all campaigns."""
    listeners.register(PREFIX, heard, needs=needs, here=here)


def heard(said: StatusChanged) -> None:
    """Free the place of a visit that is over there, where nothing was handed in here."""
    campaign = _campaign(said.study, said.purpose)
    if campaign is not None:
        assignments.heard(
            session=said.session,
            status=said.status,
            at=said.at,
            now=said.now,
            campaign=campaign,
            participant=said.participant,
        )


def needs(study: Study, purpose: str) -> RecruitmentNeeds | None:
    """Say how many more visits a campaign needs: a visit is one questionnaire."""
    campaign = _campaign(study, purpose)
    if campaign is None:
        return None
    places = Place.objects.filter(campaign=campaign)
    done = places.filter(holder__state__in=[AssignmentState.SUBMITTED, AssignmentState.ACCEPTED]).count()
    at_work = places.filter(holder__state=AssignmentState.ASSIGNED).count()
    return RecruitmentNeeds(places.count() - done, at_work, dict(campaign.eligibility))


def here(study: Study, purpose: str, visits: Sequence[Visit]) -> dict[str, LocalStatus]:
    """Say how the work of visits stands."""
    campaign = _campaign(study, purpose)
    if campaign is None:
        return {}
    stands = dict.fromkeys((session for session, _person in visits), LocalStatus.NOTHING)
    rows = Assignment.objects.filter(questionnaire__campaign=campaign, session__in=stands).order_by("pk")
    whose = dict(visits)
    for session, person, state in rows.values_list("session", "participant_id", "state"):
        if whose[session] == person:
            stands[session] = _HERE.get(AssignmentState(state), LocalStatus.GONE)
    return stands


def _campaign(study: Study, purpose: str) -> Campaign | None:
    number = purpose.removeprefix(f"{PREFIX}-")
    return Campaign.objects.filter(study=study, pk=int(number)).first() if number.isdecimal() else None
