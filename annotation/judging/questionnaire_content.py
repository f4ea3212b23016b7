"""The content of a questionnaire, for judges' pages, preview, training and model judges.

It does not reveal who wrote a response, the type of writer, or which items have known labels.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import Count, Max

from ..campaign_types.campaign_type import CampaignType
from ..campaign_types.registry import item_type
from ..campaign_types.shown_items import SIDES, ShownItem, show_entries
from ..models import (
    Assignment,
    AttentionCheck,
    Campaign,
    CheckAnswer,
    Dimension,
    Instructions,
    ItemConfidence,
    Judgment,
    Questionnaire,
)

# Keyboard shortcuts of votes, the one shown on the button first: Response A, neither, Response B.
VOTE_KEYS = {-1: ("1", "A"), 0: ("2", "N"), 1: ("3", "B")}
DIGITS = 9
# Answers up to this length fit into one row beside the question.
SHORT = 10


@dataclass(frozen=True, slots=True)
class Option:
    """One answer option.

    `keys` are its keyboard shortcuts, the one shown on the button first. `side` is the letter of the response that it
    prefers, if its label names it; the button shows it instead of the label.
    """

    value: int
    label: str
    keys: tuple[str, ...]
    side: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer so far."""

    value: int
    justification: str
    revision: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question below an item: one of the campaign's dimensions, or an attention check.

    `pk` is the dimension's, or the check's if `is_check`. `place` identifies it on the page: item and question number.
    `is_row` is whether its options are beside it, as are those of all questions below its item.
    """

    pk: int
    label: str
    text: str
    description: str
    options: tuple[Option, ...]
    asks_justification: bool = False
    is_check: bool = False
    answer: Answer | None = None
    place: str = ""
    is_row: bool = False

    @property
    def is_short_vote(self) -> bool:
        """Whether its options are A, neither, B, and short enough for one row."""
        return all(one.value in VOTE_KEYS and len(one.side or one.label) <= SHORT for one in self.options)

    @property
    def is_complete(self) -> bool:
        """Whether it is fully answered."""
        return self.answer is not None and not (self.asks_justification and not self.answer.justification.strip())


@dataclass(frozen=True, slots=True)
class Confidence:
    """Whether the judge is unsure about an item; revision 0 if they did not say."""

    is_unsure: bool
    revision: int


CONFIDENT = Confidence(is_unsure=False, revision=0)


@dataclass(frozen=True)
class Entry:
    """An item at its position, with its questions and the answers so far."""

    number: int
    shown: ShownItem
    questions: tuple[Question, ...]
    confidence: Confidence = CONFIDENT

    @property
    def open(self) -> int:
        """Number of questions that are not fully answered."""
        return sum(not question.is_complete for question in self.questions)

    @property
    def progress(self) -> str:
        """`complete`, `partly` or `open`."""
        if not self.open:
            return "complete"
        return "partly" if any(question.answer for question in self.questions) else "open"


@dataclass(frozen=True)
class QuestionnairePage:
    """The content of a whole questionnaire. `assignment` is None in a preview."""

    campaign: Campaign
    questionnaire: Questionnaire
    assignment: Assignment | None
    instructions: Instructions | None
    entries: tuple[Entry, ...]

    @cached_property
    def item_type(self) -> CampaignType:
        """The type whose items are asked."""
        return item_type(self.campaign)

    @property
    def questions(self) -> int:
        """Number of questions."""
        return sum(len(entry.questions) for entry in self.entries)

    @property
    def open(self) -> int:
        """Number of questions that are not fully answered."""
        return sum(entry.open for entry in self.entries)

    @property
    def first_open(self) -> int:
        """Number of the first incomplete item; the last item if all are complete."""
        return next((entry.number for entry in self.entries if entry.open), len(self.entries))


def load_page(assignment: Assignment) -> QuestionnairePage:
    """Return the content of an assigned questionnaire, with the answers so far."""
    judged = Judgment.objects.filter(assignment=assignment, repeat=0)
    columns = judged.values_list("item_id", "dimension_id", "value", "justification", "revision")
    answers = {(item, dimension): Answer(value, why, revision) for item, dimension, value, why, revision in columns}
    checked = CheckAnswer.objects.filter(assignment=assignment)
    attended = {one.check_asked_id: Answer(one.value, "", one.revision) for one in checked}
    stated = ItemConfidence.objects.filter(assignment=assignment)
    confidences = {one.item_id: Confidence(one.is_unsure, one.revision) for one in stated}
    return _page(assignment.questionnaire, assignment, answers, attended, confidences)


def preview(questionnaire: Questionnaire) -> QuestionnairePage:
    """Return the content of a questionnaire without answers."""
    return _page(questionnaire, None, {}, {}, {})


def questions(campaign: Campaign) -> tuple[Question, ...]:
    """Return a campaign's questions about each item, in the order of the page."""
    dimensions = Dimension.objects.filter(campaign_dimensions__campaign=campaign).order_by(
        "campaign_dimensions__position"
    )
    return tuple(question(dimension) for dimension in dimensions)


def practice_questions(campaign: Campaign, values: Mapping[int, int]) -> tuple[Question, ...]:
    """Return a campaign's questions for practice: without justifications, with the answers so far."""
    unplaced = [
        replace(one, asks_justification=False, answer=Answer(values[one.pk], "", 1) if one.pk in values else None)
        for one in questions(campaign)
    ]
    return _placed(0, unplaced)


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a questionnaire: items, and questions below each."""

    items: int
    questions: int


def size(campaign: Campaign) -> Size:
    """Return the size of a campaign's largest questionnaire. All are about equal."""
    largest = campaign.questionnaires.annotate(n=Count("entries")).aggregate(most=Max("n"))["most"]
    return Size(largest or 0, campaign.campaign_dimensions.count())


def question(dimension: Dimension) -> Question:
    """Return a dimension as a question."""
    return Question(
        pk=dimension.pk,
        label=dimension.label,
        text=dimension.question,
        description=dimension.description,
        options=_options(dimension.options),
        asks_justification=dimension.asks_justification,
    )


def _page(
    questionnaire: Questionnaire,
    assignment: Assignment | None,
    answers: dict[tuple[int, int], Answer],
    attended: dict[int, Answer],
    confidences: dict[int, Confidence],
) -> QuestionnairePage:
    campaign = questionnaire.campaign
    questions_of_campaign = questions(campaign)
    checks = _checks(questionnaire.checks.order_by("position"), attended)
    entries: list[Entry] = []
    for number, (position, what) in enumerate(show_entries(questionnaire), start=1):
        below = [replace(one, answer=answers.get((what.item, one.pk))) for one in questions_of_campaign]
        if what.is_gone:
            # Items with erased responses get no further questions. Earlier answers stay.
            below = [replace(one, asks_justification=False) for one in below if one.answer is not None]
        placed = _placed(number, [*below, *checks.get(position, ())])
        entries.append(Entry(number, what, placed, confidences.get(what.item, CONFIDENT)))
    return QuestionnairePage(campaign, questionnaire, assignment, campaign.instructions, tuple(entries))


def _placed(number: int, unplaced: list[Question]) -> tuple[Question, ...]:
    # All questions of an item get the same layout, because the layout of a scale can affect the answers.
    is_row = all(each.is_short_vote for each in unplaced)
    return tuple(replace(each, place=f"{number}-{n}", is_row=is_row) for n, each in enumerate(unplaced, start=1))


def _checks(checks: Iterable[AttentionCheck], attended: dict[int, Answer]) -> dict[int, tuple[Question, ...]]:
    return {
        check.position: (
            Question(
                pk=check.pk,
                label="",
                text=check.text,
                description="",
                options=_options(check.options),
                is_check=True,
                answer=attended.get(check.pk),
            ),
        )
        for check in checks
    }


def _options(options: list[dict[str, object]]) -> tuple[Option, ...]:
    values = [int(str(one["value"])) for one in options]
    labels = [str(one["label"]) for one in options]
    if set(values) <= VOTE_KEYS.keys():
        return tuple(
            Option(value, label, VOTE_KEYS[value], _side(value, label))
            for value, label in zip(values, labels, strict=True)
        )
    return tuple(
        Option(value, label, (str(n),) if n <= DIGITS else ())
        for n, (value, label) in enumerate(zip(values, labels, strict=True), start=1)
    )


def _side(value: int, label: str) -> str:
    """Return the letter of the response that a vote prefers, if its label ends with it; else empty."""
    letter = {-1: SIDES[0], 1: SIDES[1]}.get(value, "")
    return letter if label.split()[-1:] == [letter] else ""
