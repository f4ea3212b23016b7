"""The part of the study with a row in every table that people judged here: places, checks, gold, training, money."""

from datetime import timedelta
from uuid import uuid4

from django.db import transaction

from annotation.enums import (
    AssignmentState,
    CampaignKind,
    CampaignState,
    GoalKind,
    GoalOutcome,
    Inference,
    Judges,
    JudgingOutcome,
    Spot,
)
from annotation.models import (
    Assignment,
    AssignmentChoice,
    AssignmentDecision,
    AssignmentPayment,
    AssignmentTransition,
    AttentionCheck,
    CampaignGoal,
    CheckAnswer,
    GoalLook,
    InjectionTrial,
    ItemConfidence,
    ItemTime,
    JudgingAnswer,
    JudgingPrompt,
    Judgment,
    KnownLabel,
    LiveAgreement,
    LiveCompetence,
    PracticeAnswer,
    QuestionnaireItem,
    Slot,
    TrainingAnswer,
    TrainingItem,
)
from crowdrag.studies.enums import DecisionKind, ParticipantKind
from crowdrag.studies.models import Participant, Study, User
from tests.annotation import open_campaign
from tests.factories import NOW, CampaignFactory, ParticipantFactory

# Judgments of the campaign below, in assignments of every state.
JUDGMENTS = 22
SESSION = "platforms-own-session"
_HOLD = (AssignmentState.ASSIGNED, AssignmentState.SUBMITTED, AssignmentState.ACCEPTED)


def handed_out(study: Study, person: Participant, member: User, hostile: str) -> open_campaign.World:
    """Make an open campaign that was judged: one questionnaire in each state that there is."""
    made = open_campaign.world(
        study=study, name="handed out", k=3, per_questionnaire=3, design={"seed": 7, "topics": [hostile]},
        eligibility={"languages": ["en"]}, tax=19,
    )  # fmt: skip
    _checked(made, hostile)
    CampaignFactory(study=study, kind=CampaignKind.EXPERT, judges=Judges.EXPERT, source=made.campaign, has_slots=True,
                    state=CampaignState.DRAFT)  # fmt: skip
    _asked_of_models(made, hostile)
    sheet, other = made.questionnaires
    people = [person, *made.judges(7)]
    for number, state in enumerate(AssignmentState.values):
        # Two questionnaires with three places each: three of the eight hold none of the first, and none asks twice.
        _given(made, sheet if number < 4 else other, people[number], state, member, hostile)
    dimension = made.dimensions[0]
    LiveAgreement.objects.create(campaign=made.campaign, dimension=dimension, items=1, judgments=2, computed_at=NOW)
    CampaignGoal.objects.create(campaign=made.campaign, dimension=dimension, kind=GoalKind.BEST, systems=["human", "x"])
    GoalLook.objects.create(
        campaign=made.campaign, at=NOW, judgments=2, votes=2, topics=1, judges=1, outcome=GoalOutcome.DECIDED,
        answer=["human"], comparisons=[{"first": "human", "second": "x", "difference": 1.5}], grades=[], closed_at=NOW,
    )  # fmt: skip
    LiveCompetence.objects.create(
        campaign=made.campaign, participant=person, dimension=dimension, spam_probability=0.5, judgments=2,
        computed_at=NOW,
    )  # fmt: skip
    return made


def _asked_of_models(made: open_campaign.World, hostile: str) -> None:
    JudgingPrompt.objects.create(study=made.study, name="judge", text=hostile, created_at=NOW)
    model = ParticipantFactory(study=made.study, kind=ParticipantKind.MODEL)
    item = made.questionnaires[0].entries.first().item
    JudgingAnswer.objects.create(
        participant=model, item=item, outcome=JudgingOutcome.REFUSED, attempts=2, digest="0" * 64, is_own=True,
        answered_at=NOW,
    )  # fmt: skip
    InjectionTrial.objects.create(
        measurement=uuid4(), participant=model, pair=item.pair, dimension=made.dimensions[0],
        inference=Inference.COMBINED, attack="plain", kind="order", spot=Spot.END, target=-1, plain=0, attacked=-1,
        measured_at=NOW,
    )  # fmt: skip


def _checked(made: open_campaign.World, hostile: str) -> None:
    sheet = made.questionnaires[0]
    entry = sheet.entries.first()
    QuestionnaireItem.objects.filter(pk=entry.pk).update(has_known_label=True)
    KnownLabel.objects.create(item=entry.item, dimension=made.dimensions[0], value=1, explanation=hostile)
    options = [{"value": value, "label": hostile} for value in (0, 1)]
    AttentionCheck.objects.create(questionnaire=sheet, position=0, text=hostile, options=options, expected=1)
    item = open_campaign.make_items(made.campaign, made.responses, reverse=True)[0]
    TrainingItem.objects.create(campaign=made.campaign, item=item, position=0)


@transaction.atomic
def _given(made, sheet, person: Participant, state: str, member: User, hostile: str) -> None:
    given = Assignment.objects.create(
        questionnaire=sheet, participant=person, external_id=f"given-{state}", state=AssignmentState.ASSIGNED,
        assigned_at=NOW, lease_until=NOW + timedelta(hours=1), pay=400, session=SESSION,
    )  # fmt: skip
    TrainingAnswer.objects.create(
        training_item=made.campaign.training.get(), participant=person, dimension=made.dimensions[0], value=-1,
        answered_at=NOW,
    )  # fmt: skip
    PracticeAnswer.objects.create(
        campaign=made.campaign, participant=person, dimension=made.dimensions[0], value=1, answered_at=NOW
    )
    questions = list(made.questions(given))
    # Some were left in the middle; what they answered is kept.
    part = questions if state not in (AssignmentState.ASSIGNED, AssignmentState.RETURNED) else questions[:1]
    part = part if state != AssignmentState.TIMED_OUT else []
    for item, dimension in part[:4]:
        Judgment.objects.create(
            assignment=given, item=item, dimension=dimension, value=-1, justification=hostile, judged_at=NOW, revision=2
        )
    for check in sheet.checks.all():
        CheckAnswer.objects.create(assignment=given, check_asked=check, value=0, revision=3, answered_at=NOW)
    ItemTime.objects.create(
        assignment=given, item=questions[0][0], visit="v", active_seconds=0.1, away_seconds=1e-9, looks=2, leaves=1,
        changes=1, first_at=NOW, last_at=NOW,
    )  # fmt: skip
    ItemConfidence.objects.create(
        assignment=given, item=questions[0][0], is_unsure=state == AssignmentState.ACCEPTED, revision=2, stated_at=NOW
    )
    AssignmentTransition.objects.create(
        assignment=given, before="ASSIGNED", after=state, cause="x", note=hostile, at=NOW, by=member
    )
    AssignmentChoice.objects.create(
        assignment=given, policy="INFORMATION", epoch=1, arm="POLICY", tier="unproven", probability=0.25, free_slots=2
    )
    if state in _HOLD:
        free = Slot.objects.filter(questionnaire=sheet).open().order_by("rank").first()
        Slot.objects.filter(pk=free.pk).update(holder=given)
    if state in (AssignmentState.ACCEPTED, AssignmentState.REJECTED):
        AssignmentPayment.objects.create(assignment=given, amount=400, reason=state.lower(), at=NOW, by=member)
        AssignmentDecision.objects.create(
            assignment=given, about=DecisionKind.INCLUDE, holds=state == AssignmentState.ACCEPTED, reason=hostile,
            evidence={"seconds": 1}, decided_at=NOW, decided_by=member,
        )  # fmt: skip
    Assignment.objects.filter(pk=given.pk).update(
        state=state, submitted_at=NOW, seconds=0.3, active_seconds=0.2, comment=hostile, reviewer=member,
        reviewing_until=NOW,
    )  # fmt: skip
