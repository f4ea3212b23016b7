"""The content of a questionnaire, for people's pages, preview, training and models as judges.

Nothing here says who wrote a response, by what kind of writer it is, or which item's labels are known.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..models import (
    Assignment,
    AttentionCheck,
    Campaign,
    CheckAnswer,
    Dimension,
    Instructions,
    Item,
    ItemConfidence,
    Judgment,
    Questionnaire,
)
from . import response_layout

SIDES = ("A", "B")
# The keys that give a vote, the one that its button shows first: Response A, neither, Response B.
VOTE_KEYS = {-1: ("1", "A"), 0: ("2", "N"), 1: ("3", "B")}
DIGITS = 9
# Answers of at most so many letters fit into one row beside their question.
SHORT = 10


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that can be given.

    `keys` are the keys that give it, the one that its button shows first; `side` is the letter that its button shows
    instead of its label: that of the response which it prefers, if its label names it.
    """

    value: int
    label: str
    keys: tuple[str, ...]
    side: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered so far."""

    value: int
    justification: str
    revision: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question below an item: one of the campaign's dimensions, or an attention check.

    `pk` is the dimension's, or the check's where `is_check`; `place` is its own on the page: item and question.
    `is_row` is whether its answers stand beside it, as those of all questions below its item do.
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
        """Whether its answers are A, neither, B, and short enough to stand in one row with it."""
        return all(one.value in VOTE_KEYS and len(one.side or one.label) <= SHORT for one in self.options)

    @property
    def is_complete(self) -> bool:
        """Whether it is answered in full."""
        return self.answer is not None and not (self.asks_justification and not self.answer.justification.strip())


@dataclass(frozen=True)
class Side:
    """A response as it is shown: "A" is left; a response that is judged alone has no name."""

    name: str
    text: str

    @cached_property
    def blocks(self) -> tuple[response_layout.TextBlock, ...]:
        """The text laid out."""
        return response_layout.blocks(self.text)

    @property
    def is_gone(self) -> bool:
        """Whether the text was erased at its writer's wish."""
        return not self.text


@dataclass(frozen=True, slots=True)
class ShownItem:
    """What is judged: a query with one response or two; `is_gone` is whether one was erased at its writer's wish."""

    item: int
    query: str
    narrative: str
    sides: tuple[Side, ...]
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Confidence:
    """Whether its judge is unsure about an item; revision 0 where they said nothing."""

    is_unsure: bool
    revision: int


CONFIDENT = Confidence(is_unsure=False, revision=0)


@dataclass(frozen=True)
class Entry:
    """An item at its place, with its questions and what was answered."""

    number: int
    shown: ShownItem
    questions: tuple[Question, ...]
    confidence: Confidence = CONFIDENT

    @property
    def open(self) -> int:
        """How many questions are not answered in full."""
        return sum(not question.is_complete for question in self.questions)

    @property
    def progress(self) -> str:
        """`complete`, `partly` or `open`."""
        if not self.open:
            return "complete"
        return "partly" if any(question.answer for question in self.questions) else "open"


@dataclass(frozen=True)
class QuestionnairePage:
    """All of a questionnaire. `assignment` is None where nobody answers it: a preview."""

    campaign: Campaign
    questionnaire: Questionnaire
    assignment: Assignment | None
    instructions: Instructions | None
    entries: tuple[Entry, ...]

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return sum(len(entry.questions) for entry in self.entries)

    @property
    def open(self) -> int:
        """How many of them are not answered in full."""
        return sum(entry.open for entry in self.entries)

    @property
    def first_open(self) -> int:
        """The number of the first item that is not complete; the last one's where all are."""
        return next((entry.number for entry in self.entries if entry.open), len(self.entries))


def load_page(assignment: Assignment) -> QuestionnairePage:
    """Return what somebody's questionnaire shows, with what they answered so far."""
    judged = Judgment.objects.filter(assignment=assignment, repeat=0)
    answers = {(one.item_id, one.dimension_id): Answer(one.value, one.justification, one.revision) for one in judged}
    checked = CheckAnswer.objects.filter(assignment=assignment)
    attended = {one.check_asked_id: Answer(one.value, "", one.revision) for one in checked}
    stated = ItemConfidence.objects.filter(assignment=assignment)
    confidences = {one.item_id: Confidence(one.is_unsure, one.revision) for one in stated}
    return _page(assignment.questionnaire, assignment, answers, attended, confidences)


def preview(questionnaire: Questionnaire) -> QuestionnairePage:
    """Return what a questionnaire shows whoever gets it."""
    return _page(questionnaire, None, {}, {}, {})


def questions(campaign: Campaign) -> tuple[Question, ...]:
    """Return what a campaign asks of each item, in the order in which it stands on the page."""
    dimensions = Dimension.objects.filter(campaign_dimensions__campaign=campaign).order_by(
        "campaign_dimensions__position"
    )
    return tuple(question(dimension) for dimension in dimensions)


def practice_questions(campaign: Campaign, values: Mapping[int, int]) -> tuple[Question, ...]:
    """Return what a campaign asks as it is asked for practice: without a reason, with the answers given so far."""
    unplaced = [
        replace(one, asks_justification=False, answer=Answer(values[one.pk], "", 1) if one.pk in values else None)
        for one in questions(campaign)
    ]
    return _placed(0, unplaced)


@dataclass(frozen=True, slots=True)
class Size:
    """How much a questionnaire asks: items, and questions below each."""

    items: int
    questions: int


def size(campaign: Campaign) -> Size:
    """Return how much a questionnaire of a campaign asks, by its first one: all are about equal."""
    first = campaign.questionnaires.order_by("position", "pk").first()
    return Size(first.entries.count() if first else 0, campaign.campaign_dimensions.count())


def question(dimension: Dimension) -> Question:
    """Return a dimension as it is asked."""
    return Question(
        pk=dimension.pk,
        label=dimension.label,
        text=dimension.question,
        description=dimension.description,
        options=_options(dimension.options),
        asks_justification=dimension.asks_justification,
    )


def show_item(item: Item) -> ShownItem:
    """Return what is judged in an item: fetch its topic, response and pair's responses along (`with_texts`)."""
    if item.pair is not None:
        responses = [item.pair.a, item.pair.b]
        sides = tuple(Side(name, one.text) for name, one in zip(SIDES, responses, strict=True))
    else:
        responses = [item.response] if item.response is not None else []
        sides = tuple(Side("", one.text) for one in responses)
    gone = any(one.erased_at for one in responses)
    return ShownItem(item=item.pk, query=item.topic.query, narrative=item.topic.narrative, sides=sides, is_gone=gone)


# What `shown` reads of an item.
TEXTS = ("topic", "response", "pair__a", "pair__b")


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
    texts = [f"item__{name}" for name in TEXTS]
    ordered = questionnaire.entries.select_related(*texts).order_by("position")
    entries: list[Entry] = []
    for number, entry in enumerate(ordered, start=1):
        what = show_item(entry.item)
        below = [replace(one, answer=answers.get((entry.item_id, one.pk))) for one in questions_of_campaign]
        if what.is_gone:
            # Nothing more is asked of what is not there; what was answered before stays.
            below = [replace(one, asks_justification=False) for one in below if one.answer is not None]
        placed = _placed(number, [*below, *checks.get(entry.position, ())])
        entries.append(Entry(number, what, placed, confidences.get(entry.item_id, CONFIDENT)))
    return QuestionnairePage(campaign, questionnaire, assignment, campaign.instructions, tuple(entries))


def _placed(number: int, unplaced: list[Question]) -> tuple[Question, ...]:
    # A scale whose shape differs from question to question is answered differently.
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
    """Return the letter of the response that a vote prefers, if its label ends with it; empty if not."""
    letter = {-1: SIDES[0], 1: SIDES[1]}.get(value, "")
    return letter if label.split()[-1:] == [letter] else ""
