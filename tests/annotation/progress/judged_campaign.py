"""A campaign with many judgments, made in few statements: for tests and measurements of live figures."""

import numpy as np
from django.db import transaction

from annotation.enums import AssignmentState
from annotation.models import Assignment, AssignmentTransition, Judgment, Slot
from tests.annotation import open_campaign
from tests.factories import NOW


@transaction.atomic
def crowded(
    *, topics: int, responses: int = 6, dimensions: int = 7, k: int = 5, seed: int = 0, people: int = 0
) -> open_campaign.World:
    """Let k people hand in each questionnaire of fifteen pairs; every fifth judge answers at random."""
    here = open_campaign.world(topics=topics, responses=responses, per_questionnaire=15, dimensions=dimensions, k=k)
    rng = np.random.default_rng(seed)
    judges = here.judges(people or max(k, len(here.questionnaires) * k // 4))
    guessing = {each.pk for each in judges[::5]}
    judgments = []
    truth: dict[int, np.ndarray] = {}
    common = {"state": AssignmentState.SUBMITTED, "pay": 400, "assigned_at": NOW, "submitted_at": NOW}
    made = [
        Assignment(
            questionnaire=sheet,
            participant=judges[(number * k + place) % len(judges)],
            external_id=f"a-{here.campaign.pk}-{number}-{place}",
            seconds=float(rng.uniform(600, 2400)),
            active_seconds=float(rng.uniform(500, 1800)),
            **common,
        )
        for number, sheet in enumerate(here.questionnaires)
        for place in range(k)
    ]
    made = Assignment.objects.bulk_create(made)
    held = list(Slot.objects.filter(campaign=here.campaign).order_by("rank"))
    for place, assignment in zip(held, made, strict=True):
        place.holder = assignment
    Slot.objects.bulk_update(held, ["holder"], batch_size=500)
    AssignmentTransition.objects.bulk_create(
        AssignmentTransition(assignment=each, after=AssignmentState.SUBMITTED, cause="submitted", at=NOW)
        for each in made
    )
    items = {sheet.pk: list(sheet.entries.values_list("item", flat=True)) for sheet in here.questionnaires}
    for assignment in made:
        is_random = assignment.participant_id in guessing
        for item in items[assignment.questionnaire_id]:
            if item not in truth:
                truth[item] = rng.integers(-1, 2, size=dimensions)
            noise = rng.integers(-1, 2, size=dimensions)
            keeps = rng.random(dimensions) < (0 if is_random else 0.8)
            values = np.where(keeps, truth[item], noise)
            judgments += [
                Judgment(assignment=assignment, item_id=item, dimension=dimension, value=int(value))
                for dimension, value in zip(here.dimensions, values, strict=True)
            ]
    # As they are while people answer: what was handed in takes no answer any more.
    Assignment.objects.filter(pk__in=[each.pk for each in made]).update(state=AssignmentState.ASSIGNED)
    Judgment.objects.bulk_create(judgments, batch_size=5000)
    Assignment.objects.filter(pk__in=[each.pk for each in made]).update(state=AssignmentState.SUBMITTED)
    return here
