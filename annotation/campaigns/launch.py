"""Launch a campaign: check what is missing; open, pause and close it."""

import re
from datetime import datetime
from typing import Final

import numpy as np
from django.db import transaction
from django.urls import reverse

from crowdrag.studies import money
from crowdrag.studies.activities import Finding, Readiness, undisclosed
from crowdrag.studies.entry import links
from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import EntryLink, User
from crowdrag.webhooks import outbox

from ..enums import CampaignState, Judges
from ..judging import claims, slots
from ..models import Campaign
from ..policies import services as policy_services
from ..quality import known_labels
from . import allocation, forecasts, questionnaires, questions
from .design import PICKED, read_design
from .forecasts import Forecast
from .problems import BadCampaign, NotReady, WrongState

# Hardly anybody reads and understands faster than this (words per minute; adults read 200 to 300).
FAST: Final = 350
# Above this ratio of the longest to the shortest questionnaire, equal pay is unfair.
UNEQUAL: Final = 1.1
MOST_SHARE_OF_A_TEXT: Final = 2
# Judges see responses as A and B, one below the other on a phone, so texts should not say left and right.
SIDE: Final = re.compile(r"\b(left|right)\b", re.IGNORECASE)


def readiness(
    campaign: Campaign, forecast: Forecast | None = None, measures: allocation.Measures | None = None
) -> Readiness:
    """Return problems that prevent a launch, and warnings."""
    forecast = forecast or forecasts.forecast(campaign)
    outcome = Readiness()
    if not forecast.items:
        nothing = questionnaires.nothing_to_draw(campaign)
        outcome.problems.append(_finding(campaign, nothing, "campaign_edit", "items", action="Edit the item selection"))
    if not forecast.dimensions:
        outcome.problems.append(_finding(campaign, "There are no questions.", "campaign_questions", action="Add one"))
    for text, name, page in (
        (campaign.instructions, "instructions", "campaign_instructions"),
        (campaign.consent_text, "consent text", "campaign_consent"),
    ):
        if text is None:
            outcome.problems.append(_finding(campaign, f"The {name} is missing.", page, action=f"Write the {name}"))
    # 0 is an amount that somebody entered: the judges are volunteers.
    if campaign.judges == Judges.CROWD and campaign.pay is None:
        missing = "The pay per questionnaire is missing. Enter 0 for volunteers."
        outcome.problems.append(_finding(campaign, missing, "campaign_edit", "id_pay", action="Set the pay"))
    if forecast.is_drawn and not questionnaires.is_current(campaign):
        outcome.problems.append(
            "A response was erased or excluded after the questionnaires were generated. Generate them again."
        )
    _of_words(campaign, outcome)
    if forecast.items:
        _of_time_and_pay(campaign, forecast, outcome)
        _of_people(campaign, forecast, outcome)
        _of_items(campaign, forecast, measures, outcome)
    return outcome


def _finding(campaign: Campaign, text: str, page: str, anchor: str = "", *, action: str = "Edit") -> Finding:
    """Return a problem or a warning with the link to the page of the setup, and the field, where it is resolved."""
    url = reverse(page, args=[campaign.study.slug, campaign.pk])
    return Finding(text, url=f"{url}#{anchor}" if anchor else url, action=action)


@transaction.atomic
def open_campaign(*, campaign: Campaign, now: datetime) -> Campaign:
    """Launch a campaign. Draws the questionnaires if there are none and creates their places. Idempotent.

    Raises
    ------
    NotReady
        if something is missing. Nothing is changed.
    WrongState
        if it was opened before and is not open now (use `reopen_campaign`), or if a model judges it.
    """
    campaign = questionnaires.lock_campaign(campaign)
    if campaign.state == CampaignState.OPEN:
        return campaign
    if campaign.state != CampaignState.DRAFT or campaign.judges == Judges.MODEL:
        raise WrongState(campaign, CampaignState.OPEN)
    if not questionnaires.is_drawn(campaign):
        campaign = questionnaires.build(campaign=campaign, now=now)
    if not (outcome := readiness(campaign)).is_ready:
        raise NotReady(outcome.problems)
    campaign.has_slots, campaign.opened_at, campaign.closed_at = True, now, None
    campaign.state = CampaignState.OPEN
    campaign.save()
    slots.ensure(campaign=campaign, now=now)
    policy_services.refresh(campaign=campaign, now=now, rng=np.random.default_rng())
    return campaign


@transaction.atomic
def open_with_link(*, campaign: Campaign, by: User | None, now: datetime) -> Campaign:
    """Launch a campaign and create an open link to it, if it has none. Experts are invited personally. Idempotent.

    Raises
    ------
    NotReady, WrongState
        Nothing was changed.
    """
    campaign = open_campaign(campaign=campaign, now=now)
    purpose = claims.purpose(campaign)
    known = EntryLink.objects.filter(study=campaign.study_id, purpose=purpose, kind=EntryKind.OPEN, closed_at=None)
    if campaign.judges == Judges.CROWD and not known.exists():
        links.create_open(study=campaign.study, purpose=purpose, label="For all judges", by=by, now=now)
    return campaign


def pause_campaign(*, campaign: Campaign, now: datetime) -> Campaign:
    """Pause a campaign. Nobody gets a new questionnaire. People who have one can finish it and are paid."""
    return _to(campaign, CampaignState.PAUSED, {CampaignState.OPEN}, now)


def close_campaign(*, campaign: Campaign, now: datetime) -> Campaign:
    """Close a campaign. Nobody gets a new questionnaire. People who have one can finish it and are paid."""
    return _to(campaign, CampaignState.CLOSED, {CampaignState.OPEN, CampaignState.PAUSED}, now)


def reopen_campaign(*, campaign: Campaign, now: datetime) -> Campaign:
    """Reopen a campaign. Questionnaires with open places are assigned again."""
    return _to(campaign, CampaignState.OPEN, {CampaignState.PAUSED, CampaignState.CLOSED}, now)


@transaction.atomic
def archive_campaign(*, campaign: Campaign, now: datetime) -> Campaign:
    """Archive a closed campaign: lists leave it out, and nothing else changes. Idempotent.

    Raises
    ------
    BadCampaign
        if it is not closed.
    """
    campaign = questionnaires.lock_campaign(campaign)
    if campaign.state != CampaignState.CLOSED:
        raise BadCampaign({"": "Only closed campaigns can be archived. Close the campaign first."})
    if campaign.archived_at is None:
        campaign.archived_at = now
        campaign.save(update_fields=["archived_at"])
    return campaign


@transaction.atomic
def restore_campaign(*, campaign: Campaign) -> Campaign:
    """Show an archived campaign in lists again. Idempotent."""
    campaign = questionnaires.lock_campaign(campaign)
    campaign.archived_at = None
    campaign.save(update_fields=["archived_at"])
    return campaign


@transaction.atomic
def _to(campaign: Campaign, state: CampaignState, from_: set[CampaignState], now: datetime) -> Campaign:
    """Set a campaign's state if it is in one of the states `from_`, or has the new state already.

    Raises
    ------
    WrongState
    """
    campaign = questionnaires.lock_campaign(campaign)
    if campaign.state == state and campaign.has_slots:
        return campaign
    if campaign.state not in from_ or not campaign.has_slots:
        raise WrongState(campaign, state)
    campaign.state = state
    campaign.closed_at = now if state == CampaignState.CLOSED else None
    if state != CampaignState.CLOSED:
        campaign.archived_at = None
    campaign.save(update_fields=["state", "closed_at", "archived_at"])
    if state == CampaignState.CLOSED:
        outbox.publish_campaign_ended(
            study=campaign.study, kind="judging", name=campaign.name, campaign=campaign.pk, now=now
        )
    return campaign


def _of_time_and_pay(campaign: Campaign, forecast: Forecast, outcome: Readiness) -> None:
    currency = campaign.study.currency
    outcome.warnings.extend(undisclosed(campaign.study))
    if campaign.judges == Judges.CROWD and campaign.pay:
        if campaign.wage_floor is None:
            text = "No minimum hourly pay set: you will not be warned about low pay."
            outcome.warnings.append(_finding(campaign, text, "campaign_edit", "id_wage_floor", action="Set it"))
        elif forecast.wage < campaign.wage_floor:
            amounts = {
                "wage": money.format_amount(forecast.wage, currency),
                "floor": money.format_amount(campaign.wage_floor, currency),
                "minutes": campaign.minutes,
            }
            text = "With {minutes} minutes, the pay is {wage} per hour. This is below your minimum of {floor}."
            outcome.warnings.append(
                _finding(campaign, text.format(**amounts), "campaign_edit", "id_pay", action="Change the pay")
            )
    if (speed := forecast.words_per_minute) is not None and speed > FAST:
        words = {"words": round(forecast.words or 0), "minutes": campaign.minutes, "speed": round(speed)}
        text = (
            "A questionnaire has about {words:,} words to read. In {minutes} minutes, judges must read "
            "{speed} words per minute, without time to answer. Give them more time and pay."
        ).format(**words)
        outcome.warnings.append(_finding(campaign, text, "campaign_edit", "id_minutes", action="Change the minutes"))
    if campaign.minimum_seconds is not None and campaign.minimum_seconds > campaign.minutes * 60:
        text = (
            "The minimum completion time is longer than the announced time. Judges who keep to the announced "
            "time are flagged as too fast."
        )
        outcome.warnings.append(_finding(campaign, text, "campaign_edit", "id_minimum_seconds", action="Change it"))
    if campaign.lease_minutes < campaign.minutes:
        text = "Inactive questionnaires are reassigned before the announced minutes are over."
        outcome.warnings.append(_finding(campaign, text, "campaign_edit", "id_lease_minutes", action="Change it"))


def _of_words(campaign: Campaign, outcome: Readiness) -> None:
    labels = [
        option["label"]
        for each in questions.questions_of(campaign)
        if questions.is_of_pairs(each.values)
        for option in each.options
        if SIDE.search(option["label"])
    ]
    if labels:
        named = ", ".join(f"“{label}”" for label in dict.fromkeys(labels))
        text = f"Some options are called {named}. The page calls the responses A and B, and on a phone B is below A."
        outcome.warnings.append(_finding(campaign, text, "campaign_questions", action="Edit the questions"))


def _of_people(campaign: Campaign, forecast: Forecast, outcome: Readiness) -> None:
    if campaign.judges == Judges.EXPERT:
        invited = EntryLink.objects.filter(study=campaign.study_id, purpose=claims.purpose(campaign)).count()
        if invited < forecast.people:
            outcome.warnings.append(
                f"You need at least {forecast.people} experts, but {invited} are invited. Invite more after the launch."
            )
    if forecast.people > campaign.k and campaign.questionnaires_per_person is not None:
        text = (
            "Each person can do at most %(n)s questionnaire, so you need at least %(people)s people."
            if campaign.questionnaires_per_person == 1
            else "Each person can do at most %(n)s questionnaires, so you need at least %(people)s people."
        ) % {"n": campaign.questionnaires_per_person, "people": forecast.people}
        outcome.warnings.append(
            _finding(campaign, text, "campaign_edit", "id_questionnaires_per_person", action="Change the limit")
        )
    if forecast.both_orders and campaign.questionnaires_per_person != 1:
        text = (
            "People who do several questionnaires may see a pair again in the other order. Allow one "
            "questionnaire per person to avoid this."
        )
        outcome.warnings.append(
            _finding(campaign, text, "campaign_edit", "id_questionnaires_per_person", action="Change it")
        )


def _of_items(campaign: Campaign, forecast: Forecast, measures: allocation.Measures | None, outcome: Readiness) -> None:
    design = read_design(campaign.design)
    if forecast.single:
        outcome.warnings.append(
            (
                "%(n)s topic has only one response, so there is nothing to compare."
                if forecast.single == 1
                else "%(n)s topics have only one response, so there is nothing to compare."
            )
            % {"n": forecast.single}
        )
    if design.gold and forecast.gold < design.gold:
        known = known_labels.gold_items(campaign).count()
        text = f"Each questionnaire needs {design.gold} items with known labels, but the campaign has {known}."
        outcome.warnings.append(_finding(campaign, text, "campaign_checks", action="Add some"))
    if campaign.source is not None and design.rule != PICKED and forecast.units < design.rule_items:
        outcome.warnings.append(f"You requested {design.rule_items} items, but {forecast.units} match the rule.")
    if measures is None:
        return
    if measures.spread and measures.spread > UNEQUAL:
        outcome.warnings.append(
            f"The longest questionnaire has {measures.most_words} words, the shortest {measures.fewest_words}. Both "
            "pay the same."
        )
    if measures.same_text > MOST_SHARE_OF_A_TEXT:
        outcome.warnings.append(
            f"At least one questionnaire shows the same response {measures.same_text} times, because there are few "
            "topics."
        )
