"""Weights of a campaign's judgments that make up for a policy's choices (docs/methods/policies.md)."""

import numpy as np

from analysis.stats import adaptive_draws

from ..enums import AssignmentPolicy, AssignmentState
from ..models import AssignmentChoice, Campaign, Slot

#: Submitted judgments count at once, as for live figures.
COUNTED = (AssignmentState.SUBMITTED, AssignmentState.ACCEPTED)
#: Policies under which a questionnaire depends on earlier judgments. Under all others, each judgment weighs 1.
ADAPTIVE = (AssignmentPolicy.INFORMATION, AssignmentPolicy.COMPETENCE)


def assignment_weights(campaign: Campaign) -> dict[int, float]:
    """Return the weight of all judgments of each assignment that counts and was chosen at random, by its key.

    The weighted mean over the judgments so far estimates, without bias, the mean over all judgments that the campaign
    asks for. Assignments that are not listed weigh 1. Slots that were held by somebody who lost them later count as if
    they had been free.
    """
    choices = AssignmentChoice.objects.filter(
        assignment__questionnaire__campaign=campaign,
        assignment__state__in=COUNTED,
        assignment__is_included=True,
    ).order_by("assignment_id")
    rows = list(choices.values_list("assignment_id", "policy", "probability", "free_slots"))
    if not rows:
        return {}
    # Slots that were filled in the fixed order, before the policy was another one, are no part of the pool.
    drawn = Slot.objects.filter(campaign=campaign).exclude(holder__isnull=False, holder__choice__isnull=True)
    size = max(drawn.count(), len(rows))
    ratios = np.ones(len(rows))
    for number, (_assignment, policy, probability, free_slots) in enumerate(rows):
        if policy in ADAPTIVE and probability is not None:
            ratios[number] = free_slots / (size - number) / probability
    weights = adaptive_draws.pool_weights(ratios, size)
    return {row[0]: float(weight) for row, weight in zip(rows, weights, strict=True)}
