"""Attention checks that follow the platforms' rules, and their positions.

Two kinds are allowed by Prolific's rules: a question that says which answer to give, and a statement that is nonsense
to everybody, asked without a neutral option. Neither tests memory: all that is needed to pass stands in the check
itself. The answer to give is named by the words of the option.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from django.db import transaction
from django.db.models import Count
from numpy.random import Generator

from ..models import AttentionCheck, Campaign, Questionnaire
from . import problems
from .problems import BadText

# Stands for the words of the option to choose.
ANSWER: Final = "{answer}"
LONGEST: Final = 500
# The key in a campaign's design under which its own texts are kept.
KEPT: Final = "check_texts"
# From this length on, one failed check is no reason to reject: the platforms ask for two.
LONG_STUDY: Final = timedelta(minutes=5)
# What tests memory and not attention, in the words by which it is usually given away.
RECALLS: Final = ("remember", "recall", "earlier", "previous", "you just read", "last page", "before this")


@dataclass(frozen=True)
class CheckTexts:
    """What a study's checks say: instructions with `{answer}` in them, and statements that are nonsense."""

    instructed: tuple[str, ...]
    nonsense: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many different texts there are."""
        return len(self.instructed) + len(self.nonsense)


@dataclass(frozen=True)
class Check:
    """A check as it will be asked."""

    text: str
    options: list[dict[str, Any]]
    expected: int


def defaults() -> CheckTexts:
    """Return what checks say unless the study says otherwise."""
    return CheckTexts(
        instructed=(
            "To show that you read the questions, choose “{answer}” here.",
            "This question is not about the text above. Please choose “{answer}”.",
            "We check that people read each question: the answer to choose here is “{answer}”.",
            "Whatever you think of the text above, please choose “{answer}” for this question.",
        ),
        nonsense=(
            "I walk from Europe to America every morning before breakfast.",
            "I was born more than three hundred years ago.",
            "I can read a whole library in one second.",
        ),
    )


def texts_of(campaign: Campaign) -> CheckTexts:
    """Return what a campaign's checks say: its own texts, else the usual ones."""
    kept = campaign.design.get(KEPT)
    if not kept:
        return defaults()
    return CheckTexts(tuple(kept.get("instructed", ())), tuple(kept.get("nonsense", ())))


@transaction.atomic
def change_checks(
    *, campaign: Campaign, instructed: Iterable[str], nonsense: Iterable[str], checks: int, gold: int
) -> CheckTexts:
    """Say how many checks and gold items a questionnaire has, and what checks say: the usual where no text is given.

    It stands in the campaign's design; questionnaires that were drawn before are drawn anew.

    Raises
    ------
    NotDraft, BadText
    """
    texts = CheckTexts(tuple(_cleaned(instructed)), tuple(_cleaned(nonsense)))
    for text in texts.instructed:
        _look_at_instruction(text)
    for text in (*texts.instructed, *texts.nonsense):
        _look_at(text)
    campaign = problems.lock_draft(campaign)
    own_texts = {"instructed": list(texts.instructed), "nonsense": list(texts.nonsense)}
    values = {"checks": checks, "gold": gold} | ({KEPT: own_texts} if texts.count and texts != defaults() else {})
    campaign.design = {name: value for name, value in campaign.design.items() if name != KEPT} | values
    campaign.save(update_fields=["design"])
    problems.undraw(campaign)
    return texts_of(campaign)


def fails_needed(campaign: Campaign) -> int:
    """Return how many failed checks may lead to a proposal to reject: two in a study of five minutes or more."""
    return 2 if timedelta(minutes=campaign.minutes) >= LONG_STUDY else 1


def notice(campaign: Campaign, per_questionnaire: int) -> str:
    """Return what people are told of checks before they begin; nothing where there are none."""
    if per_questionnaire < 1:
        return ""
    needed = fails_needed(campaign)
    message = (
        "One of the questions is an attention check. It tells you which answer to select, or it states something "
        "impossible. It shows that you read the questions."
        if per_questionnaire == 1
        else f"{per_questionnaire} of the questions are attention checks. They tell you which answer to select, or "
        "they state something impossible. They show that you read the questions."
    )
    return f"{message} " + (
        "One wrong answer has no consequences. Two wrong answers may have consequences after a person reviews them."
        if needed > 1
        else "A wrong answer may have consequences after a person reviews it."
    )


@transaction.atomic
def place_checks(
    *, questionnaires: Iterable[Questionnaire], per_questionnaire: int, rng: Generator
) -> list[AttentionCheck]:
    """Give each questionnaire of a campaign its checks: spread over its items, other texts as long as there are some.

    The items are cut into as many stretches as there are checks, and each stretch has one, below an item drawn from
    it. Checks that stood there before are drawn anew.
    """
    chosen = sorted(questionnaires, key=lambda each: (each.position is None, each.position, each.pk))
    if not chosen:
        return []
    campaign = chosen[0].campaign
    keys = [each.pk for each in chosen]
    AttentionCheck.objects.filter(questionnaire__in=keys).delete()
    texts, options = texts_of(campaign), _options(campaign)
    sizes = dict(
        Questionnaire.objects.filter(pk__in=keys).annotate(n=Count("entries")).values_list("pk", "n").order_by("pk")
    )
    checks = [
        AttentionCheck(
            questionnaire=each, position=position, text=check.text, options=check.options, expected=check.expected
        )
        for each in chosen
        for position, check in zip(
            positions(sizes[each.pk], per_questionnaire, rng),
            draw(texts, options, per_questionnaire, rng),
            strict=False,
        )
    ]
    return AttentionCheck.objects.bulk_create(checks, batch_size=2000)


def positions(items: int, checks: int, rng: Generator) -> list[int]:
    """Return below which items checks stand: one in each of as many equal stretches, at most one an item."""
    checks = min(checks, items)
    cuts = [items * number // checks for number in range(checks + 1)] if checks else []
    return [int(rng.integers(low, high)) for low, high in pairwise(cuts)]


def draw(texts: CheckTexts, options: Sequence[Mapping[str, Any]], n: int, rng: Generator) -> list[Check]:
    """Return n checks: both kinds in turn, a text again only when all of its kind were taken, answers by chance."""
    kinds = [kind for kind in (_shuffled(texts.instructed, rng), _shuffled(texts.nonsense, rng)) if kind]
    instructed = set(texts.instructed)
    if not kinds:
        return []
    drawn = []
    for number in range(n):
        kind = kinds[number % len(kinds)]
        text = kind[number // len(kinds) % len(kind)]
        drawn.append(_instruct(text, options, rng) if text in instructed else _nonsense(text))
    return drawn


def _instruct(text: str, options: Sequence[Mapping[str, Any]], rng: Generator) -> Check:
    meant = options[int(rng.integers(len(options)))]
    shown = [{"value": option["value"], "label": option["label"]} for option in options]
    return Check(text.replace(ANSWER, str(meant["label"])), shown, meant["value"])


def _nonsense(text: str) -> Check:
    """Ask for agreement, without a neutral option: nobody can honestly agree."""
    return Check(text, [{"value": -1, "label": "Disagree"}, {"value": 1, "label": "Agree"}], -1)


def _options(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the options of the campaign's own questions, so that a check looks like any of them."""
    options = [
        each.dimension.options for each in campaign.campaign_dimensions.select_related("dimension").order_by("position")
    ]
    return max(options, key=len, default=[]) or [{"value": -1, "label": "No"}, {"value": 1, "label": "Yes"}]


def _shuffled(texts: Sequence[str], rng: Generator) -> list[str]:
    shuffled = list(texts)
    rng.shuffle(shuffled)
    return shuffled


def _cleaned(texts: Iterable[str]) -> list[str]:
    """Return texts without blanks around and without repetition, in their order."""
    return list(dict.fromkeys(text for each in texts if (text := " ".join(each.split()))))


def _look_at_instruction(text: str) -> None:
    if text.count(ANSWER) != 1:
        raise BadText(f"“{text}” must contain {{answer}} exactly once. {{answer}} stands for the answer to select.")


def _look_at(text: str) -> None:
    if len(text) > LONGEST:
        raise BadText(f"The text of an attention check can have at most {LONGEST} characters.")
    if any(word in text.casefold() for word in RECALLS):
        raise BadText(
            f"“{text}” asks about something that people read earlier. The platforms do not allow checks that test "
            "memory. Say in the check itself which answer to select."
        )
