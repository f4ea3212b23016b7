"""Parameters of an uplift RAG experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from analysis.rag.uplift_rag.baselines.catalogue import BASELINES
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings
from analysis.rag.uplift_rag.reranker import Precision
from analysis.rag.uplift_rag.training import Weights
from analysis.rag.uplift_rag.uplift_labels import METRICS, Metric
from analysis.rag.uplift_rag.variants import UPLIFT, VARIANTS, Options

from ...methods.reference_metrics import encodings
from ...parameters import BadParameterError, parameter
from .. import retrievers
from ..experiment import LONGEST, ParameterReader
from .tables import TITLES

STANDARD = "standard"
ABLATIONS = tuple(name for name in VARIANTS if name != UPLIFT)


@dataclass(frozen=True)
class UpliftRagParameters(ParameterReader):
    """The experiment's own parameters. The defaults are the paper's (uplift_rag, section 3.1) where it states them.

    Retriever and encoders are exceptions: the paper uses e5-base-v2 and roberta-base, the defaults are on every
    machine.

    - `division`: seed of the folds, which do not depend on the run's seed.
    - `epochs` to `patience` apply to all trained rerankers, including the baselines'; `batch` counts questions. With a
      patience, one of the training folds is held out.
    - `weight_point` and `weight_pair` are lambda1 and lambda2, which the paper does not state.
    """

    retriever: str = parameter(
        "bm25",
        "Retriever",
        "text",
        help="bm25, bm25:all, given, dense:MODEL or splade:MODEL.",
        most=LONGEST,
    )
    retrieve: int = parameter(
        10,
        "Retrieved documents",
        "integer",
        help="Each document is labelled with a separate prompt.",
        least=1,
        most=100,
    )
    feed: int = parameter(
        5,
        "Selected documents",
        "integer",
        help="For methods with a fixed number.",
        least=1,
        most=100,
    )
    metric: Metric = parameter(  # noqa: RUF009 -- it makes a field
        "f1",
        "Uplift metric",
        "choice",
        help="Answers are always scored by both metrics.",
        choices=(("f1", "F1"), ("em", "Exact match")),
    )
    methods: tuple[str, ...] = parameter(
        tuple(BASELINES),
        "Compared with",
        "choices",
        help="Standard RAG is always included.",
        choices=tuple((name, TITLES[name]) for name in BASELINES),
    )
    ablations: tuple[str, ...] = parameter(
        ABLATIONS,
        "Ablations",
        "choices",
        help=(
            "Each loss trains separate rerankers. Without selection: the top documents, as many as standard "
            "RAG. Without reranking: the selected documents in the retriever's order."
        ),
        choices=tuple((name, TITLES[name]) for name in ABLATIONS),
    )
    splits: int = parameter(
        5,
        "Splits",
        "integer",
        help="Each question is tested with methods trained on the other splits.",
        least=2,
        most=20,
    )
    encoder: str = parameter(
        "",
        "Encoder",
        "text",
        help="Base model of the rerankers. Empty: the first available.",
        most=LONGEST,
    )
    epochs: int = parameter(10, "Epochs", "integer", least=1, most=100)
    learning_rate: float = parameter(
        1e-5,
        "Learning rate",
        "number",
        help=(
            "The paper's value is for roberta-base on 80,000 questions. Use a higher rate for few questions "
            "or small encoders."
        ),
        least=1e-7,
        most=1e-1,
    )
    other: str = parameter(
        "",
        "Exchange documents with",
        "model",
        help="Another model. Each model gets the documents that help the other.",
    )
    trained: str = parameter(
        "",
        "Rerankers of an earlier run",
        "text",
        help="The key of the run. No rerankers are trained then, so remove ablations of losses.",
        most=LONGEST,
        is_advanced=True,
    )
    embedder: str = parameter(
        "",
        "Sentence encoder",
        "text",
        help="For methods that compare questions. Empty: the first available.",
        most=LONGEST,
        is_advanced=True,
    )
    cross_encoder: str = parameter(
        "",
        "Trained cross-encoder",
        "text",
        help="For the plain reranker. Empty: one is trained on the data.",
        most=LONGEST,
        is_advanced=True,
    )
    batch: int = parameter(4, "Questions per step", "integer", least=1, most=256, is_advanced=True)
    longest: int = parameter(256, "Tokens per question and document", "integer", least=16, most=8192, is_advanced=True)
    warm_up: float = parameter(
        0.0,
        "Warm-up",
        "number",
        help="Share of steps with a rising learning rate.",
        least=0,
        most=0.9,
        is_advanced=True,
    )
    patience: int = parameter(
        0,
        "Patience",
        "integer",
        help="Stop after this many epochs without a lower held-out loss. 0: never.",
        least=0,
        most=100,
        is_advanced=True,
    )
    precision: Precision = parameter(  # noqa: RUF009 -- it makes a field
        "full",
        "Training precision",
        "choice",
        help="Half uses bfloat16 with full-precision weights, for GPUs.",
        choices=(("full", "full"), ("half", "half")),
        is_advanced=True,
    )
    weight_point: float = parameter(1.0, "Weight of the pointwise loss", "number", least=0, most=1000, is_advanced=True)
    weight_pair: float = parameter(1.0, "Weight of the pairwise loss", "number", least=0, most=1000, is_advanced=True)
    threshold: float = parameter(0.5, "Probability threshold", "number", least=0, most=1, is_advanced=True)
    max_tokens: int = parameter(32, "Tokens per answer", "integer", least=1, most=1024, is_advanced=True)
    division: int = parameter(
        0,
        "Split seed",
        "integer",
        help="A different number gives different splits.",
        least=0,
        most=10_000,
        is_advanced=True,
    )
    resamples: int = parameter(
        1000,
        "Resamples",
        "integer",
        help="Resamples of questions for intervals.",
        least=100,
        most=100_000,
        is_advanced=True,
    )

    @property
    def compared(self) -> tuple[str, ...]:
        """All methods, in the order of the tables: baselines, uplift RAG and its ablations."""
        baselines = [name for name in BASELINES if name in {*self.methods, STANDARD}]
        return (*baselines, UPLIFT, *self.ablations)

    @property
    def learning(self) -> tuple[str, ...]:
        """The methods and variants that are trained on each split; other variants share a reranker."""
        return tuple(name for name in self.compared if name not in VARIANTS or VARIANTS[name].trained_as == name)

    @property
    def options(self) -> Options:
        """The options that apply only to uplift RAG."""
        return Options(
            weights=Weights(self.weight_point, self.weight_pair, 1.0),
            threshold=self.threshold,
        )

    def settings(self, seed: int) -> BaselineSettings:
        """The settings that all methods share; raises `BadParameterError` if a model is not available."""
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
        """Check combinations of values, and that models are available."""
        for name, known in (("metric", METRICS), ("precision", get_args(Precision))):
            if getattr(self, name) not in known:
                message = "%(name)s must be one of %(known)s, not %(given)r."
                value = getattr(self, name)
                raise BadParameterError(message % {"name": name, "given": value, "known": ", ".join(known)})
        if self.feed > self.retrieve:
            message = (
                "“Selected documents” is %(feed)s. It must be at most %(retrieve)s, the number of retrieved documents."
            )
            raise BadParameterError(message % {"feed": self.feed, "retrieve": self.retrieve})
        objectives = [name for name in self.ablations if VARIANTS[name].without]
        if self.trained and objectives:
            message = "The ablations %(names)s need training. Remove them, or do not use rerankers of an earlier run."
            raise BadParameterError(message % {"names": ", ".join(objectives)})
        retrievers.check([self.retriever])
        self.settings(0)
