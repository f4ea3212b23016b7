"""Folds of an uplift run have no document in common: strangers come from the fold, shared texts are not learnt from."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np
import pytest

from analysis.experiments import question_sets, services
from analysis.experiments.experiment import BadParameterError, get
from analysis.experiments.uplift_rag import questions, stages, trained_methods
from analysis.experiments.uplift_rag.parameters import UpliftRagParameters
from analysis.rag.uplift_rag.baselines.protocol import Training
from crowdrag.jobs import kinds, lifecycle, worker
from crowdrag.jobs.models import Run
from tests.analysis.experiments.uplift_rag.test_run import _line, asked, encoder, generator, one, rows  # noqa: F401 - fixtures
from tests.analysis.rag.uplift_rag import planted

pytestmark = pytest.mark.django_db

LEARNING = ["naive", "standard", "cross_encoder", "aar", "skr", "adaptive", "dpa"]


@pytest.fixture
def handed_over(monkeypatch) -> Iterator[list[Training]]:
    """All that methods were given to learn from, in the order of the units."""
    seen: list[Training] = []

    def _training(*args, **named) -> Training:
        seen.append(Training(*args, **named))
        return seen[-1]

    monkeypatch.setattr(stages, "Training", _training)
    return seen


@pytest.fixture
def with_strangers(asked, tmp_path):  # noqa: F811
    """Make an order with strangers on questions of which two, tested in different splits, have one text."""

    def _order(others: int = 3, n: int = 14, *, shared: bool = True, nearly: bool = False, **given) -> services.Order:
        lines = [_line(query) for query in planted.queries(n, np.random.default_rng(3), documents=5)]
        where = questions.fold_of(
            replace_names([line["id"] for line in lines]), UpliftRagParameters.from_dict({"splits": 2})
        )
        if nearly:
            text = " ".join(f"word{i}" for i in range(40))
            by_fold = [[line for line in lines if where[line["id"]] == fold] for fold in (0, 1)]
            by_fold[0][0]["documents"][0]["text"] = text
            by_fold[1][0]["documents"][0]["text"] = text.replace("word3 ", "changed ").upper()
            by_fold[1][1]["documents"][0]["text"] = text[:120]
        if shared:
            first, second = (next(i for i, each in enumerate(lines) if where[each["id"]] == fold) for fold in (0, 1))
            lines[second]["documents"][0]["text"] = f" {lines[first]['documents'][0]['text']}\n"
        path = tmp_path / f"strangers-{n}-{shared}-{nearly}.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)))
        made = asked(retriever="bm25", retrieve=10, **given)
        upload = services.upload_questions(made.study, path)
        collection = services.of_upload(made.study, "qa", upload.pk, others)
        return services.order(get("uplift"), made.study, made.parameters | {"collection": collection}, seed=made.seed)

    return _order


def replace_names(names: list[str]):
    query = planted.queries(1, np.random.default_rng(0))[0]
    return question_sets.Collection("names", tuple(replace(query, id=name) for name in names))


def texts_of(run: Run) -> dict[int, set[str]]:
    """Of each split the texts of all candidates that its questions have."""
    found = question_sets.collection(
        run.parameters, run.study, seed=run.seed, folds=get("uplift").dividing(run.parameters)
    )
    where = questions.fold_of(found, UpliftRagParameters.from_dict(_own(run)))
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


@pytest.mark.extended
def test_nothing_that_is_trained_has_seen_a_text_of_what_it_is_tested_on(with_strangers, handed_over) -> None:
    run = lifecycle.wait(services.start(with_strangers(methods=LEARNING, ablations=["without_pair"], patience=0)))
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
    assert strangers["count"] == 3 * 14


@pytest.mark.extended
def test_texts_that_are_nearly_equal_across_folds_are_not_learnt_from(with_strangers, handed_over) -> None:
    made = with_strangers(others=0, shared=False, nearly=True, methods=["naive"], ablations=[])
    found = rows(lifecycle.wait(services.start(made)))
    for each in handed_over:
        texts = [text for text in learnt(each) if text.casefold().startswith("word0 word1")]
        assert not texts
    assert sum(row["left_out"] for row in found["uplift_training"] if row["method"] == "uplift") == 3

    # A run that was started before this goes on with what it began with: these texts are not equal.
    earlier = {name: value for name, value in made.parameters["collection"].items() if name != question_sets.NEAR}
    old = lifecycle.wait(services.start(replace(made, parameters=made.parameters | {"collection": earlier})))
    assert {row["left_out"] for row in rows(old)["uplift_training"]} == {0}


def test_the_datas_own_splits_train_choose_and_test(asked, handed_over, tmp_path) -> None:  # noqa: F811
    made = asked(methods=["naive", "cross_encoder"], ablations=[], epochs=3, patience=0)
    parts = ["train"] * 6 + ["dev"] * 3 + ["test"] * 4
    queries = planted.queries(len(parts), np.random.default_rng(3), documents=5)
    path = tmp_path / "given.jsonl"
    path.write_text(
        "\n".join(json.dumps(_line(each) | {"split": part}) for each, part in zip(queries, parts, strict=True))
    )
    names = {part: {each.id for each, own in zip(queries, parts, strict=True) if own == part} for part in set(parts)}
    upload = services.upload_questions(made.study, path)
    given = made.parameters | {"collection": services.of_upload(made.study, "qa", upload.pk)}
    run = lifecycle.wait(services.start(services.order(get("uplift"), made.study, given)))
    found = rows(run)
    assert {row["query"] for row in found["uplift_answers"]} == names["test"]
    assert one(found["uplift_results"], method="uplift", metric="em")["n"] == len(names["test"])
    counts = {row["name"]: row["count"] for row in found["uplift_counts"]}
    assert (counts["train"], counts["dev"], counts["questions"]) == (6, 3, 4)
    assert counts["label_prompts"] == len(parts) * 6
    assert len(handed_over) == len({row["method"] for row in found["uplift_training"]})  # each is trained once
    for each in handed_over:
        assert {one.query.id for one in each.labelled} <= names["train"]
        assert {one.query.id for one in each.held_out} <= names["dev"]
        assert each.held_out
    trained = one(found["uplift_training"], method="uplift")
    assert (trained["epochs"], trained["held_out"] is None) == (3, False)  # all epochs, of which dev chose

    text = path.read_text()
    for otherwise in ("null", '"dev"'):  # a question without a split, and none that is tested
        path.write_text(text.replace('"split": "test"', f'"split": {otherwise}'))
        part = given | {
            "collection": services.of_upload(made.study, "qa", services.upload_questions(made.study, path).pk)
        }
        with pytest.raises(BadParameterError):
            services.forecast(services.order(get("uplift"), made.study, part))


def test_the_digest_of_a_collection_is_that_of_all_of_it_as_one_text(with_strangers) -> None:
    found = replace(with_strangers(shared=False).collection, left_out=(("blank answer", 2),))
    whole = json.dumps(asdict(found) | {"name": ""}, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert question_sets.digest(found) == hashlib.sha256(whole.encode()).hexdigest()


@pytest.mark.extended
def test_a_run_from_before_goes_on_with_the_documents_that_it_began_with_and_says_so(
    with_strangers, handed_over
) -> None:
    made = with_strangers(methods=["naive"], ablations=[])
    earlier = dict(made.parameters["collection"])
    assert earlier.pop(question_sets.APART) is True
    old = replace(made, parameters=made.parameters | {"collection": earlier})
    run = services.start(old)
    for _unit in range(3):
        assert worker.work_next(run)
    lifecycle.cancel(run=run)
    question_sets._cached.clear()  # another process goes on
    run = lifecycle.wait(lifecycle.resume(run=run))
    assert run.inputs_digest != services.start(made).inputs_digest
    tested = texts_of(run)
    assert all(min(len(texts & learnt(each)) for texts in tested.values()) > 0 for each in handed_over)
    told = [rows(each)["uplift_counts"] for each in (run, lifecycle.wait(services.start(made)))]
    first, second = (one(counts, name="strangers")["note"] for counts in told)
    assert first != second


def test_a_fold_with_too_few_other_questions_is_refused_before_the_start(with_strangers) -> None:
    with pytest.raises(question_sets.BadCollectionError):
        services.forecast(with_strangers(others=6, n=4, shared=False))
    with pytest.raises(kinds.InputRejectedError):
        services.start(with_strangers(others=6, n=4, shared=False))


def test_questions_are_drawn_before_they_lend_documents(with_strangers) -> None:
    made = with_strangers(others=2, shared=False)
    few = replace(made, parameters=made.parameters | {"queries": 6}, seed=4)
    names = {query.id for query in few.collection.queries}
    where = get("uplift").dividing(few.parameters)(few.collection)
    for query in few.collection.queries:
        owners = {document.id.split(":")[0] for document in query.documents if ":" in document.id}
        assert owners <= names
        assert {where[owner] for owner in owners} == {where[query.id]}


@pytest.mark.extended
def test_rerankers_that_know_documents_of_tested_questions_are_not_taken(with_strangers, monkeypatch) -> None:
    plain = {"ablations": [], "methods": []}
    lender = lifecycle.wait(services.start(with_strangers(shared=False, **plain)))
    assert rows(lender)
    borrowed = lifecycle.wait(services.start(with_strangers(shared=False, trained=str(lender.key), **plain)))
    assert rows(borrowed)

    # The same questions, with a text that the lender has learnt from for the split that tests it here.
    taken = lifecycle.wait(services.start(with_strangers(shared=True, trained=str(lender.key), **plain)))
    assert (taken.state, len(taken.problems)) == ("FAILED", 1)

    take = trained_methods.take

    def _from_before(made, run, file) -> None:
        take(made, run, file)
        del made.trained.about["documents"]

    monkeypatch.setattr(trained_methods, "take", _from_before)
    silent = lifecycle.wait(services.start(with_strangers(shared=False, trained=str(lender.key), **plain)))
    assert (silent.state, len(silent.problems)) == ("FAILED", 1)
