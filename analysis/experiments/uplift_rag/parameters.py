"""What an uplift RAG experiment is made with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, get_args

from django.utils.translation import gettext as _

from analysis.rag.uplift_rag.baselines.catalogue import BASELINES
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings
from analysis.rag.uplift_rag.reranker import Precision
from analysis.rag.uplift_rag.training import Weights
from analysis.rag.uplift_rag.uplift_labels import METRICS, Metric
from analysis.rag.uplift_rag.variants import UPLIFT, VARIANTS, Options

from ...methods.reference_metrics import encodings
from .. import retrievers
from ..experiment import BadParameterError, ParameterReader

STANDARD = "standard"
ABLATIONS = tuple(name for name in VARIANTS if name != UPLIFT)
PRECISIONS = get_args(Precision)
LISTS = {"methods": tuple(BASELINES), "ablations": ABLATIONS}
#: Numbers with their least and greatest value.
BOUNDS: dict[str, tuple[float, float]] = {
    "retrieve": (1, 100),
    "feed": (1, 100),
    "splits": (2, 20),
    "division": (0, 10_000),
    "epochs": (1, 100),
    "learning_rate": (1e-7, 1e-1),
    "batch": (1, 256),
    "longest": (16, 8192),
    "warm_up": (0, 0.9),
    "patience": (0, 100),
    "weight_point": (0, 1000),
    "weight_pair": (0, 1000),
    "threshold": (0, 1),
    "max_tokens": (1, 1024),
    "resamples": (100, 100_000),
}
LONGEST = 200


@dataclass(frozen=True)
class UpliftRagParameters(ParameterReader):
    """The experiment's own parameters; the defaults are the paper's (uplift_rag, 3.1) where it names them.

    But for the retriever (e5-base-v2 there) and what rerankers start from: these are what every machine has.

    Attributes
    ----------
    retriever : str
        Ranks a question's candidates, as `retrieving.retriever` reads it.
    retrieve, feed : int
        How many documents of the ranking are labelled and reranked, and how many a fixed top-k hands over.
    metric : str
        What uplift is measured by, `f1` or `em`; answers are always scored by both.
    splits : int
        Folds: each question is tested once, by what was trained on the other folds.
    division : int
        Another number, another division into folds; the run's seed changes nothing of it.
    methods : tuple of str
        Beside uplift RAG, of `catalogue.BASELINES`; `standard` is always among them, as all are compared with it.
    ablations : tuple of str
        Of `ours.VARIANTS`.
    encoder : str
        What rerankers start from (roberta-base in the paper); "" for the first one that the operator offers.
    embedder : str
        The same for methods that compare questions by one vector.
    cross_encoder : str
        A trained cross-encoder for the plain reranker; "": one is trained on the data.
    epochs, learning_rate, batch, longest, warm_up, patience : number
        Of all rerankers that are trained, the baselines' as well; a batch is of questions. With a patience one of the
        training folds is held out to stop early by; 0 trains all epochs.
    precision : "full" or "half"
        That rerankers are trained in; half is for CUDA devices.
    weight_point, weight_pair : float
        lambda1 and lambda2, which the paper does not publish.
    threshold : float
        What the probability of a document must exceed.
    other : str
        Another generator, between which and the run's the documents that help are exchanged; "" for none.
    trained : str
        The key of an earlier uplift run whose rerankers are used; "": they are trained.
    max_tokens : int
        Of an answer.
    resamples : int
        Of questions, for intervals.
    """

    retriever: str = "bm25"
    retrieve: int = 10
    feed: int = 5
    metric: Metric = "f1"
    splits: int = 5
    division: int = 0
    methods: tuple[str, ...] = tuple(BASELINES)
    ablations: tuple[str, ...] = ABLATIONS
    encoder: str = ""
    embedder: str = ""
    cross_encoder: str = ""
    epochs: int = 10
    learning_rate: float = 1e-5
    batch: int = 4
    longest: int = 256
    warm_up: float = 0.0
    patience: int = 0
    precision: Precision = "full"
    weight_point: float = 1.0
    weight_pair: float = 1.0
    threshold: float = 0.5
    other: str = ""
    trained: str = ""
    max_tokens: int = 32
    resamples: int = 1000

    @staticmethod
    def read(name: str, usual: Any, value: Any) -> Any:
        """Return one value as its field holds it."""
        return _read(name, usual, value)

    @property
    def compared(self) -> tuple[str, ...]:
        """All methods, in the order of the tables: the baselines, uplift RAG, and what it is without its parts."""
        baselines = [name for name in BASELINES if name in {*self.methods, STANDARD}]
        return (*baselines, UPLIFT, *self.ablations)

    @property
    def learning(self) -> tuple[str, ...]:
        """What is fitted on each split: methods and variants with objectives of their own; others share a reranker."""
        return tuple(name for name in self.compared if name not in VARIANTS or VARIANTS[name].trained_as == name)

    @property
    def options(self) -> Options:
        """What uplift RAG has beside what all methods share."""
        return Options(
            weights=Weights(self.weight_point, self.weight_pair, 1.0),
            threshold=self.threshold,
        )

    def settings(self, seed: int) -> BaselineSettings:
        """What all methods share; raises `BadParameterError` where a model is not offered."""
        return BaselineSettings(
            feed=self.feed,
            max_tokens=self.max_tokens,
            metric=self.metric,
            encoder=encodings.choose_model(self.encoder).model,
            embedder=encodings.choose_model(self.embedder).model,
            cross_encoder=encodings.choose_model(self.cross_encoder).model if self.cross_encoder else "",
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            batch=self.batch,
            longest=self.longest,
            warm_up=self.warm_up,
            patience=self.patience or None,
            precision=self.precision,
            seed=seed,
        )

    def check(self) -> None:
        """Check what goes together, and that models are offered."""
        if self.metric not in METRICS:
            message = _("metric is %(given)r; it is one of %(known)s.")
            raise BadParameterError(message % {"given": self.metric, "known": ", ".join(METRICS)})
        if self.precision not in PRECISIONS:
            message = _("precision is %(given)r; it is one of %(known)s.")
            raise BadParameterError(message % {"given": self.precision, "known": ", ".join(PRECISIONS)})
        if self.feed > self.retrieve:
            message = _("feed is %(feed)s, more than the %(retrieve)s documents that are retrieved.")
            raise BadParameterError(message % {"feed": self.feed, "retrieve": self.retrieve})
        objectives = [name for name in self.ablations if VARIANTS[name].without]
        if self.trained and objectives:
            message = _(
                "ablations holds %(names)s, which must be trained; with rerankers of an earlier run leave them out."
            )
            raise BadParameterError(message % {"names": ", ".join(objectives)})
        retrievers.check([self.retriever])
        self.settings(0)


def _read(name: str, usual: Any, value: Any) -> Any:
    """A value of its default's type."""
    if name in LISTS:
        known = LISTS[name]
        if isinstance(value, str) or not isinstance(value, Sequence) or not set(value) <= set(known):
            message = _("%(name)s is %(value)r; it is a list of some of: %(known)s.")
            raise BadParameterError(message % {"name": name, "value": value, "known": ", ".join(known)})
        return tuple(item for item in known if item in value)
    if isinstance(usual, str):
        if not isinstance(value, str) or len(value) > LONGEST:
            message = _("%(name)s is %(value)r; it is a text of at most %(most)s letters.")
            raise BadParameterError(message % {"name": name, "value": value, "most": LONGEST})
        return value.strip()
    least, most = BOUNDS[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    is_whole = is_number and float(value).is_integer()
    if not is_number or (isinstance(usual, int) and not is_whole) or not least <= value <= most:
        message = _("%(name)s is %(value)r; it is a number from %(least)s to %(most)s.")
        raise BadParameterError(message % {"name": name, "value": value, "least": least, "most": most})
    return int(value) if isinstance(usual, int) else float(value)
