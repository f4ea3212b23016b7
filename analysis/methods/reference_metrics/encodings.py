"""Encoder models, and their encodings and scores as rows."""

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
    """A model and the layer that is used of it; None: its last one."""

    model: str
    layer: int | None

    def __str__(self) -> str:
        return self.model if self.layer is None else f"{self.model}:{self.layer}"


def offered_models() -> list[EncoderChoice]:
    """The models that the operator named, the default first."""
    return [parse_choice(named) for named in settings.BERTSCORE_MODELS]


def parse_choice(named: str) -> EncoderChoice:
    """Read `NAME` or `NAME:LAYER`; without a layer the one that BERTScore's authors chose, where they chose one."""
    model, colon, layer = named.strip().rpartition(":")
    if colon and layer.isdecimal():
        return EncoderChoice(model, int(layer))
    return EncoderChoice(named.strip(), LAYERS.get(named.strip()))


def choose_model(named: str = "") -> EncoderChoice:
    """Find a model among those offered; the default where none is named.

    Raises
    ------
    BadParameterError
        If the operator did not name it: a model is a program's input that somebody must answer for.
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
# Scores are kept with six decimals: encodings are kept in two bytes a number, and more would say nothing.
DECIMALS = 6
_STEPS = np.float32(32767)
_LEVEL = 3


def pack(encoded: TokenEmbeddings) -> bytes:
    """Ids, weights and directions of the tokens, two bytes a number, compressed.

    A token's numbers are whole parts of its largest one: eight times as exact as floats of two bytes, which would move
    scores of short texts in the fifth digit. Upper bytes stand apart from lower ones: they are alike and take less
    room.
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
    """Read what `pack` wrote; vectors as float32, shape (tokens, n_dimensions)."""
    data = zstandard.ZstdDecompressor().decompress(payload)
    ids = np.frombuffer(data, dtype="<i4", count=tokens).astype(np.int64)
    largest = np.frombuffer(data, dtype="<f4", count=tokens, offset=4 * tokens)
    weighted = np.frombuffer(data, dtype=np.uint8, count=tokens, offset=8 * tokens).astype(bool)
    steps = np.frombuffer(data, dtype=np.uint8, offset=9 * tokens).reshape(2, -1)
    vectors = np.ascontiguousarray(steps.T).view("<i2").astype(np.float32).reshape(tokens, -1)
    vectors *= (largest / _STEPS)[:, None]
    return TokenEmbeddings(vectors, ids, weighted, cut)


def encoder(study: Study, identity: Identity) -> Encoder:
    """The row of what encodes; made if it is new, and marked as used now."""
    row, _created = Encoder.objects.update_or_create(
        study=study,
        model=identity.model,
        layer=identity.layer,
        version=identity.version,
        defaults={"used_at": timezone.now()},
    )
    return row


def find(study: Study, identity: Identity) -> Encoder | None:
    """The row of what encodes, if it ever did in this study."""
    named = {"model": identity.model, "layer": identity.layer, "version": identity.version}
    return Encoder.objects.filter(study=study, **named).first()


def encodings(encoder: Encoder | None, texts: Collection[str]) -> dict[str, TokenEmbeddings]:
    """Those texts, by digest, that were encoded before."""
    if encoder is None:
        return {}
    rows = Encoding.objects.filter(encoder=encoder, text__in=texts)
    return {row.text: unpack(bytes(row.payload), row.tokens, cut=row.is_truncated) for row in rows}


def scored(encoder: Encoder | None, texts: Collection[str]) -> set[Pair]:
    """Pairs of these texts that were scored before."""
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

    `responses` are the rows whose texts these are. They are held until the commit, so that an erasure comes before,
    and nothing of the text is added, or after, and takes it away.
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
    """Remove encodings and scores of texts that are not there any more."""
    current_texts = Response.objects.filter(study=study, erased_at__isnull=True).annotate(digest=Digest("text"))
    gone = Encoding.objects.filter(encoder__study=study).exclude(Exists(current_texts.filter(digest=OuterRef("text"))))
    gone.delete()
    for side in ("first", "second"):
        rows = SimilarityScore.objects.filter(encoder__study=study)
        rows.exclude(Exists(current_texts.filter(digest=OuterRef(side)))).delete()


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(value, DECIMALS) + 0.0


#: Says that an analysis leaves BERTScores out.
NO_SCORES = "none"


def read_scores(
    study: Study, responses: Sequence[arrays.Response], *, named: str = ""
) -> arrays.SimilarityScores | None:
    """Read the scores of these responses by the model named, else by the one used last; None if there are none.

    Raises
    ------
    BadParameterError
        If a model is named that scored nothing in this study.
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
