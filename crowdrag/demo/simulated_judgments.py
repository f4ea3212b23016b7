"""Storage of the simulated crowd's judgments, marked as simulated."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction

from annotation.enums import AssignmentState, CampaignKind, CampaignState, Judges
from annotation.models import (
    Assignment,
    AssignmentTransition,
    Campaign,
    CampaignDimension,
    Dimension,
    Instructions,
    Item,
    Judgment,
    Pair,
    Questionnaire,
    QuestionnaireItem,
)
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study
from writing.corpus.imports import bulk
from writing.enums import Origin
from writing.models import Response

from . import crowd, texts

NAME = "Simulated crowd"
SECOND_NAME = "Simulated crowd, on what the model wrote"
# Fewer people than in the published study, so that each answers several questionnaires and competence can be estimated.
# A small spread, so that a response has similar merit in both waves of judgments.
CROWD_SETTINGS = crowd.CrowdSettings(participants=15, spread=0.4)
# The mean merit of the local model's responses: far below people's because it is a very small model.
MODEL_MERIT = -1.5


def responses(study: Study) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Return the IDs of each topic's responses, and the expected merit of each response."""
    merits = json.loads((texts.FOLDER / "expected_merits.json").read_text())
    topics: dict[str, list[str]] = {}
    expected: dict[str, float] = {}
    for response in Response.objects.filter(study=study).included().with_people().order_by("topic__external_id", "id"):
        topics.setdefault(response.topic.external_id, []).append(response.external_id)
        by_run = merits["runs"].get(response.participant.external_id, 0.0)
        centre = MODEL_MERIT if response.origin == Origin.MODEL else by_run
        expected[response.external_id] = merits["responses"].get(response.external_id, centre)
    return topics, expected


def unjudged(study: Study, simulated: crowd.Crowd) -> crowd.Crowd:
    """Keep only pairs of a simulation that the simulated crowd has not judged yet, in either order."""
    waves = Campaign.objects.filter(study=study, name__in=(NAME, SECOND_NAME))
    sides = Pair.objects.filter(items__campaign__in=waves).values_list("a__external_id", "b__external_id")
    judged = {frozenset(pair) for pair in sides}
    kept = [
        replace(questionnaire, pairs=pairs)
        for questionnaire in simulated.questionnaires
        if (pairs := tuple(pair for pair in questionnaire.pairs if {pair.left, pair.right} not in judged))
    ]
    numbers = {questionnaire.number for questionnaire in kept}
    return replace(
        simulated,
        questionnaires=tuple(kept),
        assignments=tuple(
            questionnaire for questionnaire in simulated.assignments if questionnaire.questionnaire in numbers
        ),
        judgments=tuple(g for g in simulated.judgments if {g.pair.left, g.pair.right} not in judged),
    )


@transaction.atomic
def store(*, study: Study, simulated: crowd.Crowd, now: datetime) -> Campaign | None:
    """Store the crowd's judgments of new pairs as a campaign; None if there are none."""
    bulk.lock_imports(study)
    simulated = unjudged(study, simulated)
    if not simulated.questionnaires:
        return None
    campaign = Campaign.objects.create(
        study=study,
        name=SECOND_NAME if Campaign.objects.filter(study=study, name=NAME).exists() else NAME,
        kind=CampaignKind.PAIRWISE,
        judges=Judges.CROWD,
        k=simulated.settings.judges,
        state=CampaignState.CLOSED,
        is_simulated=True,
        instructions=Instructions.objects.filter(study=study).order_by("-version", "id").first(),
        created_at=now,
    )
    dimensions = _ask(campaign, simulated.settings.dimensions)
    items = _items(campaign, simulated)
    assignments = _assignments(campaign, simulated, items, now)
    Judgment.objects.bulk_create(
        [
            Judgment(
                assignment=assignments[judgment.questionnaire, judgment.participant],
                item=items[judgment.pair],
                dimension=dimensions[judgment.dimension],
                value=judgment.value,
                judged_at=judgment.judged_at,
            )
            for judgment in simulated.judgments
        ],
        batch_size=2000,
    )
    return campaign


def _ask(campaign: Campaign, names: tuple[str, ...]) -> dict[str, Dimension]:
    dimensions = {name: Dimension.objects.filter(study=campaign.study, name=name).latest("version") for name in names}
    CampaignDimension.objects.bulk_create(
        CampaignDimension(campaign=campaign, dimension=dimension, position=position)
        for position, dimension in enumerate(dimensions.values())
    )
    return dimensions


def _items(campaign: Campaign, simulated: crowd.Crowd) -> dict[crowd.Pair, Item]:
    by_id = {response.external_id: response for response in Response.objects.filter(study=campaign.study)}
    shown = [pair for questionnaire in simulated.questionnaires for pair in questionnaire.pairs]
    known = {(pair.a_id, pair.b_id): pair for pair in Pair.objects.filter(study=campaign.study)}
    sides = [(by_id[pair.left], by_id[pair.right]) for pair in shown]
    new = [Pair(study=campaign.study, a=a, b=b) for a, b in sides if (a.pk, b.pk) not in known]
    known |= {(pair.a_id, pair.b_id): pair for pair in Pair.objects.bulk_create(new)}
    items = Item.objects.bulk_create(
        Item(campaign=campaign, pair=known[a.pk, b.pk], topic_id=a.topic_id) for a, b in sides
    )
    return dict(zip(shown, items, strict=True))


def _assignments(
    campaign: Campaign, simulated: crowd.Crowd, items: dict[crowd.Pair, Item], now: datetime
) -> dict[tuple[int, str], Assignment]:
    questionnaires = {}
    for simulated_one in simulated.questionnaires:
        questionnaire = Questionnaire.objects.create(
            campaign=campaign, external_id=f"simulated-{simulated_one.number}", created_at=now
        )
        questionnaires[simulated_one.number] = questionnaire
        QuestionnaireItem.objects.bulk_create(
            QuestionnaireItem(questionnaire=questionnaire, item=items[pair], position=position)
            for position, pair in enumerate(simulated_one.pairs, start=1)
        )
    people = _people(campaign.study, simulated, now)
    rows = {
        (assignment.questionnaire, assignment.participant): Assignment(
            questionnaire=questionnaires[assignment.questionnaire],
            participant=people[assignment.participant],
            state=AssignmentState.ACCEPTED,
            assigned_at=assignment.started_at,
            submitted_at=assignment.submitted_at,
            seconds=(assignment.submitted_at - assignment.started_at) / timedelta(seconds=1),
        )
        for assignment in simulated.assignments
    }
    Assignment.objects.bulk_create(rows.values())
    AssignmentTransition.objects.bulk_create(
        AssignmentTransition(assignment=row, after=AssignmentState.ACCEPTED, cause="simulated", at=row.submitted_at)
        for row in rows.values()
        if row.submitted_at
    )
    return rows


def _people(study: Study, simulated: crowd.Crowd, now: datetime) -> dict[str, Participant]:
    wave = Campaign.objects.filter(study=study, is_simulated=True).count()
    people = Participant.objects.bulk_create(
        Participant(
            study=study,
            external_id=f"{person.id}-{wave}",
            kind=ParticipantKind.CROWD,
            is_simulated=True,
            created_at=now,
            platform_facts={"simulated_spam_probability": list(person.spam_probability)},
        )
        for person in simulated.truth.people
    )
    return {person.id: row for person, row in zip(simulated.truth.people, people, strict=True)}
