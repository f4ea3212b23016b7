"""Attention checks that follow the platforms' rules, and their positions.

Prolific's rules allow two kinds: an instruction to select a certain answer, and a nonsensical statement without a
neutral option. Neither tests memory: the check itself contains all that is needed to pass. An instruction names the
answer by the label of the option.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext
from numpy.random import Generator

from crowdrag.studies.page_language import in_study_language

from ..models import AttentionCheck, Campaign, Questionnaire
from . import problems
from .problems import BadText

# Placeholder for the label of the option to select.
ANSWER: Final = "{answer}"
LONGEST: Final = 500
# Key of a campaign's own texts in its design.
KEPT: Final = "check_texts"
# In studies of at least this length, platforms require two failed checks for a rejection.
LONG_STUDY: Final = timedelta(minutes=5)
# Words that usually show that a check tests memory instead of attention.
RECALLS: Final = ("remember", "recall", "earlier", "previous", "you just read", "last page", "before this")


@dataclass(frozen=True)
class CheckTexts:
    """The texts of a study's checks: instructions that contain `{answer}`, and nonsensical statements."""

    instructed: tuple[str, ...]
    nonsense: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of different texts."""
        return len(self.instructed) + len(self.nonsense)


@dataclass(frozen=True)
class Check:
    """A check to be asked."""

    text: str
    options: list[dict[str, Any]]
    expected: int


def defaults() -> CheckTexts:
    """Return the default texts in the active language."""
    return CheckTexts(
        instructed=(
            gettext("To show that you read the questions, choose “{answer}” here."),
            gettext("This question is not about the text above. Please choose “{answer}”."),
            gettext("We check that people read each question: the answer to choose here is “{answer}”."),
            gettext("Whatever you think of the text above, please choose “{answer}” for this question."),
        ),
        nonsense=(
            gettext("I walk from Europe to America every morning before breakfast."),
            gettext("I was born more than three hundred years ago."),
            gettext("I can read a whole library in one second."),
        ),
    )


def texts_of(campaign: Campaign) -> CheckTexts:
    """Return the texts of a campaign's checks, or the default texts in the language of its study."""
    kept = campaign.design.get(KEPT)
    if not kept:
        with in_study_language(campaign.study):
            return defaults()
    return CheckTexts(tuple(kept.get("instructed", ())), tuple(kept.get("nonsense", ())))


@transaction.atomic
def change_checks(
    *, campaign: Campaign, instructed: Iterable[str], nonsense: Iterable[str], checks: int, gold: int
) -> CheckTexts:
    """Set the numbers of checks and gold items per questionnaire, and the texts of checks (none: the default texts).

    They are stored in the campaign's design. Drawn questionnaires are discarded.

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
    with in_study_language(campaign.study):
        is_own = texts.count > 0 and texts != defaults()
    values = {"checks": checks, "gold": gold} | ({KEPT: own_texts} if is_own else {})
    campaign.design = {name: value for name, value in campaign.design.items() if name != KEPT} | values
    campaign.save(update_fields=["design"])
    problems.undraw(campaign)
    return texts_of(campaign)


def fails_needed(campaign: Campaign) -> int:
    """Return how many failed checks justify a proposal to reject: two in studies of five minutes or more, else one."""
    return 2 if timedelta(minutes=campaign.minutes) >= LONG_STUDY else 1


def notice(campaign: Campaign, per_questionnaire: int) -> str:
    """Return what judges are told about checks in advance; empty without checks."""
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
    """Place checks in each questionnaire of a campaign, spread over its items. Texts repeat only if there are too few.

    The items are divided into as many segments as there are checks. Each segment gets one check, below a random item.
    Earlier checks are replaced. Default texts and answers are stored in the study's language.
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
    with in_study_language(campaign.study):
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
    """Return the items below which checks are placed: one random item in each of `checks` equal segments."""
    checks = min(checks, items)
    cuts = [items * number // checks for number in range(checks + 1)] if checks else []
    return [int(rng.integers(low, high)) for low, high in pairwise(cuts)]


def draw(texts: CheckTexts, options: Sequence[Mapping[str, Any]], n: int, rng: Generator) -> list[Check]:
    """Return n checks, alternating between both kinds. Texts repeat only after all of their kind. Random answers."""
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
    """Return a statement to agree or disagree with, without a neutral option: nobody can honestly agree."""
    return Check(text, [{"value": -1, "label": gettext("Disagree")}, {"value": 1, "label": gettext("Agree")}], -1)


def _options(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the options of the campaign's own questions, so that a check looks like one of them."""
    options = [
        each.dimension.options for each in campaign.campaign_dimensions.select_related("dimension").order_by("position")
    ]
    if any(options):
        return max(options, key=len)
    with in_study_language(campaign.study):
        return [{"value": -1, "label": gettext("No")}, {"value": 1, "label": gettext("Yes")}]


def _shuffled(texts: Sequence[str], rng: Generator) -> list[str]:
    shuffled = list(texts)
    rng.shuffle(shuffled)
    return shuffled


def _cleaned(texts: Iterable[str]) -> list[str]:
    """Return texts in order, with whitespace normalized and without duplicates."""
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
