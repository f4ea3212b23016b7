"""The campaign for a model's judgments: a copy of the people's campaign."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from crowdrag.studies.models import Participant, Study
from writing.corpus.imports import bulk
from writing.models import Response

from ..campaign_types.registry import item_type
from ..campaigns import questionnaires
from ..campaigns.problems import NotDraft, NotReady
from ..enums import AssignmentState, CampaignState, Inference, Judges
from ..models import (
    Assignment,
    AssignmentTransition,
    Campaign,
    CampaignDimension,
    Item,
    Pair,
    Questionnaire,
    QuestionnaireItem,
)
from . import stimuli
from .stimuli import Stimulus

# Models judge each item separately, so the size of a questionnaire has no meaning. This only limits it.
MOST_IN_A_QUESTIONNAIRE: Final = 1000
LONGEST_NAME: Final = 100
CAUSE: Final = "a model judges"


def find_campaign(source: Campaign, inference: str) -> Campaign | None:
    """Return the campaign in which models were asked a campaign's current questions; None if there is none."""
    dimension_ids = list(source.campaign_dimensions.order_by("position").values_list("dimension", flat=True))
    again = Campaign.objects.filter(
        study=source.study, source=source, judges=Judges.MODEL, inference=inference, instructions=source.instructions
    )
    for campaign in again.order_by("-id"):
        if list(campaign.campaign_dimensions.order_by("position").values_list("dimension", flat=True)) == dimension_ids:
            return campaign
    return None


def generate_items(*, source: Campaign, now: datetime) -> None:
    """Generate the questionnaires of a draft that has none, because they define its items. Idempotent.

    Nothing happens if no item matches the design.
    """
    if source.state != CampaignState.DRAFT or questionnaires.is_drawn(source):
        return
    with suppress(NotDraft, NotReady):
        questionnaires.build(campaign=source, now=now)


def ensure_items(*, source: Campaign, inference: str, things: Sequence[Stimulus], now: datetime) -> dict[Stimulus, int]:
    """Return the items of the models' campaign for these stimuli; create those that are missing.

    Call it in a transaction. It locks the study, so that concurrent runs do not create pairs, items or entries twice.
    """
    bulk.lock_imports(source.study)
    campaign = find_campaign(source, inference) or _make(source, inference, now)
    items = _items(campaign, things)
    _enter(campaign, list(items.values()), now)
    return items


def ensure_assignments(*, items: Sequence[int], participant: Participant, now: datetime) -> None:
    """Assign the questionnaires with these items to a model. Accepted from the start: each answer is independent."""
    questionnaires = Questionnaire.objects.filter(entries__item__in=items).distinct()
    for questionnaire in questionnaires.exclude(assignments__participant=participant).order_by("pk"):
        assignment = Assignment.objects.create(
            questionnaire=questionnaire, participant=participant, state=AssignmentState.ACCEPTED, assigned_at=now
        )
        AssignmentTransition.objects.create(assignment=assignment, after=AssignmentState.ACCEPTED, cause=CAUSE, at=now)


def ensure_pairs(study: Study, things: Sequence[Stimulus]) -> dict[Stimulus, int]:
    """Return the rows of presented pairs; create those that are missing. The caller has locked the study."""
    lefts = {thing.a for thing in things}
    rows = Pair.objects.filter(study=study, a__in=lefts).values_list("pk", "a", "b")
    known = {Stimulus(a, b): pk for pk, a, b in rows}
    missing = [thing for thing in things if thing not in known]
    created = Pair.objects.bulk_create(
        (Pair(study=study, a_id=thing.a, b_id=thing.b) for thing in missing if thing.b is not None),
        batch_size=bulk.BATCH,
    )
    return known | dict(zip(missing, (pair.pk for pair in created), strict=True))


def _make(source: Campaign, inference: str, now: datetime) -> Campaign:
    campaign = Campaign.objects.create(
        study=source.study,
        name=_name(source, inference),
        # The type of the items. The type of judge is in `judges`.
        kind=item_type(source).kind,
        judges=Judges.MODEL,
        inference=inference,
        k=1,
        instructions=source.instructions,
        state=CampaignState.OPEN,
        source=source,
        created_at=now,
        opened_at=now,
        questionnaires_per_person=None,
        minimum_seconds=None,
        allows_comments=False,
    )
    CampaignDimension.objects.bulk_create(
        CampaignDimension(campaign=campaign, dimension_id=question.dimension_id, position=question.position)
        for question in source.campaign_dimensions.order_by("position")
    )
    return campaign


def _name(source: Campaign, inference: str) -> str:
    how = "models, all dimensions at once" if inference == Inference.COMBINED else "models, one dimension at a time"
    number = 1
    while True:
        ending = f" ({how}{f' {number}' if number > 1 else ''})"
        name = source.name[: LONGEST_NAME - len(ending)] + ending
        if not Campaign.objects.filter(study=source.study, name=name).exists():
            return name
        number += 1


def _items(campaign: Campaign, things: Sequence[Stimulus]) -> dict[Stimulus, int]:
    known = _known(campaign)
    missing = [thing for thing in things if thing not in known]
    if missing:
        pairs = ensure_pairs(campaign.study, [thing for thing in missing if thing.b is not None])
        responses = {pk for thing in missing for pk in thing.responses}
        topics = dict(Response.objects.filter(pk__in=responses).values_list("pk", "topic"))
        created = Item.objects.bulk_create(
            (
                Item(
                    campaign=campaign,
                    topic_id=topics[thing.a],
                    response_id=thing.a,
                    statement=thing.statement,
                    retrieved_id=thing.retrieved,
                )
                if thing.b is None
                else Item(campaign=campaign, topic_id=topics[thing.a], pair_id=pairs[thing])
                for thing in missing
            ),
            batch_size=bulk.BATCH,
        )
        known |= dict(zip(missing, (item.pk for item in created), strict=True))
    return {thing: known[thing] for thing in things}


def _known(campaign: Campaign) -> dict[Stimulus, int]:
    stimuli_of_campaign = stimuli.stimuli_of_items(Item.objects.filter(campaign=campaign).values_list("pk", flat=True))
    return {thing: pk for pk, thing in stimuli_of_campaign.items()}


def _enter(campaign: Campaign, items: Sequence[int], now: datetime) -> None:
    """Add items that are in no questionnaire yet to the last one, and to new ones when it is full."""
    entered = set(
        QuestionnaireItem.objects.filter(questionnaire__campaign=campaign, item__in=items).values_list(
            "item", flat=True
        )
    )
    missing = [item for item in items if item not in entered]
    while missing:
        last = Questionnaire.objects.filter(campaign=campaign).order_by("-position", "-pk").first()
        held = last.entries.count() if last is not None else MOST_IN_A_QUESTIONNAIRE
        if last is None or held >= MOST_IN_A_QUESTIONNAIRE:
            number = 0 if last is None else (last.position or 0) + 1
            last = Questionnaire.objects.create(
                campaign=campaign, external_id=f"models-{number}", position=number, created_at=now
            )
            held = 0
        now_in, missing = missing[: MOST_IN_A_QUESTIONNAIRE - held], missing[MOST_IN_A_QUESTIONNAIRE - held :]
        QuestionnaireItem.objects.bulk_create(
            QuestionnaireItem(questionnaire=last, item_id=item, position=held + number)
            for number, item in enumerate(now_in, start=1)
        )
