"""Encoder models, and the storage of their encodings and scores."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import zstandard
from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone

from analysis.rag.checkpoints import LAYERS
from analysis.rag.encoders import Identity
from analysis.text.bertscore import Score, TokenEmbeddings
from crowdrag.studies.models import Study
from writing.models import Response

from ...inputs import arrays
from ...inputs.texts import Digest
from ..settings import BadParameterError
from .models import Encoder, Encoding, SimilarityScore


@dataclass(frozen=True)
class EncoderChoice:
    """A model and the layer used; None: the last layer."""

    model: str
    layer: int | None

    def __str__(self) -> str:
        return self.model if self.layer is None else f"{self.model}:{self.layer}"


def offered_models() -> list[EncoderChoice]:
    """Return the models that the operator configured, the default first."""
    return [parse_choice(named) for named in settings.BERTSCORE_MODELS]


def parse_choice(named: str) -> EncoderChoice:
    """Read `NAME` or `NAME:LAYER`; the default layer is that of the BERTScore authors, if they chose one."""
    model, colon, layer = named.strip().rpartition(":")
    if colon and layer.isdecimal():
        return EncoderChoice(model, int(layer))
    return EncoderChoice(named.strip(), LAYERS.get(named.strip()))


def choose_model(named: str = "") -> EncoderChoice:
    """Find an offered model by name; the default if no name is given.

    Raises
    ------
    BadParameterError
        If the operator did not configure the model. The operator is responsible for which models run.
    """
    choices = offered_models()
    if not choices:
        raise BadParameterError("The operator of this server offers no model (CROWDRAG_BERTSCORE_MODELS).")
    if not named:
        return choices[0]
    choice = parse_choice(named)
    if choice not in choices:
        listed = ", ".join(map(str, choices))
        raise BadParameterError(f"The model {named} is not available. Choose one of {listed}.")
    return choice


Pair = tuple[str, str]
# Encodings are stored with two bytes per number, so more than six decimals of a score are not meaningful.
DECIMALS = 6
_STEPS = np.float32(32767)
_LEVEL = 3


def pack(encoded: TokenEmbeddings) -> bytes:
    """Pack the IDs, weights and directions of the tokens, two bytes per number, compressed.

    The numbers of a token are integer fractions of its largest one. This is eight times as precise as two-byte floats,
    which would change the fifth digit of scores of short texts. Upper and lower bytes are stored separately because
    this compresses better.
    """
    unit = encoded.vectors / np.linalg.norm(encoded.vectors, axis=1, keepdims=True)
    largest = np.abs(unit).max(axis=1).astype("<f4")
    steps = np.ascontiguousarray(np.rint(unit / largest[:, None] * _STEPS), dtype="<i2").view(np.uint8).reshape(-1, 2)
    parts = [
        np.ascontiguousarray(encoded.ids, dtype="<i4").tobytes(),
        largest.tobytes(),
        encoded.weighted.astype(np.uint8).tobytes(),
        np.ascontiguousarray(steps.T).tobytes(),
    ]
    return zstandard.ZstdCompressor(level=_LEVEL).compress(b"".join(parts))


def unpack(payload: bytes, tokens: int, *, cut: bool = False) -> TokenEmbeddings:
    """Unpack the result of `pack`; vectors are float32, shape (tokens, n_dimensions)."""
    data = zstandard.ZstdDecompressor().decompress(payload)
    ids = np.frombuffer(data, dtype="<i4", count=tokens).astype(np.int64)
    largest = np.frombuffer(data, dtype="<f4", count=tokens, offset=4 * tokens)
    weighted = np.frombuffer(data, dtype=np.uint8, count=tokens, offset=8 * tokens).astype(bool)
    steps = np.frombuffer(data, dtype=np.uint8, offset=9 * tokens).reshape(2, -1)
    vectors = np.ascontiguousarray(steps.T).view("<i2").astype(np.float32).reshape(tokens, -1)
    vectors *= (largest / _STEPS)[:, None]
    return TokenEmbeddings(vectors, ids, weighted, cut)


def encoder(study: Study, identity: Identity) -> Encoder:
    """Return the row of an encoder, created if necessary, and mark it as used now."""
    row, _created = Encoder.objects.update_or_create(
        study=study,
        model=identity.model,
        layer=identity.layer,
        version=identity.version,
        defaults={"used_at": timezone.now()},
    )
    return row


def find(study: Study, identity: Identity) -> Encoder | None:
    """Return the row of an encoder; None if it has not been used in this study."""
    named = {"model": identity.model, "layer": identity.layer, "version": identity.version}
    return Encoder.objects.filter(study=study, **named).first()


def encodings(encoder: Encoder | None, texts: Collection[str]) -> dict[str, TokenEmbeddings]:
    """Return the stored encodings of these texts, by digest."""
    if encoder is None:
        return {}
    rows = Encoding.objects.filter(encoder=encoder, text__in=texts)
    return {row.text: unpack(bytes(row.payload), row.tokens, cut=row.is_truncated) for row in rows}


def scored(encoder: Encoder | None, texts: Collection[str]) -> set[Pair]:
    """Return the pairs of these texts that have a stored score."""
    if encoder is None:
        return set()
    rows = SimilarityScore.objects.filter(encoder=encoder, first__in=texts, second__in=texts)
    return set(rows.values_list("first", "second"))


def keep(
    study: Study,
    identity: Identity,
    *,
    encoded: Mapping[str, TokenEmbeddings],
    scores: Mapping[Pair, Score],
    responses: Iterable[int],
) -> None:
    """Store missing encodings and scores of texts that still exist; concurrent calls add no duplicates.

    `responses` are the primary keys of the responses with these texts. They are locked until the commit. A concurrent
    erasure thus comes before, and nothing of its text is stored, or after, and deletes what was stored.
    """
    held = Response.objects.filter(pk__in=list(responses), erased_at__isnull=True).order_by("pk")
    current_texts = set(held.select_for_update(no_key=True).values_list(Digest("text"), flat=True))
    by = encoder(study, identity)
    Encoding.objects.bulk_create(
        (
            Encoding(encoder=by, text=text, tokens=len(one.ids), is_truncated=one.cut, payload=pack(one))
            for text, one in sorted(encoded.items())
            if text in current_texts
        ),
        ignore_conflicts=True,
        batch_size=50,
    )
    SimilarityScore.objects.bulk_create(
        (
            SimilarityScore(encoder=by, first=first, second=second, precision=_rounded(score.precision),
                     recall=_rounded(score.recall), f1=_rounded(score.f1))
            for (first, second), score in sorted(scores.items())
            if {first, second} <= current_texts
        ),
        ignore_conflicts=True,
    )  # fmt: skip


def forget(study: Study) -> None:
    """Remove encodings and scores of texts that no longer exist."""
    current_texts = Response.objects.filter(study=study, erased_at__isnull=True).annotate(digest=Digest("text"))
    gone = Encoding.objects.filter(encoder__study=study).exclude(Exists(current_texts.filter(digest=OuterRef("text"))))
    gone.delete()
    for side in ("first", "second"):
        rows = SimilarityScore.objects.filter(encoder__study=study)
        rows.exclude(Exists(current_texts.filter(digest=OuterRef(side)))).delete()


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(value, DECIMALS) + 0.0


#: Setting of an analysis without BERTScores.
NO_SCORES = "none"


def read_scores(
    study: Study, responses: Sequence[arrays.Response], *, named: str = ""
) -> arrays.SimilarityScores | None:
    """Read the scores of these responses by the named or last used model; None if there are none.

    Raises
    ------
    BadParameterError
        If the named model has no scores in this study.
    """
    if named == NO_SCORES:
        return None
    encoders = Encoder.objects.filter(study=study)
    if named:
        choice = parse_choice(named)
        encoders = encoders.filter(model=choice.model)
        encoders = encoders if choice.layer is None else encoders.filter(layer=choice.layer)
    encoder = encoders.order_by("-used_at", "-pk").first()
    if encoder is None:
        if named:
            raise BadParameterError(f"This study has no BERTScores of {named}. Compute them first.")
        return None
    response_index: dict[str, int] = {}
    for i, response in enumerate(responses):
        response_index.setdefault(response.text, i)
    rows = SimilarityScore.objects.filter(encoder=encoder, first__in=response_index, second__in=response_index)
    pairs = sorted(
        (min(response_index[first], response_index[second]), max(response_index[first], response_index[second]), f1)
        for first, second, f1 in rows.values_list("first", "second", "f1")
    )
    return arrays.SimilarityScores(encoder.model, encoder.layer, encoder.version, tuple(pairs)) if pairs else None
