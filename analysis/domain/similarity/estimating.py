"""How much there is to encode, and how long it will take: for whoever is about to start it."""

from dataclasses import dataclass

from django.db.models import Count, Sum

from analysis.rag.checkpoints import BUNDLED
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ...models import Encoder, Encoding
from ..texts import Digest
from . import choosing, scoring
from .choosing import Choice

#: What an English word comes to, with its part of punctuation.
TOKENS_IN_A_WORD = 1.35
#: Measured on two cores (docs/methods/bertscore.md); what earlier runs took here counts for more.
SECONDS_PER_TOKEN = {BUNDLED: 0.0002}
#: Torch and the model are loaded.
SECONDS_TO_LOAD = 10.0


@dataclass(frozen=True)
class Estimate:
    """What a run would do.

    Attributes
    ----------
    texts : int
        Distinct texts that are compared.
    missing : int
        Of these, not encoded yet.
    seconds : float or None
        How long a run would take; None before the first run of a model that is not the bundled one.
    """

    texts: int
    missing: int
    seconds: float | None

    @property
    def minutes(self) -> int | None:
        """Whole minutes, at least one; None where it is not known."""
        return None if self.seconds is None else max(1, round(self.seconds / 60))


def estimate(study: Study, choice: Choice) -> Estimate:
    """Look at what stands, and at what earlier runs of this model took per token on this system."""
    topics = list(scoring.topics(study))
    texts = scoring.compared(study).filter(topic__external_id__in=topics).annotate(digest=Digest("text"))
    encoders = Encoder.objects.filter(study=study, model=choice.model)
    encoders = encoders if choice.layer is None else encoders.filter(layer=choice.layer)
    there = Encoding.objects.filter(encoder=encoders.order_by("-used_at", "-pk").first()).values("text")
    missing = texts.exclude(digest__in=there)
    counted = missing.aggregate(texts=Count("digest", distinct=True), words=Sum("words"))
    every = texts.aggregate(texts=Count("digest", distinct=True))["texts"]
    rate = _seconds_per_token(choice)
    tokens = (counted["words"] or 0) * TOKENS_IN_A_WORD
    seconds = None if rate is None else tokens * rate + SECONDS_TO_LOAD
    return Estimate(every, counted["texts"], seconds)


def _seconds_per_token(choice: Choice) -> float | None:
    """Of the latest run that encoded anything with this model, on whatever it ran."""
    runs = Run.objects.filter(kind=scoring.KIND, state=RunState.DONE, parameters__model=choice.model)
    for summary in runs.filter(summary__tokens__gt=0).newest_first().values_list("summary", flat=True)[:1]:
        return float(summary["seconds"]) / float(summary["tokens"])
    return SECONDS_PER_TOKEN.get(choice.model)


def known() -> list[Choice]:
    """The models that are offered."""
    return choosing.offered()
