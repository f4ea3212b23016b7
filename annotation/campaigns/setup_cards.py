"""Summary of a campaign's setup: one sentence for each part."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse

from crowdrag.studies import money

from ..campaign_types.registry import item_type, type_of
from ..enums import AssignmentPolicy, CampaignState
from ..models import Campaign, TrainingItem
from ..quality import practice
from . import goals, questions
from .design import LEAST, PICKED, Design, read_design
from .forecasts import Forecast

#: The number of questions to name; the others are counted.
NAMED = 4


@dataclass(frozen=True)
class SetupCard:
    """A part of the setup: its summary, and where to change it. `is_missing` if it prevents the launch.

    `changes_later`: whether some of it can still be changed after the launch.
    """

    name: str
    title: str
    text: str
    url: str
    is_missing: bool = False
    changes_later: bool = False


def setup_cards(campaign: Campaign, forecast: Forecast | None) -> list[SetupCard]:
    """Return the parts of a campaign's setup in the order of the setup.

    Parameters
    ----------
    forecast
        None for imported campaigns, which are not drawn or paid here.
    """
    cards = list(_of_content(campaign))
    return cards if forecast is None else [*_of_design(campaign, forecast), *cards, *_of_checks(campaign)]


def _of_design(campaign: Campaign, forecast: Forecast) -> Iterator[SetupCard]:
    edit = _url(campaign, "campaign_edit")
    design = read_design(campaign.design)
    yield SetupCard(
        "items", item_type(campaign).items, _items(campaign, design, forecast), f"{edit}#items", not forecast.items
    )
    yield SetupCard("judges", "Judges and time", _judges(campaign), f"{edit}#judges", changes_later=True)
    chosen, where = _assignment(campaign), f"{edit}#assignment"
    yield SetupCard("assignment", "Assignment of questionnaires", chosen, where, changes_later=True)
    is_unpaid = campaign.pay is None and not type_of(campaign).asks_again
    yield SetupCard("pay", "Pay", _pay(campaign, forecast), f"{edit}#pay", is_unpaid, changes_later=True)
    if not type_of(campaign).asks_again:
        yield SetupCard("eligibility", "Eligibility", _eligibility(campaign), f"{edit}#eligibility", changes_later=True)


def _of_content(campaign: Campaign) -> Iterator[SetupCard]:
    labels = [each.label for each in questions.questions_of(campaign)]
    shown = ", ".join(labels[:NAMED]) + (f" and {len(labels) - NAMED} more" if len(labels) > NAMED else "")
    asked = f"{count(len(labels), 'question')}: {shown}." if labels else "No questions yet."
    yield SetupCard("questions", "Questions", asked, _url(campaign, "campaign_questions"), not labels)
    text = campaign.instructions
    told = f"Version {text.version}, {count(len(text.text.split()), 'word')}." if text else "No instructions yet."
    yield SetupCard("instructions", "Instructions", told, _url(campaign, "campaign_instructions"), text is None)
    consent = campaign.consent_text
    agreed = "No consent text yet."
    if consent:
        times = (
            f"times under {consent.timing_licence} if the judge agrees"
            if consent.timing_licence
            else "times are not released"
        )
        agreed = f"Version {consent.version}: answers are released under {consent.text_licence}, {times}."
    yield SetupCard("consent", "Consent", agreed, _url(campaign, "campaign_consent"), consent is None)


def _of_checks(campaign: Campaign) -> Iterator[SetupCard]:
    design = read_design(campaign.design)
    trained = TrainingItem.objects.filter(campaign=campaign).count()
    known = count(design.gold, "item with known labels", "items with known labels")
    text = f"{count(design.checks, 'attention check')} and {known} in each questionnaire, "
    if trained:
        text += f"{count(trained, 'training item')} before the first one."
    else:
        text += "a practice pair before the first one." if practice.applies(campaign) else "no training."
    yield SetupCard("checks", "Checks and training", text, _url(campaign, "campaign_checks"))
    if goals.may_have_goal(campaign):
        yield SetupCard("goal", "Goal", _goal(campaign), _url(campaign, "campaign_goal"), changes_later=True)


def _goal(campaign: Campaign) -> str:
    goal = goals.find_goal(campaign)
    if goal is None:
        return "None. All planned judgments are collected."
    closes = "The campaign is closed" if goal.closes_campaign else "The campaign stays open"
    return f"{goals.describe(goal)} On “{goal.dimension.label}”. {closes} when decided."


def _items(campaign: Campaign, design: Design, forecast: Forecast) -> str:
    if not forecast.items:
        return "Nothing matches yet."
    fewest, most = forecast.fewest, forecast.most
    # Pairs that are shown in both orders are two items.
    noun = item_type(campaign).item
    per = f"{count(most, noun) if fewest == most else f'{fewest} to {most} {noun}s'} per questionnaire"
    topics = count(forecast.topics, "topic")
    if type_of(campaign).asks_again:
        rules = {PICKED: "selected by hand", LEAST: "with the lowest agreement"}
        rule = rules.get(design.rule, "sampled from hard items")
        source = campaign.source.name if campaign.source else ""
        return f"{count(forecast.units, 'item')} of “{source}”, {rule}. {per}."
    if not type_of(campaign).compares:
        return f"{count(forecast.units, noun)} on {topics}. {per}."
    pairs = f"All {count(forecast.units, 'pair')} on {topics}"
    if design.chosen_pairs:
        pairs = f"{count(forecast.units, 'chosen pair')} on {topics}"
    elif design.pairs_per_topic is not None:
        pairs = f"{count(forecast.units, 'pair')} on {topics} (up to {design.pairs_per_topic} per topic)"
    both = "1 pair is" if forecast.both_orders == 1 else f"{forecast.both_orders:,} pairs are"
    return f"{pairs}. {both} shown in both orders. {per}."


def _judges(campaign: Campaign) -> str:
    per_person = campaign.questionnaires_per_person
    most = (
        f"at most {count(per_person, 'questionnaire')} per person"
        if per_person
        else "no limit on questionnaires per person"
    )
    judges = f"{count(campaign.k, 'judge')} per questionnaire"
    return f"{judges}, {count(campaign.minutes, 'minute')} each, {most}."


def _assignment(campaign: Campaign) -> str:
    policy = AssignmentPolicy(campaign.policy)
    text = f"{policy.label.capitalize()}."
    if policy in {AssignmentPolicy.FIXED, AssignmentPolicy.RANDOM}:
        return text
    return f"{text} {campaign.control_share} % of the questionnaires are chosen at random."


def _pay(campaign: Campaign, forecast: Forecast) -> str:
    if campaign.pay is None:
        return "Unpaid." if type_of(campaign).asks_again else "Not set yet."
    currency = campaign.study.currency
    pay, wage, more = (
        money.format_amount(amount, currency) for amount in (campaign.pay, forecast.wage, forecast.fee + forecast.tax)
    )
    extra = f", plus {more} for fees and tax" if forecast.fee + forecast.tax else ""
    if not campaign.pay:
        return f"Judges are volunteers without pay{extra}."
    return f"{pay} per questionnaire ({wage} per hour){extra}."


def _eligibility(campaign: Campaign) -> str:
    who = campaign.eligibility
    rules = []
    if who.get("languages"):
        rules.append(f"first language {', '.join(who['languages'])}")
    if who.get("countries"):
        rules.append(f"from {', '.join(who['countries'])}")
    if who.get("approval_rate") is not None:
        rules.append(f"approval rate of at least {who['approval_rate']:g} %")
    if who.get("completed") is not None:
        rules.append(f"at least {who['completed']:,} completed tasks")
    if not rules:
        return "Everybody may take part."
    return f"On Prolific: {', '.join(rules)}. Everybody with one of your own links may take part."


def is_run_here(campaign: Campaign) -> bool:
    """Return whether this system assigns the campaign's questionnaires, now or after launch."""
    return campaign.state == CampaignState.DRAFT or campaign.has_slots


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with the counted noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _url(campaign: Campaign, name: str) -> str:
    return reverse(name, args=[campaign.study.slug, campaign.pk])
