"""Claim a questionnaire: exactly k people get each one, also under concurrent claims.

Many people claim at the same time, and most of the last ones get nothing. So a claim consists of a few prepared
statements, and if nothing is left, the first one already shows it. The participant's row is locked before the slot.
"""

from datetime import datetime, timedelta
from random import Random, SystemRandom
from typing import Any, Final, NamedTuple
from uuid import uuid4

from django.db import IntegrityError, transaction
from psycopg.types.numeric import Int4, Int8

from analysis.stats.judge_tiers import may_continue
from crowdrag import prepared_statements
from crowdrag.assignments.problems import Blocked, LeftStudy, NeedsConsent, NotAllowed, NothingLeft, WorkProblem
from crowdrag.studies.models import Participant

from ..enums import AssignmentState, CampaignState
from ..models import Assignment, Campaign
from . import draws, eligibility, leases, problems, slots
from .lifecycle import ASSIGNMENTS

S = AssignmentState
# How often another slot is tried after a constraint violation. This happens only if the participant got an assignment
# in another way, or wrote a response, at the same moment.
TRIES: Final = 5
REFUSALS: Final = (
    "assignment_nobody_twice_on_a_questionnaire",
    "slot_nobody_twice_on_an_item",
    "slot_nobody_judges_an_own_response",
)
CLAIMED: Final = "claimed"
# Processes that were forked from one another would share any other generator.
_RNG: Final = SystemRandom()

_LOCK = "SELECT 1 FROM studies_participant WHERE id = %(participant)s FOR NO KEY UPDATE"

# A single statement, for a consistent snapshot. Otherwise a participant who has just got the last slot on another
# connection could be told that nothing is left.
_CONTEXT = """
    SELECT p.withdrawn_at IS NOT NULL OR p.erased_at IS NOT NULL,
        c.has_slots AND c.state = %(open)s AND c.consent_text_id IS NOT NULL,
        EXISTS (
            SELECT 1 FROM studies_arrival a JOIN studies_entrylink l ON l.id = a.link_id
            WHERE a.participant_id = %(participant)s AND l.purpose = %(purpose)s),
        EXISTS (
            SELECT 1 FROM studies_consent s WHERE s.participant_id = %(participant)s
            AND s.text_id = c.consent_text_id AND s.withdrawn_at IS NULL),
        EXISTS (SELECT 1 FROM writing_response own WHERE own.participant_id = %(participant)s),
        EXISTS (SELECT 1 FROM annotation_slot free WHERE free.campaign_id = c.id AND free.holder_id IS NULL),
        (SELECT b.reason FROM studies_participantblock b WHERE b.participant_id = p.id AND b.lifted_at IS NULL),
        c.questionnaires_per_person, c.lease_minutes, c.pay, c.policy, c.control_share,
        (SELECT s.epoch FROM annotation_policystate s WHERE s.campaign_id = c.id AND c.policy <> 'FIXED'),
        (SELECT avg(l.spam_probability) FROM annotation_livecompetence l
            WHERE l.campaign_id = c.id AND l.participant_id = p.id AND c.policy = 'COMPETENCE'),
        c.id, p.id,
        (SELECT json_agg(json_build_array(mine.id, mine.state, mine.session) ORDER BY mine.assigned_at, mine.id)
            FROM annotation_assignment mine JOIN annotation_questionnaire q ON q.id = mine.questionnaire_id
            WHERE mine.participant_id = %(participant)s AND q.campaign_id = c.id)
    FROM annotation_campaign c JOIN studies_participant p ON p.study_id = c.study_id
    WHERE c.id = %(campaign)s AND p.id = %(participant)s
"""

_COLUMNS: Final = [column.attname for column in Assignment._meta.concrete_fields]
# Creates the assignment and its first transition.
_ASSIGN = f"""
    WITH made AS (
        INSERT INTO annotation_assignment (questionnaire_id, participant_id, external_id, state, is_included,
            assigned_at, lease_until, pay, comment, session)
        VALUES (%(questionnaire)s, %(participant)s, %(external_id)s, %(state)s, true, %(now)s, %(lease)s, %(pay)s, '',
            %(session)s)
        RETURNING *
    ), noted AS (
        INSERT INTO annotation_assignmenttransition (assignment_id, before, after, cause, note, at)
        SELECT id, '', state, %(cause)s, '', %(now)s FROM made
    )
    SELECT {", ".join(_COLUMNS)} FROM made
"""  # noqa: S608 -- names of columns

# Prefix of the campaigns' names as activities.
PREFIX = "judging-"


class KnownAssignment(NamedTuple):
    """An assignment that the participant already has in the campaign."""

    pk: int
    state: str
    session: str


class ClaimContext(NamedTuple):
    """What a claim needs to know about a campaign and a participant."""

    has_left: bool
    is_open: bool
    is_admitted: bool
    consents: bool
    wrote: bool
    any_free: bool
    blocked_for: str | None
    most: int | None
    lease_minutes: int
    pay: int | None
    policy: str
    control_share: int
    epoch: int | None
    spam: float | None
    campaign: int
    participant: int
    assignments: list[KnownAssignment]

    @property
    def draw_terms(self) -> draws.DrawTerms:
        """How the next questionnaire is chosen."""
        return draws.DrawTerms(self.policy, self.control_share, self.epoch, self.spam)

    def in_state(self, *states: str) -> list[KnownAssignment]:
        """Return the participant's assignments in one of these states, oldest first."""
        return [one for one in self.assignments if one.state in states]

    def problem(self, session: str = "") -> WorkProblem | None:
        """Return why the participant can get no questionnaire, regardless of free slots; None if they may."""
        judged = [one for one in self.assignments if one.state not in leases.NOT_JUDGED]
        if self.has_left:
            return LeftStudy(Assignment)
        if self.blocked_for is not None:
            return Blocked(Assignment, self.blocked_for)
        if not self.is_open:
            return problems.CampaignNotOpen()
        if not self.is_admitted:
            return problems.NotAdmitted()
        if not self.consents:
            return NeedsConsent()
        if session and any(one.session == session for one in judged):
            return problems.EnoughJudged(1)
        if self.most is not None and len(judged) >= self.most:
            return problems.EnoughJudged(self.most)
        if judged and self._is_limited:
            return problems.EnoughJudged(len(judged))
        return None

    @property
    def _is_limited(self) -> bool:
        """Whether the policy gives this judge, who has judged, no further questionnaire for now."""
        if not self.draw_terms.limits_unproven or may_continue(self.spam):
            return False
        return not draws.is_control_judge(
            campaign=self.campaign, participant=self.participant, control_share=self.control_share
        )


def purpose(campaign: Campaign | int) -> str:
    """Return the purpose of entry links to a campaign."""
    return f"{PREFIX}{campaign.pk if isinstance(campaign, Campaign) else campaign}"


def claim(
    *, campaign: Campaign, participant: Participant, session: str = "", now: datetime, rng: Random = _RNG
) -> Assignment:
    """Assign the next questionnaire to a participant, or return the one that they are working on.

    A questionnaire that they began and lost is resumed if it has a free slot. `session` is the visit from a recruitment
    platform: one visit is for one questionnaire, unless that was returned. `rng` draws where the campaign's policy is
    random.

    Raises
    ------
    WorkProblem
        with the reason: not open, not invited, no consent, limit reached, too late, or nothing left.
    """
    context = _claim_context(campaign, participant)
    if not context.assignments:
        if (problem := context.problem(session)) is not None:
            raise problem
        if not context.any_free:
            raise NothingLeft(Assignment)
    for last in (False,) * (TRIES - 1) + (True,):
        try:
            with transaction.atomic():
                return _claim(campaign, participant, session, now, rng)
        except IntegrityError as error:
            if last or not any(name in str(error) for name in REFUSALS):
                raise
    raise NothingLeft(Assignment)


def obstacle(*, campaign: Campaign, participant: Participant, session: str = "") -> WorkProblem | None:
    """Return why a participant would get nothing now, or None if they probably get something. Only `claim` can tell."""
    context = _claim_context(campaign, participant)
    if context.has_left:
        return LeftStudy(Assignment)
    if context.in_state(S.ASSIGNED):
        return None
    if (problem := context.problem(session)) is not None:
        return problem
    lost = [one.pk for one in context.in_state(*leases.NOT_JUDGED)]
    if slots.has_free(questionnaires=Assignment.objects.filter(pk__in=lost).values("questionnaire")):
        return None
    if late := [one for one in context.in_state(S.TIMED_OUT) if session and one.session == session]:
        return problems.TooLate(Assignment.objects.get(pk=late[0].pk))
    if slots.has_claimable(campaign=campaign.pk, excluded=_excluded(context, campaign, participant)):
        return None
    return NothingLeft(Assignment)


@transaction.atomic
def resume(*, assignment: Assignment, now: datetime) -> Assignment:
    """Resume an assignment that was returned or timed out, if its questionnaire has a free slot.

    Raises
    ------
    AnotherInHand
        if the participant has another questionnaire in progress.
    TooLate
        if all its slots are held. The answers so far can still be submitted.
    WorkProblem
        if the participant cannot get other questionnaires either.
    """
    assignment = ASSIGNMENTS.lock(assignment)
    if assignment.state == S.ASSIGNED:
        return assignment
    context = _claim_context(assignment.questionnaire.campaign, assignment.participant)
    if assignment.state not in leases.NOT_JUDGED:
        raise NotAllowed(assignment, S.ASSIGNED)
    if context.in_state(S.ASSIGNED):
        raise problems.AnotherInHand
    if (problem := context.problem()) is not None:
        raise problem
    if (back := _resumed(assignment.pk, "", now)) is None:
        raise problems.TooLate(assignment)
    return back


def _claim(campaign: Campaign, participant: Participant, session: str, now: datetime, rng: Random) -> Assignment:
    # The lock on the participant ensures that repeated clicks give only one questionnaire.
    _lock(participant)
    # Read after the lock is acquired, to see what the participant did on another connection meanwhile.
    context = _claim_context(campaign, participant)
    if context.has_left:
        raise LeftStudy(Assignment)
    if held := context.in_state(S.ASSIGNED):
        return _visited(held[0], context, session)
    if (problem := context.problem(session)) is not None:
        raise problem
    for lost in context.in_state(S.TIMED_OUT):
        if (back := _resumed(lost.pk, session, now)) is not None:
            return back
        if session and lost.session == session:
            raise problems.TooLate(Assignment.objects.get(pk=lost.pk))
    excluded, terms = _excluded(context, campaign, participant), context.draw_terms
    if terms.is_random:
        drawn = draws.lock_drawn_slot(campaign=campaign.pk, excluded=excluded, terms=terms, rng=rng)
        if drawn is not None:
            assignment = _assign(context, participant, (drawn.slot, drawn.questionnaire), session, now)
            draws.log_choice(assignment=assignment.pk, drawn=drawn, terms=terms)
            return assignment
    elif (slot := slots.lock_free_slot(campaign=campaign.pk, excluded=excluded)) is not None:
        return _assign(context, participant, slot, session, now)
    # If nothing else is left, participants may resume what they returned.
    for lost in context.in_state(S.RETURNED):
        if (back := _resumed(lost.pk, session, now)) is not None:
            return back
    raise NothingLeft(Assignment)


def _lock(participant: Participant) -> None:
    with prepared_statements.cursor() as cursor:
        cursor.execute(_LOCK, {"participant": Int8(participant.pk)})


def _claim_context(campaign: Campaign, participant: Participant) -> ClaimContext:
    arguments: dict[str, Any] = {
        "campaign": Int8(campaign.pk),
        "participant": Int8(participant.pk),
        "purpose": purpose(campaign),
        "open": str(CampaignState.OPEN),
    }
    with prepared_statements.cursor() as cursor:
        cursor.execute(_CONTEXT, arguments)
        row = cursor.fetchone()
    if row is None:
        raise problems.NotAdmitted  # the campaign of another study
    *facts, known = row
    return ClaimContext._make([*facts, [KnownAssignment(*each) for each in known or ()]])


def _excluded(context: ClaimContext, campaign: Campaign, participant: Participant) -> list[int]:
    """Return the questionnaires that this participant must not get, without a query for most new participants."""
    if not context.assignments and not context.wrote:
        return []
    return eligibility.excluded_questionnaires(campaign=campaign.pk, participant=participant.pk)


def _visited(held: KnownAssignment, context: ClaimContext, session: str) -> Assignment:
    """Store the visit of the current assignment, unless that visit belongs to another assignment."""
    if session and not any(one.session == session for one in context.assignments):
        Assignment.objects.filter(pk=held.pk).update(session=session)
    return Assignment.objects.select_related("questionnaire__campaign__study", "participant").get(pk=held.pk)


def _assign(
    context: ClaimContext, participant: Participant, slot: tuple[int, int], session: str, now: datetime
) -> Assignment:
    pay = None if context.pay is None else Int4(context.pay)
    arguments: dict[str, Any] = {
        "questionnaire": Int8(slot[1]),
        "participant": Int8(participant.pk),
        "external_id": uuid4().hex,
        "state": str(S.ASSIGNED),
        "now": now,
        "lease": now + timedelta(minutes=context.lease_minutes),
        "pay": pay,
        "session": session,
        "cause": CLAIMED,
    }
    with prepared_statements.cursor() as cursor:
        cursor.execute(_ASSIGN, arguments)
        assignment = Assignment.from_db("default", _COLUMNS, cursor.fetchone())
    slots.assign(slot[0], assignment)
    return assignment


def _resumed(lost: int, session: str, now: datetime) -> Assignment | None:
    """Resume a lost assignment; None if its questionnaire has no free slot."""
    try:
        # The savepoint undoes the transition if there is no slot.
        with transaction.atomic():
            assignment = ASSIGNMENTS.lock_alone(lost)
            until = now + leases.lease_length(assignment.questionnaire.campaign)
            visit = session or assignment.session
            return ASSIGNMENTS.move(assignment, S.ASSIGNED, "came back", now=now, lease_until=until, session=visit)
    except problems.NoSlot:
        return None
