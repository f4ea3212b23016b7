"""Compute live agreement and competence, and ask for more judgments."""

import logging
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Max, Q, QuerySet, Sum
from numpy.random import Generator

from ..campaigns import questionnaires
from ..campaigns.problems import BadCampaign, WrongState
from ..enums import CampaignState
from ..judging import slots
from ..models import Assignment, AssignmentDecision, AssignmentTransition, Campaign, LiveAgreement, LiveCompetence
from . import agreement as progress_agreement
from . import costs
from .costs import Extension
from .overview import total_counts

# One pass of the sweep computes so many campaigns; the next pass goes on with the others.
AT_ONCE: Final = 4
log = logging.getLogger(__name__)


class LiveFigures(NamedTuple):
    """The rows that stand after a campaign's figures were computed."""

    agreement: list[LiveAgreement]
    competence: list[LiveCompetence]


def refresh(*, campaign: Campaign, now: datetime, rng: Generator) -> LiveFigures:
    """Compute a campaign's agreement and competence from the judgments so far, and keep them.

    The same judgments and generator give the same figures, however often it is called. Figures that were computed from
    a later state stay.
    """
    agreements, competences = progress_agreement.compute(
        progress_agreement.load_judgments(campaign), k=campaign.k, rng=rng
    )
    _keep(campaign, agreements, competences, now)
    of = {"campaign": campaign}
    return LiveFigures(list(LiveAgreement.objects.filter(**of)), list(LiveCompetence.objects.filter(**of)))


def refresh_due(*, now: datetime, at_once: int = AT_ONCE) -> int:
    """Compute the campaigns again whose judgments changed since they were computed; return how many were."""
    done = 0
    for campaign in due(at_once=at_once):
        try:
            refresh(campaign=campaign, now=now, rng=rng_of(campaign))
        except (InterfaceError, OperationalError):
            raise  # the sweep waits for the database
        except Exception:
            # One that cannot be computed must not keep the others from it.
            log.exception("The live figures of campaign %s could not be computed", campaign.pk)
        else:
            done += 1
    return done


def due(*, at_once: int = AT_ONCE) -> list[Campaign]:
    """Return the campaigns whose judgments changed since their figures were computed, those that wait longest first."""
    handed_out = Campaign.objects.filter(has_slots=True).exclude(state=CampaignState.DRAFT)
    known = handed_out.annotate(computed=Max("live_agreement__computed_at"))
    campaigns: list[Campaign] = []
    for campaign in known.order_by(F("computed").asc(nulls_first=True), "pk"):
        if _is_due(campaign, campaign.computed):  # type: ignore[attr-defined] # annotated above
            campaigns.append(campaign)
        if len(campaigns) == at_once:
            break
    return campaigns


def rng_of(campaign: Campaign) -> Generator:
    """Return the random generator of a campaign's figures: what has not changed gives the same figures again."""
    return np.random.default_rng(campaign.pk)


def changed_since(assignments: QuerySet[Assignment], since: datetime, counted: Collection[str]) -> bool:
    """Say whether assignments came to count, or ceased to, by their state or a decision about them."""
    moved = AssignmentTransition.objects.filter(assignment__in=assignments, at__gt=since)
    if moved.filter(Q(before__in=counted) | Q(after__in=counted)).exists():
        return True
    return AssignmentDecision.objects.filter(assignment__in=assignments, decided_at__gt=since).exists()


def _is_due(campaign: Campaign, computed: datetime | None) -> bool:
    """Say whether judgments came in or went out.

    A state that changed, or a decision, since then; and for those whose transaction was still open when the judgments
    were read, whether there are as many judgments as were counted.
    """
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign)
    if computed is None:
        return assignments.filter(state__in=progress_agreement.COUNTED).exists()
    if changed_since(assignments, computed, progress_agreement.COUNTED):
        return True
    stands = LiveAgreement.objects.filter(campaign=campaign).aggregate(n=Sum("judgments"))["n"] or 0
    return bool(stands != progress_agreement.count_judgments(campaign))


@transaction.atomic
def _keep(
    campaign: Campaign,
    agreements: Iterable[progress_agreement.Agreement],
    competences: Iterable[progress_agreement.Competence],
    now: datetime,
) -> None:
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    of = {"campaign": campaign}
    if LiveAgreement.objects.filter(**of, computed_at__gt=now).exists():
        return
    LiveAgreement.objects.filter(**of).delete()
    LiveCompetence.objects.filter(**of).delete()
    LiveAgreement.objects.bulk_create(
        LiveAgreement(
            **of,
            dimension_id=each.dimension,
            alpha=each.alpha,
            low=each.low,
            high=each.high,
            items=each.items,
            judgments=each.judgments,
            computed_at=now,
        )
        for each in agreements
    )
    LiveCompetence.objects.bulk_create(
        (
            LiveCompetence(
                **of,
                participant_id=each.participant,
                dimension_id=each.dimension,
                spam_probability=each.spam_probability,
                low=each.low,
                high=each.high,
                judgments=each.judgments,
                computed_at=now,
            )
            for each in competences
        ),
        batch_size=2000,
    )


def extension_cost(campaign: Campaign, k: int) -> Extension:
    """Return what it comes to if each questionnaire is judged by k people in all.

    Raises
    ------
    BadCampaign, WrongState
    """
    _check(campaign, k)
    return costs.extension(campaign, total_counts(campaign), campaign.questionnaires.count(), k)


@transaction.atomic
def extend(*, campaign: Campaign, k: int, now: datetime) -> int:
    """Have each questionnaire judged by k people in all; return how many places were made. Again it makes none.

    The campaign's state stays: places of one that is closed are taken once it is reopened.

    Raises
    ------
    BadCampaign
        if it is fewer than people were promised, or more than there can be.
    WrongState
        if it was not opened yet, or its questionnaires are not handed out here.
    """
    held = questionnaires.lock_campaign(campaign)
    _check(held, k)
    return slots.extend(campaign=held, k=k, now=now)


def _check(campaign: Campaign, k: int) -> None:
    if not campaign.has_slots or campaign.state == CampaignState.DRAFT:
        raise WrongState(campaign, CampaignState.OPEN)
    if k < campaign.k:
        raise BadCampaign({"k": str(slots.FewerSlots(campaign.k))})
    if k > slots.RANKS:
        raise BadCampaign({"k": f"At most {slots.RANKS} people can judge each questionnaire."})
