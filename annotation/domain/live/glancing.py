"""How campaigns stand at a glance: for the list of a study's campaigns, and its home."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count

from ...models import Assignment, Campaign, Place
from .. import tallies
from .counting import Standing
from .overview import Phase, phase


@dataclass(frozen=True)
class Glance:
    """A campaign with its counts, and how it stands where this system hands its questionnaires out."""

    campaign: Campaign
    phase: Phase
    whole: Standing
    judgments: int


def glance(campaigns: Iterable[Campaign]) -> list[Glance]:
    """Return how each of these stands, which come `with_counts`, in order: three queries, however many there are."""
    found = list(campaigns)
    whole = _standings(found)
    judged = tallies.of(whole)
    return [Glance(each, phase(each, whole[each.pk]), whole[each.pk], judged[each.pk].total()) for each in found]


def _standings(campaigns: Sequence[Campaign]) -> dict[int, Standing]:
    ours = [each.pk for each in campaigns]
    found = {pk: Standing() for pk in ours}
    asked = Place.objects.filter(campaign__in=ours).order_by().values_list("campaign").annotate(n=Count("pk"))
    for campaign, number in asked:
        found[campaign].asked = number
    given = Assignment.objects.filter(questionnaire__campaign__in=ours).order_by()
    states = given.values_list("questionnaire__campaign", "state").annotate(n=Count("pk"))
    for campaign, state, number in states:
        found[campaign].counts[state] = number
    return found
