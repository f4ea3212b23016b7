"""The passage banks, made up and published; candidates of other questions; folds."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis.rag.collections import candidates, folds, passage_banks
from analysis.rag.collections.fields import BadCollectionError
from analysis.rag.protocols import Collection, Document, Query
from tests.analysis.rag.collections.test_fields import written

DATA = os.environ.get("CROWDRAG_DATA", "")
published = pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA does not say where the published data is")


def row(index: int, **changed: object) -> dict[str, object]:
    passages = {field: f"{field} of {index}" for field in passage_banks.FIELDS}
    answers = {"answer": "yes", "gpt_false_ans": "no", "llama_false_ans": "never"}
    return {"index": index, "question": f"Question {index}?"} | answers | passages | changed


def test_a_question_has_its_true_and_false_passages(tmp_path):
    found = passage_banks.read(written(tmp_path, row(3), row(8), name="own_passages.jsonl"))
    assert found.name == "own"
    query = found.queries[0]
    assert (query.id, query.question, query.answers) == ("own-3", "Question 3?", ("yes",))
    said = {each.id: (each.author, each.answer, each.is_helpful) for each in query.documents}
    assert said == {
        "human_true": ("human", "yes", True),
        "gpt_true": ("gpt", "yes", True),
        "llama_true": ("llama", "yes", True),
        "gpt_false": ("gpt", "no", False),
        "llama_false": ("llama", "never", False),
        "human_false_gpt": ("human", "no", False),
        "human_false_llama": ("human", "never", False),
    }
    assert {each.style for each in query.documents} == {"normal"}
    assert [each.id for each in query.documents] != [each.id for each in found.queries[1].documents]


def test_a_bank_that_is_wrong(tmp_path):
    for rows, place in (
        ([row(0), row(0)], "line 2, index"),
        ([row("0")], "line 1, index"),
        ([row(0, gpt_true=" ")], "line 1, gpt_true"),
        ([row(0, answer=None)], "line 1, answer"),
        ([], "data.jsonl"),
    ):
        with pytest.raises(BadCollectionError, match=place):
            passage_banks.read(written(tmp_path, *rows))


def test_equal_documents_are_taken_away(tmp_path):
    bank = written(tmp_path, row(0, gpt_false="same", gpt_true="same", llama_false="again", human_false_llama="again"))
    found = candidates.without_repeats(passage_banks.read(bank))
    kept = {each.id: each.text for each in found.queries[0].documents}
    assert len(kept) == 5
    assert kept["gpt_true"] == "same"  # a true one stays
    assert len(kept.keys() & {"llama_false", "human_false_llama"}) == 1
    assert found.left_out == ((candidates.REPEATED, 2),)
    assert candidates.without_repeats(found) == found


def small(n: int, each: int) -> Collection:
    queries = tuple(
        Query(f"q{i}", "?", ("a",), tuple(Document(f"d{j}", f"text {i} {j}", score=1.0) for j in range(each)))
        for i in range(n)
    )
    return Collection("small", queries)


def test_documents_of_other_questions(tmp_path):
    found = candidates.with_others(small(6, 4), 3, np.random.default_rng(5))
    for query, before in zip(found.queries, small(6, 4).queries, strict=True):
        assert len(query.documents) == 7
        assert set(before.documents) <= set(query.documents)
        for each in set(query.documents) - set(before.documents):
            owner, _, key = each.id.partition(":")
            assert owner != query.id
            assert each.text == f"text {owner[1:]} {key[1:]}"
            assert each.is_helpful is False
            assert each.score is None
    assert found == candidates.with_others(small(6, 4), 3, np.random.default_rng(5))
    assert found != candidates.with_others(small(6, 4), 3, np.random.default_rng(6))
    assert all(len(query.documents) == 24 for query in
               candidates.with_others(small(6, 4), 20, np.random.default_rng(5)).queries)  # fmt: skip
    with pytest.raises(candidates.TooFewDocumentsError, match=r"20.*21"):
        candidates.with_others(small(6, 4), 21, np.random.default_rng(5))
    assert candidates.with_others(small(6, 4), 0, np.random.default_rng(5)).left_out == ()
    with pytest.raises(ValueError, match=r"\S"):
        candidates.with_others(small(6, 4), -1, np.random.default_rng(5))


def test_documents_of_other_questions_of_the_same_fold():
    folds = {f"q{i}": i % 2 for i in range(6)}  # q6 is in none
    found = candidates.with_others(small(7, 4), 5, np.random.default_rng(5), folds=folds)
    for query in found.queries[:6]:
        owners = {each.id.partition(":")[0] for each in query.documents if ":" in each.id}
        assert len(query.documents) == 9
        assert {folds[owner] for owner in owners} == {folds[query.id]}
        assert query.id not in owners
    assert found.queries[6] == small(7, 4).queries[6]
    with pytest.raises(candidates.TooFewDocumentsError, match=r"4 .*5"):
        candidates.with_others(small(4, 4), 5, np.random.default_rng(5), folds=folds)


def test_each_document_of_others_is_equally_likely():
    rng, drawn = np.random.default_rng(7), Counter()
    for _ in range(1500):
        query = candidates.with_others(small(3, 3), 2, rng).queries[0]
        drawn.update(each.id for each in query.documents if ":" in each.id)
    assert len(drawn) == 6
    assert sum(drawn.values()) == 3000
    assert stats.chisquare(list(drawn.values())).pvalue > 0.001


def test_a_text_that_is_there_is_not_drawn():
    texts = (("x",), ("x", "y", "y"), ("z",))
    queries = tuple(
        Query(f"q{i}", "?", (), tuple(Document(str(j), text) for j, text in enumerate(each)))
        for i, each in enumerate(texts)
    )
    for seed in range(20):
        one = candidates.with_others(Collection("c", queries), 1, np.random.default_rng(seed))
        drawn = [[each.text for each in query.documents if ":" in each.id] for query in one.queries]
        assert drawn[0] in (["y"], ["z"])
        assert drawn[1] == ["z"]
        assert drawn[2] in (["x"], ["y"])
    with pytest.raises(candidates.TooFewDocumentsError, match="q1"):
        candidates.with_others(Collection("c", queries), 2, np.random.default_rng(1))


def test_the_order_of_candidates_says_nothing():
    documents = [Document(f"d{i}", "x", is_helpful=i == 0) for i in range(4)]
    first = Counter(candidates.mixed(f"q{i}", documents)[0].id for i in range(2000))
    assert stats.chisquare([first[each.id] for each in documents]).pvalue > 0.001
    assert candidates.mixed("q", documents) == candidates.mixed("q", reversed(documents))


def test_folds_are_by_id_alone():
    queries = small(23, 1).queries
    where = folds.numbers(queries, n=5, seed=3)
    assert sorted(np.bincount(where)) == [4, 4, 5, 5, 5]
    backwards = folds.numbers(queries[::-1], n=5, seed=3)
    np.testing.assert_array_equal(where, backwards[::-1])
    assert (where != folds.numbers(queries, n=5, seed=4)).any()
    parts = [folds.divided(small(23, 1), fold, n=5, seed=3) for fold in range(5)]
    tested = [query.id for _, test in parts for query in test.queries]
    assert sorted(tested) == sorted(query.id for query in queries)
    for fold, (train, test) in enumerate(parts):
        assert not {query.id for query in train.queries} & {query.id for query in test.queries}
        assert [query for query, one in zip(queries, where, strict=True) if one == fold] == list(test.queries)
    # Fixed for good: a division that changes would mix what one run learned with what another tests.
    assert folds.numbers(queries[:10]).tolist() == [3, 2, 3, 4, 4, 2, 1, 1, 0, 0]


def test_folds_that_cannot_be():
    with pytest.raises(folds.TooFewQueriesError, match=r"3 .*5"):
        folds.numbers(small(3, 1).queries)
    with pytest.raises(ValueError, match=r"\S"):
        folds.numbers([*small(3, 1).queries, *small(3, 1).queries])
    with pytest.raises(ValueError, match=r"4.*5"):
        folds.divided(small(9, 1), 5)


@published
@pytest.mark.parametrize(("name", "repeats"), [("nq", 60), ("marco", 32)])
def test_the_published_banks(name, repeats):
    found = passage_banks.read(Path(DATA) / "self_preference" / f"{name}_passages.jsonl.gz")
    assert len(found.queries) == 300
    assert Counter(len(query.documents) for query in found.queries) == {7: 300}
    human = [next(each for each in query.documents if each.id == "human_true") for query in found.queries]
    assert all(q.answers[0].lower() in d.text.lower() for q, d in zip(found.queries, human, strict=True))
    assert candidates.without_repeats(found).left_out == ((candidates.REPEATED, repeats),)
    assert [query.id for query in found.queries][:2] == [f"{name}-0", f"{name}-1"]
