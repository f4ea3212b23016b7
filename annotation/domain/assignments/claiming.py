"""A person claims a questionnaire: k people get each and never one more, under any number of connections at once."""

from datetime import datetime
from random import Random
from uuid import uuid4

from django.db import IntegrityError, transaction

from crowdrag.studies.domain import consenting
from crowdrag.studies.models import Arrival, Participant

from ...enums import AssignmentState, CampaignState
from ...models import Assignment, Campaign, Place
from .. import places
from . import holding, moving, problems

S = AssignmentState
# How often another place is tried where a constraint said no. It can only be so when something other than a claim gave
# the person an assignment, or a response that they wrote, in the same moment.
TRIES = 5
REFUSALS = ("assignment_nobody_twice_on_a_questionnaire", "place_nobody_twice_on_an_item", "place_nobody_judges_an_own")


def purpose(campaign: Campaign | int) -> str:
    """Return what entry links to a campaign are for: the name of its way."""
    return f"judging-{campaign.pk if isinstance(campaign, Campaign) else campaign}"


@transaction.atomic
def claim(
    *, campaign: Campaign, participant: Participant, session: str = "", now: datetime, rng: Random | None = None
) -> Assignment:
    """Give a person their next questionnaire; who has one in hand gets that one again.

    What somebody began and lost is theirs again while a place of that questionnaire is free. `session` is the visit
    from a recruitment platform: one visit stands for one questionnaire, unless that was returned.

    Raises
    ------
    problems.AssignmentProblem
        with the reason why there is none: not open, not invited, no consent, enough judged, too late, nothing left.
    """
    # The person's row is the lock: however often a button is pressed, one questionnaire comes of it.
    participant = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk, study=campaign.study_id)
    if participant.withdrawn_at or participant.erased_at:
        raise problems.LeftStudy
    mine = list(holding.of(campaign, participant))
    if (held := next((one for one in mine if one.state == S.ASSIGNED), None)) is not None:
        return _visited(held, mine, session)
    campaign = _admitted(campaign, participant, mine, session)
    for lost in mine:
        if lost.state == S.TIMED_OUT and (back := _resumed(lost, session, now)) is not None:
            return back
    if late := [one for one in mine if session and one.session == session and one.state == S.TIMED_OUT]:
        raise problems.TooLate(late[0])
    if (fresh := _fresh(campaign, participant, session, now)) is not None:
        return fresh
    # Who gave something back and finds nothing else may change their mind.
    for lost in mine:
        if lost.state == S.RETURNED and (back := _resumed(lost, session, now)) is not None:
            return back
    raise problems.NothingLeft


def obstacle(*, campaign: Campaign, participant: Participant) -> problems.AssignmentProblem | None:
    """Return why somebody would get nothing now, or None if they probably get something; only `claim` can tell."""
    if participant.withdrawn_at or participant.erased_at:
        return problems.LeftStudy()
    mine = list(holding.of(campaign, participant))
    if any(one.state == S.ASSIGNED for one in mine):
        return None
    try:
        campaign = _admitted(campaign, participant, mine, "")
    except problems.AssignmentProblem as problem:
        return problem
    lost = [one.questionnaire_id for one in mine if one.state in holding.NOT_JUDGED]
    if Place.objects.filter(questionnaire__in=lost).open().exists():
        return None
    if places.is_claimable(campaign=campaign.pk, participant=participant.pk):
        return None
    return problems.NothingLeft()


@transaction.atomic
def resume(*, assignment: Assignment, now: datetime) -> Assignment:
    """Let somebody go on with what they gave back or lost, while a place of the questionnaire is free.

    Raises
    ------
    TooLate
        if all its places are held; what is there can still be handed in.
    """
    assignment = moving.locked(assignment)
    if assignment.state == S.ASSIGNED:
        return assignment
    if assignment.state not in holding.NOT_JUDGED:
        raise problems.NotAllowed(assignment, S.ASSIGNED)
    participant, campaign = assignment.participant, assignment.questionnaire.campaign
    if participant.withdrawn_at or participant.erased_at:
        raise problems.LeftStudy
    mine = list(holding.of(campaign, participant))
    if any(one.state == S.ASSIGNED for one in mine):
        raise problems.NotAllowed(assignment, S.ASSIGNED)
    _admitted(campaign, participant, mine, "")
    back = _resumed(assignment, assignment.session, now)
    if back is None:
        raise problems.TooLate(assignment)
    return back


def _admitted(campaign: Campaign, participant: Participant, mine: list[Assignment], session: str) -> Campaign:
    """Return the campaign as it is now; raise the problem that keeps questionnaires from somebody."""
    campaign = Campaign.objects.select_related("study", "consent_text").get(pk=campaign.pk)
    if not campaign.has_places or campaign.state != CampaignState.OPEN or campaign.consent_text is None:
        raise problems.CampaignNotOpen
    if not Arrival.objects.filter(participant=participant, link__purpose=purpose(campaign)).exists():
        raise problems.NotAdmitted
    if not consenting.holds(participant=participant, text=campaign.consent_text):
        raise problems.NeedsConsent
    judged = [one for one in mine if one.state not in holding.NOT_JUDGED]
    if session and any(one.session == session for one in judged):
        raise problems.EnoughJudged(1)
    most = campaign.questionnaires_per_person
    if most is not None and len(judged) >= most:
        raise problems.EnoughJudged(most)
    return campaign


def _visited(held: Assignment, mine: list[Assignment], session: str) -> Assignment:
    """Note by which visit somebody judges what they have in hand; a visit that stands for another one is none."""
    if session and held.session != session and not any(one.session == session for one in mine):
        Assignment.objects.filter(pk=held.pk).update(session=session)
        held.session = session
    return held


def _fresh(campaign: Campaign, participant: Participant, session: str, now: datetime) -> Assignment | None:
    for _try in range(TRIES):
        try:
            with transaction.atomic():
                place = places.claimable(campaign=campaign.pk, participant=participant.pk)
                if place is None:
                    return None
                return _assign(campaign, participant, place, session, now)
        except IntegrityError as error:
            if not any(name in str(error) for name in REFUSALS):
                raise
    return None


def _assign(campaign: Campaign, participant: Participant, place: int, session: str, now: datetime) -> Assignment:
    questionnaire = Place.objects.values_list("questionnaire", flat=True).get(pk=place)
    made = Assignment.objects.create(
        questionnaire_id=questionnaire,
        participant=participant,
        external_id=uuid4().hex,
        state=S.ASSIGNED,
        assigned_at=now,
        lease_until=now + holding.lease(campaign),
        pay=campaign.pay,
        session=session,
    )
    places.hold(place, made)
    moving.record(made, "", "claimed", now=now)
    return made


def _resumed(lost: Assignment, session: str, now: datetime) -> Assignment | None:
    """Give somebody back what they lost, if a place of it is free."""
    lease = holding.lease(lost.questionnaire.campaign)
    try:
        # Undone with its savepoint where there is no place.
        with transaction.atomic():
            lost = moving.locked_alone(lost)
            return moving.move(
                lost, S.ASSIGNED, "came back", now=now, lease_until=now + lease, session=session or lost.session
            )
    except problems.NoPlace:
        return None
