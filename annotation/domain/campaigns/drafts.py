"""Copying a campaign into a new draft, and deleting a draft that nobody saw."""

from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from crowdrag.recruitment.models import PlatformStudy
from crowdrag.studies.models import EntryLink

from ...enums import CampaignState
from ...models import Assignment, Campaign, GoldLabel, Item, Judgment, TrainingItem
from .. import assignments
from ..checks import gold
from . import building, changing, questions
from .problems import BadCampaign, NotDraft

LONGEST_NAME: Final = 100


@transaction.atomic
def clone(*, campaign: Campaign, name: str = "", now: datetime) -> Campaign:
    """Make a draft with the same terms, design, questions, texts and known labels; nothing that was drawn or judged.

    Parameters
    ----------
    name
        of the copy; without one that of the campaign with "(copy)" behind it.

    Raises
    ------
    BadCampaign
        if there is a campaign of this name.
    """
    campaign = building.hold(campaign)
    made = changing.draft(
        study=campaign.study, name=name or _copy_name(campaign), kind=campaign.kind, now=now, source=campaign.source,
        terms=changing.terms_of(campaign),
    )  # fmt: skip
    made.design = campaign.design
    made.instructions, made.consent_text = campaign.instructions, campaign.consent_text
    made.save(update_fields=["design", "instructions", "consent_text"])
    questions.put(made, questions.of(campaign))
    _copy_known(campaign, made)
    return made


@transaction.atomic
def delete(*, campaign: Campaign) -> None:
    """Delete a draft with all that was drawn for it; versions of its texts stay with the study.

    Raises
    ------
    NotDraft
        once it was opened or judged.
    BadCampaign
        if something else rests on it: another campaign, a link that people have, or a study on a platform.
    """
    campaign = building.hold(campaign)
    is_judged = Assignment.objects.filter(questionnaire__campaign=campaign).exists()
    if campaign.state != CampaignState.DRAFT or is_judged or Judgment.objects.filter(item__campaign=campaign).exists():
        raise NotDraft(campaign)
    purpose = assignments.purpose(campaign)
    reasons = [
        (campaign.asked_again.exists(), _("Another campaign asks its items again. Delete that one first.")),
        (
            EntryLink.objects.filter(study=campaign.study, purpose=purpose, closed_at=None).exists(),
            _("It has an open link that people may have received. Close the link first."),
        ),
        (
            PlatformStudy.objects.filter(study=campaign.study, purpose=purpose).exists(),
            _("It has a study on a recruitment platform."),
        ),
    ]
    if problems := [reason for applies, reason in reasons if applies]:
        raise BadCampaign({"": " ".join(problems)})
    campaign.training.all().delete()
    campaign.questionnaires.all().delete()
    campaign.items.all().delete()
    campaign.delete()


def _copy_name(campaign: Campaign) -> str:
    taken = set(Campaign.objects.filter(study=campaign.study_id).values_list("name", flat=True))
    for number in range(1, len(taken) + 2):
        end = f" ({_('copy')})" if number == 1 else f" ({_('copy')} {number})"
        name = campaign.name[: LONGEST_NAME - len(end)] + end
        if name not in taken:
            break
    return name


def _copy_known(campaign: Campaign, made: Campaign) -> None:
    """Copy the items with known labels and those to learn from."""
    copies: dict[int, Item] = {}
    for item in gold.kept_items(campaign):
        copies[item.pk] = Item.objects.create(
            campaign=made,
            topic_id=item.topic_id,
            pair_id=item.pair_id,
            response_id=item.response_id,
            external_id=item.external_id,
        )
    labels = GoldLabel.objects.filter(item__in=copies)
    GoldLabel.objects.bulk_create(
        GoldLabel(item=copies[row.item_id], dimension_id=row.dimension_id, value=row.value, explanation=row.explanation)
        for row in labels
    )
    TrainingItem.objects.bulk_create(
        TrainingItem(campaign=made, item=copies[row.item_id], position=row.position) for row in campaign.training.all()
    )
