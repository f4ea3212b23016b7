"""Forecast of a campaign before launch: people, hours, money in minor units of the study's currency."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Sum

from ..enums import CampaignKind
from ..models import Campaign, QuestionnaireItem
from ..quality import known_labels
from . import questionnaires as campaigns_questionnaires
from .design import Design, read_design


@dataclass(frozen=True)
class Forecast:
    """What a campaign asks for.

    Attributes
    ----------
    units
        what is compared or rated, each counted once: pairs whichever way round, or responses.
    both_orders
        how many of them are shown in both orders.
    items
        what is judged k times, each order by itself; gold items apart.
    people
        how many people it takes at least: nobody answers a questionnaire twice.
    words
        mean words to read in a questionnaire; None before it is drawn, where experts' items are not chosen yet.
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
        """How many questionnaires are filled in."""
        return self.questionnaires * self.k

    @property
    def judgments(self) -> int:
        """How many judgments of items come in, those of gold items apart."""
        return self.items * self.k * self.dimensions

    @property
    def hours(self) -> float:
        """How long people judge, if a questionnaire takes as long as they are told."""
        return self.assignments * self.minutes / 60

    @property
    def wage(self) -> float:
        """The pay per hour of who takes as long as people are told."""
        return self.pay * 60 / self.minutes

    @property
    def each(self) -> int:
        """What one filled questionnaire costs."""
        return self.pay + self.fee + self.tax

    @property
    def total(self) -> int:
        """What all of them cost."""
        return self.assignments * self.each

    @property
    def words_per_minute(self) -> float | None:
        """How fast one must read to be done in the time that people are told, if answering took no time."""
        return self.words / self.minutes if self.words is not None else None


def forecast(campaign: Campaign) -> Forecast:
    """Return what a campaign comes to: of what was drawn, or of what its design would draw."""
    design = read_design(campaign.design)
    if campaigns_questionnaires.is_drawn(campaign):
        return _of_drawn(campaign, design)
    pool = (
        campaigns_questionnaires.pool(campaign, design)
        if campaign.kind != CampaignKind.EXPERT
        else campaigns_questionnaires.Pool(())
    )
    units, both, topics, words = _planned(campaign, design, pool)
    sizes = campaigns_questionnaires.sizes(design, units + both)
    return _forecast(
        campaign, design, topics=topics, single=pool.single, units=units, both_orders=both, sizes=sizes, words=words
    )


def _planned(
    campaign: Campaign, design: Design, pool: campaigns_questionnaires.Pool
) -> tuple[int, int, int, float | None]:
    """Return units, those in both orders, topics, and the mean words of a questionnaire; nothing is stored."""
    shown = campaigns_questionnaires.draw(campaign, design, sided=False)
    units = len({each.both for each in shown})
    numbers = campaigns_questionnaires.sizes(design, len(shown))
    words = sum(each.words for each in shown) / len(numbers) if numbers else None
    return units, len(shown) - units, len({each.topic for each in shown}), words


def _of_drawn(campaign: Campaign, design: Design) -> Forecast:
    measured = campaigns_questionnaires.measures(campaign)
    entries = QuestionnaireItem.objects.filter(questionnaire__campaign=campaign, has_known_label=False)
    words = campaign.questionnaires.aggregate(words=Sum("words"))["words"] or 0
    single = campaigns_questionnaires.pool(campaign, design).single if campaign.kind == CampaignKind.PAIRWISE else 0
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
    """Return what so many questionnaires of these sizes come to, each filled in by k people.

    Parameters
    ----------
    sizes
        how many items each questionnaire holds, gold items apart.
    apiece
        how many questionnaires one person answers at most.
    minutes, pay, fee, tax
        of one questionnaire; money in minor units.
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
    """Return how many questionnaires one person can answer at most; who has seen a gold item sees it no more."""
    limits = [number, campaign.questionnaires_per_person]
    if design.gold and (known := known_labels.gold_items(campaign).count()):
        limits.append(known_labels.questionnaires_between_repeats(known, design.gold))
    return max(1, min(limit for limit in limits if limit is not None))
