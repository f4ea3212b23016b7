"""Runs that compute the BERTScores of a study's responses, a few topics at a time, with an estimate of the work."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, OuterRef, Sum
from django.urls import reverse

from analysis.rag import checkpoints, encoders
from analysis.rag.checkpoints import BUNDLED
from analysis.rag.generation import model_cache
from analysis.text import bertscore
from analysis.text.statements import without_markers
from annotation.models import Pair
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.enums import Queue, RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study, User
from writing.models import Response

from ...inputs.texts import Digest, digest
from . import encodings
from .encodings import EncoderChoice
from .models import Encoder, Encoding

KIND = "metrics.bertscore"
#: Approximate number of responses in a unit: a few seconds on two cores with the bundled model.
TEXTS_IN_A_UNIT = 24


class NothingToCompareError(LookupError):
    """No topic has two responses that are compared with each other."""

    def __init__(self) -> None:
        super().__init__("There is nothing to compare. BERTScore needs topics with two or more responses in pairs.")


def responses_to_compare(study: Study) -> "models.QuerySet[Response]":
    """Return the valid responses that are in pairs: those that get grades."""
    rows = Response.objects.filter(study=study, erased_at__isnull=True).included()
    pairs = Pair.objects.filter(study=study)
    return rows.filter(Exists(pairs.filter(a=OuterRef("pk"))) | Exists(pairs.filter(b=OuterRef("pk"))))


def start(*, study: Study, model: str = "", by: User | None = None) -> Run:
    """Start a run that computes the missing encodings and scores with an offered model."""
    choice = encodings.choose_model(model)
    if not topics_to_compare(study):
        raise NothingToCompareError
    return lifecycle.start(study=study, kind=KIND, parameters={"model": choice.model, "layer": choice.layer}, by=by)


def topics_to_compare(study: Study) -> dict[str, int]:
    """Return the topics with responses to compare, and their number of responses."""
    responses: dict[str, int] = defaultdict(int)
    for topic in responses_to_compare(study).values_list("topic__external_id", flat=True):
        responses[topic] += 1
    return {topic: n for topic, n in sorted(responses.items()) if n > 1}


def plan(run: Run) -> Iterable[dict[str, Any]]:
    """Distribute the topics over work units."""
    units: list[list[str]] = []
    texts = 0
    for topic, n in topics_to_compare(run.study).items():
        if not units or texts + n > TEXTS_IN_A_UNIT:
            units.append([])
            texts = 0
        units[-1].append(topic)
        texts += n
    return [{"topics": unit} for unit in units]


def load(model: str, layer: int | None) -> encoders.Encoder:
    """Load an encoder; the worker keeps it in its cache of models while there is room."""
    encoder: encoders.Encoder = model_cache.MODELS.take(
        ("bertscore", model, layer), partial(encoders.load, model, layer=layer)
    )
    return encoder


@dataclass(frozen=True)
class _Text:
    row: int
    digest: str
    text: str


def work(work: kinds.Work) -> Callable[[], None]:
    """Encode and score some topics; the results of each topic are stored when it is done."""
    study, parameters = work.run.study, work.run.parameters
    names = work.unit.payload["topics"]
    work.report(0, len(names), "Loading the model")
    try:
        encoder = load(parameters["model"], parameters["layer"])
    except (
        checkpoints.NeuralPartsMissingError,
        checkpoints.ModelMissingError,
        encoders.BadLayerError,
        encoders.UnsupportedModelError,
    ) as error:
        raise kinds.InputRejectedError([{"message": str(error)}]) from error
    done = _FinishedTopic()
    for i, topic in enumerate(names):
        work.report(i, len(names), f"Topic {topic}")
        if (effect := _score(study, encoder, _texts(study, topic), done)) is not None:
            work.keep(effect)
    return partial(_note, work.run, encoder, done)


@dataclass
class _FinishedTopic:
    """Counts of new work in one unit."""

    texts: int = 0
    tokens: int = 0
    pairs: int = 0
    cut: int = 0
    seconds: float = 0.0


def _texts(study: Study, topic: str) -> list[_Text]:
    rows = responses_to_compare(study).filter(topic__external_id=topic).order_by("pk").values_list("pk", "text")
    return [_Text(row, digest(text), text) for row, text in rows]


def _score(
    study: Study, encoder: encoders.Encoder, texts: list[_Text], done: _FinishedTopic
) -> Callable[[], None] | None:
    """Compute the missing encodings and scores of a topic; None if nothing is missing."""
    by_digest = {text.digest: text.text for text in texts}
    names = sorted(by_digest)
    row = encodings.find(study, encoder.identity)
    scored = encodings.scored(row, names)
    pairs = [pair for pair in combinations(names, 2) if pair not in scored]
    digests = sorted({name for pair in pairs for name in pair})
    if not digests:
        return None
    encoded = encodings.encodings(row, digests)
    missing = [name for name in digests if name not in encoded]
    began = time.monotonic()
    embeddings = encoder.encode([without_markers(by_digest[name]) for name in missing])
    done.seconds += time.monotonic() - began
    done.texts += len(embeddings)
    done.tokens += sum(len(one.ids) for one in embeddings)
    done.cut += sum(one.cut for one in embeddings)
    done.pairs += len(pairs)
    new = dict(zip(missing, embeddings, strict=True))
    # Use the packed form, as later runs will: a score must not depend on whether its texts were encoded before.
    ready = encoded | {name: encodings.unpack(encodings.pack(one), len(one.ids)) for name, one in new.items()}
    places = {name: i for i, name in enumerate(digests)}
    scores = bertscore.scores(
        [ready[name] for name in digests], [(places[first], places[second]) for first, second in pairs]
    )
    return partial(
        encodings.keep,
        study,
        encoder.identity,
        encoded=new,
        scores=dict(zip(pairs, scores, strict=True)),
        responses=[text.row for text in texts],
    )


def _note(run: Run, encoder: encoders.Encoder, done: _FinishedTopic) -> None:
    """Add to the sums of the run, holding its row lock: several units may end at the same time."""
    encodings.encoder(run.study, encoder.identity)
    summary = Run.objects.select_for_update(no_key=True).values_list("summary", flat=True).get(pk=run.pk)
    sums = {name: summary.get(name, 0) + value for name, value in vars(done).items()}
    identity = encoder.identity
    about = {"model": identity.model, "layer": identity.layer, "version": identity.version}
    lifecycle.note(
        run=run, summary={**sums, "seconds": round(sums["seconds"], 3), **about, "device": str(encoder.device)}
    )


def _result_url(run: Run) -> str:
    return reverse("reference_metrics", args=[run.study.slug])


def _describe_parameters(run: Run) -> dict[str, Any]:
    layer = run.parameters.get("layer")
    named = run.parameters.get("model", "")
    return {"Model": named, "Layer": "last" if layer is None else layer}


def register() -> None:
    """Register the run kind when the app is ready."""
    kinds.register(
        kinds.Kind(
            name=KIND,
            title="BERTScore",
            queue=queue(),
            plan=plan,
            work=work,
            result_url=_result_url,
            describe=_describe_parameters,
            subjects=lambda runs: {run.pk: str(run.parameters.get("model", "")) for run in runs},
        )
    )


def queue() -> str:
    """Return the queue of these runs: that of the accelerator, if a worker has one."""
    return Queue.GPU if settings.HAS_GPU_WORKER else Queue.DEFAULT


#: Average number of tokens per English word, including punctuation.
TOKENS_IN_A_WORD = 1.35
#: Measured on two cores (docs/methods/bertscore.md); earlier runs on this system take precedence.
SECONDS_PER_TOKEN = {BUNDLED: 0.0002}
#: Time to load Torch and the model.
SECONDS_TO_LOAD = 10.0


@dataclass(frozen=True)
class EncodingEstimate:
    """Estimated work of a run.

    Attributes
    ----------
    texts : int
        Number of distinct texts to compare.
    missing : int
        How many of them are not encoded yet.
    seconds : float or None
        Estimated duration; None before the first run of a model other than the bundled one.
    """

    texts: int
    missing: int
    seconds: float | None

    @property
    def minutes(self) -> int | None:
        """Whole minutes, at least one; None if unknown."""
        return None if self.seconds is None else max(1, round(self.seconds / 60))


def estimate_encoding(study: Study, choice: EncoderChoice) -> EncodingEstimate:
    """Estimate the work from what is already stored and the model's speed in earlier runs."""
    topics = list(topics_to_compare(study))
    texts = responses_to_compare(study).filter(topic__external_id__in=topics).annotate(digest=Digest("text"))
    encoders = Encoder.objects.filter(study=study, model=choice.model)
    encoders = encoders if choice.layer is None else encoders.filter(layer=choice.layer)
    encoded_texts = Encoding.objects.filter(encoder=encoders.order_by("-used_at", "-pk").first()).values("text")
    missing = texts.exclude(digest__in=encoded_texts)
    counted = missing.aggregate(texts=Count("digest", distinct=True), words=Sum("words"))
    every = texts.aggregate(texts=Count("digest", distinct=True))["texts"]
    rate = _seconds_per_token(choice)
    tokens = (counted["words"] or 0) * TOKENS_IN_A_WORD
    seconds = None if rate is None else tokens * rate + SECONDS_TO_LOAD
    return EncodingEstimate(every, counted["texts"], seconds)


def _seconds_per_token(choice: EncoderChoice) -> float | None:
    """Return the speed of the latest run that encoded anything with this model, on any device."""
    runs = Run.objects.filter(kind=KIND, state=RunState.DONE, parameters__model=choice.model)
    for summary in runs.filter(summary__tokens__gt=0).newest_first().values_list("summary", flat=True)[:1]:
        return float(summary["seconds"]) / float(summary["tokens"])
    return SECONDS_PER_TOKEN.get(choice.model)


def already_encoded() -> list[EncoderChoice]:
    """Return the offered models."""
    return encodings.offered_models()
