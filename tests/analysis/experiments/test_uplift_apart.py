"""Folds of an uplift run have no document in common: strangers come from the fold, shared texts are not learnt from."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `neural` is not installed")

from analysis.domain.experiments import collecting, starting  # noqa: E402
from analysis.domain.experiments.experiment import get  # noqa: E402
from analysis.domain.experiments.uplift import keeping, questions, working  # noqa: E402
from analysis.domain.experiments.uplift import methods_paragraph as paragraph  # noqa: E402
from analysis.domain.experiments.uplift.parameters import Parameters  # noqa: E402
from analysis.rag.uplift.baselines.protocol import Training  # noqa: E402
from crowdrag.runs import kinds  # noqa: E402
from crowdrag.runs.domain import executing, running  # noqa: E402
from crowdrag.runs.models import Run  # noqa: E402
from tests.analysis.rag.uplift import planted  # noqa: E402
from tests.llm.conftest import endpoint, server  # noqa: E402, F401 - fixtures

from .test_uplift import SMALL, _line, asked, encoder, generator, one, rows  # noqa: E402, F401 - fixtures

pytestmark = pytest.mark.django_db(transaction=True)

LEARNING = ["naive", "standard", "cross_encoder", "aar", "skr", "adaptive", "dpa"]


@pytest.fixture
def handed_over(monkeypatch) -> Iterator[list[Training]]:
    """All that methods were given to learn from, in the order of the units."""
    seen: list[Training] = []

    def _training(*args, **named) -> Training:
        seen.append(Training(*args, **named))
        return seen[-1]

    monkeypatch.setattr(working, "Training", _training)
    return seen


@pytest.fixture
def with_strangers(asked, tmp_path):  # noqa: F811
    """Make an order with strangers on questions of which two, tested in different splits, have one text."""

    def _order(others: int = 3, n: int = 14, *, shared: bool = True, **given) -> starting.Order:
        lines = [_line(query) for query in planted.queries(n, np.random.default_rng(3), documents=5)]
        if shared:
            where = questions.fold_of(
                replace_names([line["id"] for line in lines]), Parameters.from_dict({"splits": 2})
            )
            first, second = (next(i for i, each in enumerate(lines) if where[each["id"]] == fold) for fold in (0, 1))
            lines[second]["documents"][0]["text"] = f" {lines[first]['documents'][0]['text']}\n"
        path = tmp_path / f"strangers-{n}-{shared}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        made = asked(retriever="bm25", retrieve=10, **given)
        upload = starting.hand_in(made.study, path)
        collection = starting.of_upload(made.study, "qa", upload.pk, others)
        return starting.order(get("uplift"), made.study, made.parameters | {"collection": collection}, seed=made.seed)

    return _order


def replace_names(names: list[str]):
    query = planted.queries(1, np.random.default_rng(0))[0]
    return collecting.Collection("names", tuple(replace(query, id=name) for name in names))


def texts_of(run: Run) -> dict[int, set[str]]:
    """Of each split the texts of all candidates that its questions have."""
    found = collecting.collection(
        run.parameters, run.study, seed=run.seed, folds=get("uplift").dividing(run.parameters)
    )
    where = questions.fold_of(found, Parameters.from_dict(_own(run)))
    texts: dict[int, set[str]] = {0: set(), 1: set()}
    for query in found.queries:
        texts[where[query.id]] |= {" ".join(document.text.split()) for document in query.documents}
    return texts


def _own(run: Run) -> dict:
    return {name: value for name, value in run.parameters.items() if name not in ("collection", "generator", "queries")}


def learnt(training: Training) -> set[str]:
    """All texts that a method could see, be it as a label or as a candidate of a question."""
    labelled = (*training.labelled, *training.held_out)
    documents = [*(d for each in labelled for d in each.documents), *(d for e in labelled for d in e.query.documents)]
    return {" ".join(document.text.split()) for document in documents}


def test_nothing_that_is_trained_has_seen_a_text_of_what_it_is_tested_on(with_strangers, handed_over) -> None:
    run = running.wait(starting.start(with_strangers(methods=LEARNING, ablations=["without_pair"], patience=0)))
    found = rows(run)
    tested = texts_of(run)
    assert len(handed_over) == 2 * (len(LEARNING) + 2)
    splits = [min(tested, key=lambda split: len(tested[split] & learnt(each))) for each in handed_over]
    for each, split in zip(handed_over, splits, strict=True):
        assert learnt(each)
        assert not tested[split] & learnt(each)
        assert len(each.labelled) == 7  # as many as the other split has: none was lost
    assert sorted(splits) == [0] * 9 + [1] * 9
    assert {row["left_out"] for row in found["uplift_training"]} - {0}  # the text that two questions have
    strangers = one(found["uplift_counts"], name="strangers")
    assert (strangers["count"], strangers["note"]) == (3 * 14, "drawn among the questions of the same split")
    said = paragraph.methods(run, found).paragraphs[0]
    assert "3 documents of other questions, drawn at random among those of its own fold" in said


def test_a_run_from_before_goes_on_with_the_documents_that_it_began_with_and_says_so(
    with_strangers, handed_over
) -> None:
    made = with_strangers(methods=["naive"], ablations=[])
    earlier = dict(made.parameters["collection"])
    assert earlier.pop(collecting.APART) is True
    old = replace(made, parameters=made.parameters | {"collection": earlier})
    run = starting.start(old)
    for _unit in range(3):
        assert executing.work_next(run)
    running.cancel(run=run)
    collecting._kept.clear()  # another process goes on
    found = rows(running.wait(running.resume(run=run)))
    assert run.inputs_digest != starting.start(made).inputs_digest
    tested = texts_of(run)
    assert all(min(len(texts & learnt(each)) for texts in tested.values()) > 0 for each in handed_over)
    assert "from the whole file" in one(found["uplift_counts"], name="strangers")["note"]
    assert "documents of tested questions stood among those learnt from" in paragraph.methods(run, found).paragraphs[0]


def test_a_fold_with_too_few_other_questions_is_refused_before_the_start(with_strangers) -> None:
    with pytest.raises(collecting.BadCollectionError, match=r"questions of its fold have 5 documents.*fewer folds"):
        starting.expect(with_strangers(others=6, n=4, shared=False))
    with pytest.raises(kinds.Rejected):
        starting.start(with_strangers(others=6, n=4, shared=False))


def test_questions_are_drawn_before_they_lend_documents(with_strangers) -> None:
    made = with_strangers(others=2, shared=False)
    few = replace(made, parameters=made.parameters | {"queries": 6}, seed=4)
    names = {query.id for query in few.collection.queries}
    where = get("uplift").dividing(few.parameters)(few.collection)
    for query in few.collection.queries:
        owners = {document.id.split(":")[0] for document in query.documents if ":" in document.id}
        assert owners <= names
        assert {where[owner] for owner in owners} == {where[query.id]}


def test_rerankers_that_know_documents_of_tested_questions_are_not_taken(with_strangers, monkeypatch) -> None:
    plain = {"ablations": [], "methods": []}
    lender = running.wait(starting.start(with_strangers(shared=False, **plain)))
    assert rows(lender)
    borrowed = running.wait(starting.start(with_strangers(shared=False, trained=str(lender.key), **plain)))
    assert rows(borrowed)

    # The same questions, with a text that the lender has learnt from for the split that tests it here.
    taken = running.wait(starting.start(with_strangers(shared=True, trained=str(lender.key), **plain)))
    assert taken.state == "FAILED"
    assert "documents of questions that they would be tested on" in taken.problems[0]["message"]

    take = keeping.take

    def _from_before(made, run, file) -> None:
        take(made, run, file)
        del made.trained.about["documents"]

    monkeypatch.setattr(keeping, "take", _from_before)
    silent = running.wait(starting.start(with_strangers(shared=False, trained=str(lender.key), **plain)))
    assert "do not say from which documents" in silent.problems[0]["message"]


def test_the_page_says_how_strangers_are_drawn(with_strangers, tmp_path: Path) -> None:
    from analysis.domain.experiments import telling

    collection = with_strangers().parameters["collection"]
    assert "with 3 passages of other questions of the same split each" in telling.collection_said(collection)
    assert "of the same split" not in telling.collection_said(collection | {"apart": False})
