"""Compute live agreement and competence, and extend campaigns."""

import logging
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
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
from ..policies import services as policy_services
from . import agreement as progress_agreement
from . import costs
from . import figures as progress_figures
from .costs import Extension
from .queries import total_counts

# The number of campaigns computed in one pass of the sweep; the next pass continues with the others.
AT_ONCE: Final = 4
# With this many judgments, the figures are computed again no sooner than this long, for each judgment, after the last
# time: a judgment takes about 30 microseconds, so that this takes at most a fiftieth of a processor.
MANY: Final = 100_000
WAIT: Final = timedelta(microseconds=1_500)
log = logging.getLogger(__name__)


class LiveFigures(NamedTuple):
    """A campaign's current rows of live figures."""

    agreement: list[LiveAgreement]
    competence: list[LiveCompetence]


def refresh(*, campaign: Campaign, now: datetime, rng: Generator) -> LiveFigures:
    """Compute a campaign's agreement and competence from the judgments so far, and store them.

    Deterministic, given the judgments and the generator. Figures computed at a later time are not replaced.
    """
    agreements, competences = progress_agreement.compute(
        progress_agreement.load_judgments(campaign), k=campaign.k, rng=rng
    )
    _keep(campaign, agreements, competences, now)
    of = {"campaign": campaign}
    return LiveFigures(list(LiveAgreement.objects.filter(**of)), list(LiveCompetence.objects.filter(**of)))


def refresh_due(*, now: datetime, at_once: int = AT_ONCE) -> int:
    """Recompute the figures of campaigns whose judgments have changed; return the number of campaigns."""
    done = 0
    for campaign in due(now=now, at_once=at_once):
        try:
            refresh(campaign=campaign, now=now, rng=rng_of(campaign))
        except (InterfaceError, OperationalError):
            raise  # the sweep waits for the database
        except Exception:
            # A campaign that fails must not stop the others.
            log.exception("The live figures of campaign %s could not be computed", campaign.pk)
        else:
            done += 1
    return done


def due(*, now: datetime, at_once: int = AT_ONCE) -> list[Campaign]:
    """Return the campaigns whose judgments changed since their figures were computed, longest wait first.

    Those with very many judgments wait longer, since computing them takes long.
    """
    handed_out = Campaign.objects.filter(has_slots=True).exclude(state=CampaignState.DRAFT)
    known = handed_out.annotate(computed=Max("live_agreement__computed_at"))
    campaigns: list[Campaign] = []
    for campaign in known.order_by(F("computed").asc(nulls_first=True), "pk"):
        if _is_due(campaign, campaign.computed, now):  # type: ignore[attr-defined] # annotated above
            campaigns.append(campaign)
        if len(campaigns) == at_once:
            break
    return campaigns


def rng_of(campaign: Campaign) -> Generator:
    """Return the random generator of a campaign's figures, so that unchanged judgments give the same figures."""
    return np.random.default_rng(campaign.pk)


def changed_since(assignments: QuerySet[Assignment], since: datetime, counted: Collection[str]) -> bool:
    """Return whether assignments started or stopped counting since a time, by their state or a decision."""
    moved = AssignmentTransition.objects.filter(assignment__in=assignments, at__gt=since)
    if moved.filter(Q(before__in=counted) | Q(after__in=counted)).exists():
        return True
    return AssignmentDecision.objects.filter(assignment__in=assignments, decided_at__gt=since).exists()


def _is_due(campaign: Campaign, computed: datetime | None, now: datetime) -> bool:
    """Return whether judgments were added or removed since the figures were computed.

    Checks for transitions and decisions since then. Also compares the number of judgments, because transactions may
    have been open when the judgments were read.
    """
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign)
    if computed is None:
        return assignments.filter(state__in=progress_agreement.COUNTED).exists()
    stands = LiveAgreement.objects.filter(campaign=campaign).aggregate(n=Sum("judgments"))["n"] or 0
    if stands >= MANY and now - computed < stands * WAIT:
        return False
    if changed_since(assignments, computed, progress_agreement.COUNTED):
        return True
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
    """Return the size and cost if k people in total judge each questionnaire.

    Raises
    ------
    BadCampaign, WrongState
    """
    _check(campaign, k)
    return costs.extension(campaign, total_counts([campaign.pk])[campaign.pk], campaign.questionnaires.count(), k)


@transaction.atomic
def extend(*, campaign: Campaign, k: int, now: datetime) -> int:
    """Have each questionnaire judged by k people in total; return the number of new slots. Idempotent.

    The campaign's state stays the same. In a closed campaign, the slots are assigned after it is reopened.

    Raises
    ------
    BadCampaign
        if k is less than promised, or more than possible.
    WrongState
        if it was not opened yet, or its questionnaires are not assigned here.
    """
    held = questionnaires.lock_campaign(campaign)
    _check(held, k)
    progress_figures.forget(held)
    added = slots.extend(campaign=held, k=k, now=now)
    policy_services.refresh(campaign=held, now=now, rng=np.random.default_rng())
    return added


def _check(campaign: Campaign, k: int) -> None:
    if not campaign.has_slots or campaign.state == CampaignState.DRAFT:
        raise WrongState(campaign, CampaignState.OPEN)
    if k < campaign.k:
        raise BadCampaign({"k": str(slots.FewerSlots(campaign.k))})
    if k > slots.RANKS:
        raise BadCampaign({"k": f"At most {slots.RANKS} people can judge each questionnaire."})
