"""Campaigns as endpoints find them, and how what a domain function refuses is answered."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Prefetch, QuerySet

from crowdrag.api.endpoints import Endpoint
from crowdrag.api.problems import Problem

from ..domain import campaigns
from ..enums import Judges
from ..models import Campaign, CampaignDimension

WITH = ("study", "source", "instructions", "consent_text")
ASKED = Prefetch("asked", CampaignDimension.objects.select_related("dimension").order_by("position"))
T = TypeVar("T")


def of(endpoint: Endpoint) -> QuerySet[Campaign]:
    """Return the campaigns of the study that the address names."""
    return Campaign.objects.filter(study=endpoint.study).select_related(*WITH).prefetch_related(ASKED)


def of_people(endpoint: Endpoint) -> QuerySet[Campaign]:
    """Those that people judge; those that models judge are made and changed with the models' runs."""
    return of(endpoint).exclude(judges=Judges.MODEL)


def asked(do: Callable[..., T], *given: Any, **more: Any) -> T:
    """Have something done with a campaign, or say what is wrong with it."""
    try:
        return do(*given, **more)
    except campaigns.BadCampaign as error:
        said = [
            {"pointer": f"#/{field}" if field else "#", "detail": problem, "code": "refused"}
            for field, problem in error.problems.items()
        ]
        raise Problem("refused", str(error), errors=said) from None
    except campaigns.NotReady as error:
        said = [{"detail": problem, "code": "missing"} for problem in error.problems]
        raise Problem("conflict", str(error), errors=said) from None
    except campaigns.CampaignProblem as error:
        raise Problem("conflict", str(error)) from None
