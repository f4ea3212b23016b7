"""The questions of a campaign: dimensions of the study in order; changed questions become new versions."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Q

from writing.corpus import versions
from writing.corpus.imports import bulk

from ..campaign_types.registry import item_type, type_of
from ..enums import CampaignState, Judges
from ..models import Campaign, CampaignDimension, CampaignGoal, Dimension
from . import default_texts, questionnaires
from .problems import BadCampaign, NotDraft

MOST_QUESTIONS: Final = 20
MOST_OPTIONS: Final = 11
MOST_VALUE: Final = 32_767
LONGEST_OPTION: Final = 100
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,99}")
SIDES: Final = (-1, 1)


@dataclass(frozen=True)
class QuestionTerms:
    """A question to be asked; `name` is the same in all versions."""

    name: str
    label: str
    question: str
    description: str = ""
    options: list[dict[str, Any]] = field(default_factory=list)
    asks_justification: bool = False


def questions_of(campaign: Campaign) -> list[Dimension]:
    """Return a campaign's questions in order."""
    return list(
        Dimension.objects.filter(campaign_dimensions__campaign=campaign).order_by("campaign_dimensions__position")
    )


def default_questions(campaign: Campaign, now: datetime) -> list[Dimension]:
    """Return the default questions of a campaign; in an expert campaign, those of its source.

    The defaults are the study's own versions of the paper's seven dimensions, so that judgments of several campaigns
    can be pooled. A study without such versions gets the paper's.
    """
    if campaign.source is not None:
        return questions_of(campaign.source)
    if questions := _dimensions_of_study(campaign):
        return questions
    return type_of(campaign).default_questions(campaign.study, now)


@transaction.atomic
def change_questions(*, campaign: Campaign, terms: Sequence[QuestionTerms], now: datetime) -> Campaign:
    """Set the questions of a draft in this order. Changed questions become new versions.

    A change discards the drawn questionnaires, because checks use the options of the questions.

    Raises
    ------
    NotDraft, BadCampaign
    """
    if problems := problems_of(campaign, terms):
        raise BadCampaign({"questions": " ".join(problems)})
    campaign = questionnaires.lock_campaign(campaign)
    if campaign.state != CampaignState.DRAFT:
        raise NotDraft(campaign)
    bulk.lock_imports(campaign.study)  # version numbers must be assigned one at a time
    rows = [
        versions.ensure(Dimension, study=campaign.study, now=now, **asdict(each))[0] for each in map(_cleaned, terms)
    ]
    if [row.pk for row in rows] != [row.pk for row in questions_of(campaign)]:
        set_questions(campaign, rows)
        questionnaires.clear(campaign)
    return campaign


def set_questions(campaign: Campaign, rows: Sequence[Dimension]) -> None:
    """Set a campaign's questions to these versions in this order; its goal follows the question of the same name."""
    campaign.campaign_dimensions.all().delete()
    CampaignDimension.objects.bulk_create(
        CampaignDimension(campaign=campaign, dimension=row, position=position) for position, row in enumerate(rows)
    )
    for goal in CampaignGoal.objects.select_related("dimension").filter(campaign=campaign):
        if (row := next((row for row in rows if row.name == goal.dimension.name), None)) is None:
            goal.delete()
        else:
            goal.dimension = row
            goal.save(update_fields=["dimension"])


def problems_of(campaign: Campaign, terms: Sequence[QuestionTerms]) -> list[str]:
    """Return what is wrong with questions; empty if they are valid."""
    terms, problems = [_cleaned(each) for each in terms], []
    if not terms:
        problems.append("Add at least one question.")
    if len(terms) > MOST_QUESTIONS:
        problems.append(f"A campaign can have at most {MOST_QUESTIONS} questions.")
    names = [each.name for each in terms]
    problems += [f"Two questions have the short name {name}." for name in _twice(names)]
    pairwise = item_type(campaign).compares
    for number, each in enumerate(terms, start=1):
        problems += [f"Question {number}: {problem}" for problem in _wrong(each, pairwise)]
    return problems


def _wrong(each: QuestionTerms, pairwise: bool) -> list[str]:
    problems = []
    if not NAME.fullmatch(each.name):
        problems.append(
            "the short name can contain only lowercase letters, digits and underscores, and must start with a letter."
        )
    if not each.label:
        problems.append("enter a label.")
    if len(each.label) > 100:
        problems.append("the label has more than 100 characters.")
    if not each.question:
        problems.append("enter the question text.")
    values = [option.get("value") for option in each.options]
    if not 2 <= len(values) <= MOST_OPTIONS:
        problems.append(f"enter 2 to {MOST_OPTIONS} options.")
    if len(set(values)) < len(values):
        problems.append("two options have the same value.")
    if any(not isinstance(value, int) or abs(value) > MOST_VALUE for value in values):
        problems.append("the value of each option must be a whole number.")
    if any(not option.get("label") or len(option["label"]) > LONGEST_OPTION for option in each.options):
        problems.append(f"each option needs a text of at most {LONGEST_OPTION} characters.")
    if pairwise and not is_of_pairs(values):
        problems.append("pairwise questions need the options -1 (left) and 1 (right), and optionally 0 (neither).")
    return problems


def _cleaned(each: QuestionTerms) -> QuestionTerms:
    options = [
        {"value": option.get("value"), "label": default_texts.clean_line(str(option.get("label", "")))}
        for option in each.options
    ]
    if all(isinstance(option["value"], int) for option in options):
        options.sort(key=lambda option: int(str(option["value"])))
    return QuestionTerms(
        name=default_texts.clean_line(each.name),
        label=default_texts.clean_line(each.label),
        question=default_texts.clean_line(each.question),
        description=default_texts.clean_text(each.description),
        options=options,
        asks_justification=each.asks_justification,
    )


def _dimensions_of_study(campaign: Campaign) -> list[Dimension]:
    """Return the study's latest versions of the default questions of this campaign type.

    Dimensions that only models judged are left out: published ones allow "neither" where people must choose.
    """
    pairwise, names = type_of(campaign).compares, type_of(campaign).question_names
    of_people = Q(campaign_dimensions__isnull=True) | Q(
        campaign_dimensions__campaign__judges__in=[Judges.CROWD, Judges.EXPERT]
    )
    named = Dimension.objects.filter(of_people, study=campaign.study, name__in=names)
    named = named.order_by("version", "id")
    latest = {each.name: each for each in named if is_of_pairs(each.values) == pairwise}
    return [latest[name] for name in names if name in latest]


def is_of_pairs(values: Iterable[Any]) -> bool:
    """Return whether a question with these values compares two responses."""
    return set(SIDES) <= set(values) <= {*SIDES, 0}


def _twice(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if name and names.count(name) > 1})
