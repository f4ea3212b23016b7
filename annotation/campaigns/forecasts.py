"""Forecast of a campaign before launch: people, hours, money in minor units of the study's currency."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Sum

from ..campaign_types.registry import type_of
from ..models import Campaign, QuestionnaireItem
from ..quality import known_labels
from . import launched_cache
from . import questionnaires as campaigns_questionnaires
from .design import Design, read_design


@dataclass(frozen=True)
class Forecast:
    """Size and cost of a campaign.

    Attributes
    ----------
    units
        number of pairs (either order) or responses, each counted once.
    both_orders
        number of pairs that are shown in both orders.
    items
        number of items to be judged by k people, each order counted separately; without gold items.
    people
        minimum number of people, because nobody answers a questionnaire twice.
    words
        mean words to read in a questionnaire; None if not drawn and, in expert campaigns, no items are chosen yet.
    """

    topics: int
    single: int
    units: int
    both_orders: int
    items: int
    questionnaires: int
    fewest: int
    most: int
    k: int
    dimensions: int
    gold: int
    checks: int
    people: int
    minutes: int
    pay: int
    fee: int
    tax: int
    words: float | None
    is_drawn: bool

    @property
    def assignments(self) -> int:
        """Number of completed questionnaires."""
        return self.questionnaires * self.k

    @property
    def judgments(self) -> int:
        """Number of judgments, without those of gold items."""
        return self.items * self.k * self.dimensions

    @property
    def hours(self) -> float:
        """Total hours of judging, at the stated duration of a questionnaire."""
        return self.assignments * self.minutes / 60

    @property
    def wage(self) -> float:
        """Hourly pay at the stated duration."""
        return self.pay * 60 / self.minutes

    @property
    def each(self) -> int:
        """Cost of one completed questionnaire."""
        return self.pay + self.fee + self.tax

    @property
    def total(self) -> int:
        """Total cost."""
        return self.assignments * self.each

    @property
    def words_per_minute(self) -> float | None:
        """Reading speed needed to finish in the stated duration if answering took no time."""
        return self.words / self.minutes if self.words is not None else None


def forecast(campaign: Campaign) -> Forecast:
    """Return the size and cost of a campaign, for the drawn questionnaires or for what its design would draw."""
    design = read_design(campaign.design)
    if campaigns_questionnaires.is_drawn(campaign):
        return launched_cache.look_up("forecast", campaign, lambda: _of_drawn(campaign, design))
    pool = (
        campaigns_questionnaires.Pool(())
        if type_of(campaign).asks_again
        else campaigns_questionnaires.pool(campaign, design)
    )
    units, both, topics, words = _planned(campaign, design, pool)
    sizes = campaigns_questionnaires.sizes(design, units + both, both_orders=both)
    return _forecast(
        campaign, design, topics=topics, single=pool.single, units=units, both_orders=both, sizes=sizes, words=words
    )


def _planned(
    campaign: Campaign, design: Design, pool: campaigns_questionnaires.Pool
) -> tuple[int, int, int, float | None]:
    """Return units, pairs in both orders, topics, and mean words per questionnaire. Nothing is stored."""
    shown = campaigns_questionnaires.draw(campaign, design, sided=False)
    units = campaigns_questionnaires.count_units(shown)
    numbers = campaigns_questionnaires.sizes(design, len(shown), both_orders=len(shown) - units)
    words = sum(each.words for each in shown) / len(numbers) if numbers else None
    return units, len(shown) - units, len({each.topic for each in shown}), words


def _of_drawn(campaign: Campaign, design: Design) -> Forecast:
    measured = campaigns_questionnaires.measures(campaign)
    entries = QuestionnaireItem.objects.filter(questionnaire__campaign=campaign, has_known_label=False)
    words = campaign.questionnaires.aggregate(words=Sum("words"))["words"] or 0
    single = (
        campaigns_questionnaires.pool(campaign, design).single
        if "pairs_per_topic" in type_of(campaign).design_fields
        else 0
    )
    sizes = [measured.fewest] + [measured.most] * (measured.questionnaires - 1)
    return _forecast(
        campaign, design,
        topics=entries.values("item__topic").distinct().count(),
        single=single,
        units=measured.items - measured.both_orders,
        both_orders=measured.both_orders,
        sizes=sizes, items=measured.items, is_drawn=True,
        words=words / max(measured.questionnaires, 1),
    )  # fmt: skip


def _forecast(
    campaign: Campaign, design: Design, *, topics: int, single: int, units: int, both_orders: int, sizes: list[int],
    words: float | None, items: int | None = None, is_drawn: bool = False,
) -> Forecast:  # fmt: skip
    return estimate(
        topics=topics,
        single=single,
        units=units,
        both_orders=both_orders,
        items=sum(sizes) if items is None else items,
        sizes=sizes,
        k=campaign.k,
        dimensions=campaign.campaign_dimensions.count(),
        apiece=_questionnaires_per_person(campaign, design, len(sizes)),
        gold=min(design.gold, known_labels.gold_items(campaign).count()),
        checks=design.checks,
        minutes=campaign.minutes,
        pay=campaign.pay or 0,
        fee=campaign.fee or 0,
        tax=campaign.tax or 0,
        words=words,
        is_drawn=is_drawn,
    )


def estimate(
    *, topics: int, units: int, both_orders: int, items: int, sizes: Sequence[int], k: int, dimensions: int,
    apiece: int, minutes: int, pay: int, fee: int, tax: int, single: int = 0, gold: int = 0, checks: int = 0,
    words: float | None = None, is_drawn: bool = False,
) -> Forecast:  # fmt: skip
    """Return the size and cost of questionnaires of these sizes, each answered by k people.

    Parameters
    ----------
    sizes
        number of items in each questionnaire, without gold items.
    apiece
        the largest number of questionnaires that one person answers.
    minutes, pay, fee, tax
        per questionnaire; money in minor units.
    """
    number = len(sizes)
    return Forecast(
        topics=topics,
        single=single,
        units=units,
        both_orders=both_orders,
        items=items,
        questionnaires=number,
        fewest=min(sizes, default=0),
        most=max(sizes, default=0),
        k=k,
        dimensions=dimensions,
        gold=gold,
        checks=checks,
        people=max(k, -(-number * k // apiece)) if number else 0,
        minutes=minutes,
        pay=pay,
        fee=fee,
        tax=tax,
        words=words,
        is_drawn=is_drawn,
    )


def _questionnaires_per_person(campaign: Campaign, design: Design, number: int) -> int:
    """Return how many questionnaires one person can answer at most, given that nobody sees a gold item twice."""
    limits = [number, campaign.questionnaires_per_person]
    if design.gold and (known := known_labels.gold_items(campaign).count()):
        limits.append(known_labels.questionnaires_between_repeats(known, design.gold))
    return max(1, min(limit for limit in limits if limit is not None))
