"""Judging as an activity: the offer to participants, and its section on their dashboard."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.urls import reverse
from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from crowdrag.studies.activities import Activity, Offer
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study

from ..campaign_types.registry import item_type, type_of
from ..enums import AssignmentState, CampaignState, Judges
from ..models import Assignment, AttentionCheck, Campaign, TrainingAnswer, TrainingItem
from ..quality import practice
from . import claims, queries, questionnaire_content, slots
from .lifecycle import ASSIGNMENTS

_HEADING = re.compile(r"^##[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)


def activities_of(study: Study) -> list[Activity]:
    """Return a study's campaigns in which people can take part: those with slots that were opened."""
    campaigns = Campaign.objects.filter(study=study, has_slots=True).exclude(state=CampaignState.DRAFT)
    return [_activity(campaign) for campaign in campaigns.select_related("consent_text").order_by("pk")]


def title(campaign: Campaign) -> str:
    """Return the title of a campaign for judges. Its name is internal and may reveal too much."""
    return str(item_type(campaign).texts.title)


def offer(campaign: Campaign, _study: Study | None = None) -> Offer | None:
    """Return the offer of a campaign; None without a consent text."""
    if campaign.consent_text is None:
        return None
    return Offer(
        title=title(campaign),
        what=lazy(_what, str)(campaign),  # lazy: offers are loaded for every page, but their text is rarely shown
        repeats=""
        if campaign.questionnaires_per_person == 1
        else _("You can do several questionnaires, one after another."),
        minutes=campaign.minutes,
        pay=campaign.pay or 0,
        per=_("per questionnaire"),
        consent_text=campaign.consent_text,
        is_open=campaign.state == CampaignState.OPEN,
        stays=_stays(),
    )


@dataclass(frozen=True)
class InstructionSections:
    """Instructions in Markdown: the text before the first heading, then a title and a text for each heading."""

    lead: str
    sections: tuple[tuple[str, str], ...]


def instruction_sections(text: str) -> InstructionSections:
    """Split instructions at their second-level headings: the lead is shown at once, the rest on demand."""
    lead, *parts = _HEADING.split(text)
    return InstructionSections(
        lead.strip(), tuple(zip(parts[::2], (each.strip() for each in parts[1::2]), strict=True))
    )


def hourly_pay(campaign: Campaign) -> int:
    """Return the pay per hour at the stated duration, in minor units."""
    return round((campaign.pay or 0) * 60 / campaign.minutes)


def least_minutes(campaign: Campaign) -> int:
    """Return the minimum minutes for a questionnaire as stated to judges, rounded down."""
    return (campaign.minimum_seconds or 0) // 60


def has_checks(campaign: Campaign) -> bool:
    """Return whether the campaign has attention checks. Judges are told so in advance."""
    return AttentionCheck.objects.filter(questionnaire__campaign=campaign).exists()


def _what(campaign: Campaign) -> str:
    return " ".join([str(item_type(campaign).texts.task), *questionnaire_size(campaign), *_practice(campaign)])


def questionnaire_size(campaign: Campaign) -> list[str]:
    """Return sentences with the size of a questionnaire; empty before the questionnaires are drawn."""
    size = questionnaire_content.size(campaign)
    if not size.items:
        return []
    texts = item_type(campaign).texts
    sentences = [texts.size % {"n": size.items}, texts.questions % {"n": size.questions}]
    if has_checks(campaign):
        sentences.append(
            _("There may also be attention checks: they tell you what to select, or state something impossible.")
        )
    return sentences


def _practice(campaign: Campaign) -> list[str]:
    """Return a sentence about the practice before the first questionnaire; empty without practice."""
    examples = TrainingItem.objects.filter(campaign=campaign).count() or int(practice.applies(campaign))
    if not examples:
        return []
    message = ngettext(
        "Before your first questionnaire, you practise with %(n)s example. We show you the expected answers and the "
        "reasons.",
        "Before your first questionnaire, you practise with %(n)s examples. We show you the expected answers and the "
        "reasons.",
        examples,
    )
    return [message % {"n": examples}]


def _activity(campaign: Campaign) -> Activity:
    is_expert = campaign.judges == Judges.EXPERT or type_of(campaign).asks_again
    return Activity(
        name=claims.purpose(campaign),
        publishes=gettext_lazy("My answers may be published under the licence %(licence)s."),
        label=_("Judging: %(name)s") % {"name": campaign.name},
        offer=partial(offer, campaign),
        start="judging_start",
        start_args=(campaign.pk,),
        template="annotation/judging/_dashboard_card.html",
        context=partial(dashboard_section, campaign),
        review_url=partial(review_url, campaign),
        remedy=partial(reversal_url, campaign),
        about_label=partial(about_label, campaign),
        owed=partial(owed, campaign),
        is_full=partial(slots.is_full, campaign),
        awaited=partial(awaited, campaign),
        erasure=partial(erasure, campaign),
        kind=ParticipantKind.EXPERT if is_expert else ParticipantKind.CROWD,
        is_by_link_only=True,
    )


def dashboard_section(campaign: Campaign, participant: Participant) -> dict[str, Any]:
    """Return the section of a campaign on a judge's dashboard."""
    overview = queries.judge_overview(campaign, participant)
    return {
        "campaign": campaign,
        "title": title(campaign),
        "participant": participant,
        "overview": overview,
        "earned": overview.earned,
        "payer": overview.payer,
    }


def _assignment_about(campaign: Campaign, participant: Participant, about: str) -> Assignment | None:
    theirs = Assignment.objects.filter(participant=participant, questionnaire__campaign=campaign)
    return theirs.filter(external_id=about).first() if about else None


def review_url(campaign: Campaign, participant: Participant, about: str) -> str:
    """Return the URL where a reviewer sees this assignment, if it is this judge's."""
    if _assignment_about(campaign, participant, about) is None:
        return ""
    return reverse("screening_assignment", args=[participant.study.slug, campaign.pk, about])


def reversal_url(campaign: Campaign, participant: Participant, about: str) -> str:
    """Return the URL where a reviewer reverses the rejection of this judge's assignment."""
    assignment = _assignment_about(campaign, participant, about)
    if assignment is None or assignment.state != AssignmentState.REJECTED:
        return ""
    return f"{review_url(campaign, participant, about)}?open=reverse"


def about_label(campaign: Campaign, participant: Participant, about: str) -> str:
    """Return the display name of this assignment, if it is this judge's."""
    assignment = _assignment_about(campaign, participant, about)
    return _("a questionnaire from “%(title)s”") % {"title": title(campaign)} if assignment else ""


def owed(campaign: Campaign, participant: Participant) -> int:
    """Return what a participant has earned in a campaign, in minor units."""
    return ASSIGNMENTS.total_earned(participant, questionnaire__campaign=campaign)


def awaited(campaign: Campaign, participant: Participant) -> int:
    """Return the pay of a participant's judgments in a campaign that await a decision, in minor units."""
    return ASSIGNMENTS.total_awaited(participant, questionnaire__campaign=campaign)


def erasure(campaign: Campaign, participant: Participant) -> list[str]:
    """Return what happens to a participant's judgments on erasure (`erasure`); empty if there are none."""
    theirs = Assignment.objects.filter(participant=participant, questionnaire__campaign=campaign)
    trained = TrainingAnswer.objects.filter(participant=participant, training_item__campaign=campaign)
    if not theirs.exists() and not trained.exists():
        return []
    gone = _(
        "We erase the reasons and comments you wrote while judging, your reading times and the times of your answers "
        "from this server. We also erase your answers to practice examples and attention checks."
    )
    return [gone, _stays()]


def _stays() -> str:
    return _(
        "We keep the answers you gave when judging, but without anything that identifies you. We do not use them in "
        "later analyses, and someone else judges in your place."
    )
