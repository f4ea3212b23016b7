"""What the page of metrics offers where BERTScores are not computed, or not all of them."""

from dataclasses import dataclass

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ...models import Encoder
from ..similarity import choosing, estimating, scoring
from ..similarity.choosing import Choice
from ..similarity.estimating import Estimate


@dataclass(frozen=True)
class Offered:
    """A model that scores may be computed with, and what that takes."""

    choice: Choice
    estimate: Estimate


@dataclass(frozen=True)
class Offer:
    """How BERTScores of a study stand.

    Attributes
    ----------
    models : list of Offered
        The default first.
    run : Run or None
        The latest run, if it is at work, failed or was cancelled.
    encoder : Encoder or None
        Which scores stand: those that an analysis takes.
    is_newer : bool
        Whether scores came after the analysis that is shown.
    """

    models: list[Offered]
    run: Run | None
    encoder: Encoder | None
    is_newer: bool

    @property
    def texts(self) -> int:
        """How many texts there are to compare."""
        return self.models[0].estimate.texts if self.models else 0

    @property
    def missing(self) -> int:
        """How many of them the default model has not encoded."""
        return self.models[0].estimate.missing if self.models else 0


def offer(study: Study, shown: Run | None) -> Offer:
    """See how BERTScores stand, for a page that shows an analysis (or none yet)."""
    latest = Run.objects.filter(study=study, kind=scoring.KIND).newest_first().first()
    encoder = Encoder.objects.filter(study=study, likenesses__isnull=False).order_by("-used_at", "-pk").first()
    since = shown.started_at or shown.created_at if shown else None
    return Offer(
        models=[Offered(choice, estimating.estimate(study, choice)) for choice in choosing.offered()],
        run=None if latest is None or latest.state == RunState.DONE else latest,
        encoder=encoder,
        is_newer=bool(encoder and since and encoder.used_at > since),
    )
