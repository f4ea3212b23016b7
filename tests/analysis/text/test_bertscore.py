"""BERTScore on embeddings made up: by hand, and against the definition written as loops over tokens."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.text.bertscore import (
    BadEmbeddingError,
    Idf,
    MismatchError,
    Score,
    TokenEmbeddings,
    inverse_document_frequency,
    rescale,
    score,
    scores,
)


def text(vectors, ids=None, weighted=None) -> TokenEmbeddings:
    vectors = np.asarray(vectors, dtype=np.float32)
    n = len(vectors)
    return TokenEmbeddings(
        vectors,
        np.arange(n) if ids is None else np.asarray(ids),
        np.ones(n, dtype=bool) if weighted is None else np.asarray(weighted, dtype=bool),
    )


def made_up(seed: int, n: int) -> TokenEmbeddings:
    rng = np.random.default_rng(seed)
    weighted = np.ones(n, dtype=bool)
    weighted[[0, -1]] = n < 3
    return text(rng.normal(size=(n, 5)) + 0.5, rng.integers(0, 9, n), weighted)


def by_definition(
    candidate: TokenEmbeddings, reference: TokenEmbeddings, idf: Idf | None
) -> tuple[float, float, float]:
    """Equations 1 to 4 of the paper, a token at a time."""

    def cosine(x, y) -> float:
        dot = sum(float(a) * float(b) for a, b in zip(x, y, strict=True))
        return dot / math.sqrt(sum(float(a) ** 2 for a in x)) / math.sqrt(sum(float(b) ** 2 for b in y))

    def one_way(these: TokenEmbeddings, those: TokenEmbeddings) -> float:
        above = below = 0.0
        for vector, token, counts in zip(these.vectors, these.ids, these.weighted, strict=True):
            weight = float(counts) if idf is None else idf.weights.get(int(token), math.log(idf.documents + 1))
            above += weight * max(cosine(vector, other) for other in those.vectors)
            below += weight
        return above / below

    precision, recall = one_way(candidate, reference), one_way(reference, candidate)
    return precision, recall, 2 * precision * recall / (precision + recall)


@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 7))
def test_it_is_the_definition(seed, n, m):
    a, b = made_up(seed, n), made_up(seed + 1, m)
    idf = inverse_document_frequency([[0, 1, 2], [0, 3], [0, 1, 4]])
    for weights in (None, idf):
        if weights is not None and not (weights.of(a.ids).any() and weights.of(b.ids).any()):
            continue
        found = score(a, b, idf=weights)
        precision, recall, _ = by_definition(a, b, weights)
        assert (found.precision, found.recall) == pytest.approx((precision, recall), abs=2e-6)
        # Where the two nearly cancel, single precision decides the mean: it is compared with that of what was found.
        assert found.f1 == pytest.approx(
            2 * found.precision * found.recall / (found.precision + found.recall), rel=1e-6
        )


def test_by_hand():
    # The first token of the candidate is like nothing much (0.6), the second is there.
    found = score(text([[3, 4], [1, 0]]), text([[2, 0]]))
    assert (found.precision, found.recall) == pytest.approx((0.8, 1.0))
    assert found.f1 == pytest.approx(2 * 0.8 / 1.8)


def test_special_tokens_carry_no_weight_but_may_be_matched():
    candidate = text([[1, 0], [0, 1]], weighted=[False, True])
    assert score(candidate, text([[1, 0], [0, 1]], weighted=[True, False])).precision == pytest.approx(1)
    assert score(candidate, text([[1, 0]])).precision == pytest.approx(0)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6))
def test_the_other_way_round_swaps_precision_and_recall(seed, n, m):
    a, b = made_up(seed, n), made_up(seed + 1, m)
    one, other = scores([a, b], [(0, 1), (1, 0)])
    assert (one.precision, one.recall) == pytest.approx((other.recall, other.precision), abs=1e-6)
    assert one.f1 == pytest.approx(other.f1, abs=1e-6)


def test_pairs_do_not_depend_on_each_other():
    texts = [made_up(i, n) for i, n in enumerate((4, 7, 3, 6))]
    together = scores(texts, [(0, 1), (2, 3), (1, 3)])
    assert together == [score(texts[0], texts[1]), score(texts[2], texts[3]), score(texts[1], texts[3])]


def test_empty_texts_have_no_score():
    empty = text([[1, 0], [0, 1]], weighted=[False, False])
    for found in (score(empty, made_up2()), score(made_up2(), empty), score(empty, empty)):
        assert all(map(math.isnan, (found.precision, found.recall, found.f1)))


def made_up2() -> TokenEmbeddings:
    return text([[1, 0], [1, 1]])


def test_tokens_that_every_reference_holds_say_nothing():
    idf = inverse_document_frequency([[0, 1], [0, 1]])
    assert idf.weights == {0: 0.0, 1: 0.0}
    assert idf.of(np.array([7]))[0] == pytest.approx(math.log(3))
    assert math.isnan(score(text([[1, 0]], ids=[0]), made_up2(), idf=idf).f1)


def test_rescaled_scores_keep_their_order():
    assert rescale(Score(0.9, 0.8, 0.85), Score(0.8, 0.8, 0.8)) == Score(*map(pytest.approx, (0.5, 0.0, 0.25)))
    with pytest.raises(MismatchError):
        rescale(Score(0.9, 0.9, 0.9), Score(1.0, 1.0, 1.0))


@pytest.mark.parametrize("bad", [[[np.nan, 1]], [[np.inf, 1]], [[0, 0]]])
def test_an_embedding_that_is_none_is_an_error(bad):
    with pytest.raises(BadEmbeddingError):
        score(text(bad), made_up2())


def test_what_does_not_belong_together_is_an_error():
    with pytest.raises(MismatchError):
        score(text([[1, 0, 0]]), made_up2())
    with pytest.raises(MismatchError):
        text([[1, 0]], ids=[1, 2])
    with pytest.raises(MismatchError):
        inverse_document_frequency([])
