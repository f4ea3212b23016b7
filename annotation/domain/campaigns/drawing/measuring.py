"""What a drawing reached."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .packing import origin_left
from .siding import longer_left
from .things import Drawn


@dataclass(frozen=True)
class Measures:
    """What questionnaires hold; numbers of words are those of all texts of a questionnaire together.

    Attributes
    ----------
    both_orders
        how many pairs are shown in both orders.
    left_right
        the greatest difference between how often a text stands left and right.
    origin_lean
        the greatest difference, within a questionnaire, between how often an origin stands left and right of another.
    length_lean
        the same between the longer and the shorter text.
    """

    items: int
    both_orders: int
    questionnaires: int
    fewest: int
    most: int
    fewest_words: int
    most_words: int
    same_topic: int
    same_text: int
    left_right: int
    origin_lean: int
    length_lean: int

    @property
    def spread(self) -> float | None:
        """How much longer the longest questionnaire is than the shortest, as a ratio; None without words."""
        return self.most_words / self.fewest_words if self.fewest_words else None


def measure(questionnaires: Sequence[Sequence[Drawn]]) -> Measures:
    """Measure what was drawn."""
    every = [each for questionnaire in questionnaires for each in questionnaire]
    words = [sum(each.words for each in questionnaire) for questionnaire in questionnaires]
    sides: Counter[int] = Counter()
    for each in every:
        if each.b:
            sides[each.a.key] += 1
            sides[each.b.key] -= 1
    orders = Counter(each.both for each in every)
    return Measures(
        items=len(every),
        both_orders=sum(number > 1 for number in orders.values()),
        questionnaires=len(questionnaires),
        fewest=min(map(len, questionnaires), default=0),
        most=max(map(len, questionnaires), default=0),
        fewest_words=min(words, default=0),
        most_words=max(words, default=0),
        same_topic=max((_most(each.topic for each in own) for own in questionnaires), default=0),
        same_text=max((_most(key for each in own for key in each.both) for own in questionnaires), default=0),
        left_right=max(map(abs, sides.values()), default=0),
        origin_lean=max((_origin_lean(own) for own in questionnaires), default=0),
        length_lean=max((abs(sum(map(longer_left, own))) for own in questionnaires), default=0),
    )


def _most(values: Iterable[int]) -> int:
    return max(Counter(values).values(), default=0)


def _origin_lean(questionnaire: Sequence[Drawn]) -> int:
    mixed = {each.combination for each in questionnaire}
    return max((abs(sum(origin_left(each, one) for each in questionnaire)) for one in sorted(mixed)), default=0)
