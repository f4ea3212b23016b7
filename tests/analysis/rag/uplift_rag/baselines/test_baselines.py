"""What all eight methods keep to: no look at right answers, documents and tokens counted, what was learnt kept."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.rag import encoders
from analysis.rag.protocols import Message, Prompt, Query
from analysis.rag.uplift_rag.baselines import adaptive, catalogue, embeddings, skr
from analysis.rag.uplift_rag.baselines.catalogue import BASELINES, FORMS
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings, Method, NotPossibleError, run_steps
from tests.analysis.cases import check_each
from tests.analysis.rag import tiny
from tests.analysis.rag.uplift_rag.baselines.known import Scripted, query, training, words

LEARNING = ("cross_encoder", "aar", "skr", "adaptive", "dpa")
GENERATOR = {"the night": "loud", "barks": "loud", "mat": "quiet"}


def planted(n: int, first: int = 0) -> list[Query]:
    """Of dogs it must read; of the night it knows, and the mat misleads it."""
    return [
        query(str(i), "is the dog" if i % 2 else "is the night", ["on mat", "dog barks loud", "a cat"], ["loud"])
        for i in range(first, first + n)
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return str(tiny.bert(tmp_path_factory.mktemp("peers") / "bert", layers=1))


@pytest.fixture(scope="module")
def settings(model) -> BaselineSettings:
    return BaselineSettings(
        feed=2, metric="em", encoder=model, embedder=model, device="cpu", epochs=2, learning_rate=1e-3
    )


@pytest.fixture(scope="module")
def fitted(settings) -> dict[str, Method]:
    found = {name: each.make(settings) for name, each in BASELINES.items()}
    for method in found.values():
        method.fit(training(planted(8), Scripted(GENERATOR), held_out=planted(4, first=8)))
    return found


def test_there_are_the_eight_of_the_paper_under_their_own_names(fitted):
    assert list(BASELINES) == ["naive", "standard", "cross_encoder", "aar", "replug", "skr", "adaptive", "dpa"]
    assert [each.name for each in fitted.values()] == list(BASELINES)


@pytest.mark.parametrize("name", BASELINES)
def test_an_answer_does_not_depend_on_the_right_ones(fitted, name):
    for asked in planted(4, first=20):
        found = []
        for answers in [("loud",), ("mat", "cat"), ()]:
            generator = Scripted(GENERATOR)
            blind = replace(asked, answers=answers)
            found.append((fitted[name].answer(blind, blind.documents, generator), generator.asked))
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", BASELINES)
def test_an_answer_does_not_depend_on_what_the_data_says_of_a_document(fitted, name):
    asked = planted(1, first=21)[0]
    found = [
        fitted[name]
        .answer(asked, [replace(each, is_helpful=said) for each in asked.documents], Scripted(GENERATOR))
        .text
        for said in (None, True, False)
    ]
    assert len(set(found)) == 1


@pytest.mark.parametrize("name", BASELINES)
def test_documents_are_of_the_query_and_tokens_those_of_all_prompts(fitted, name):
    for asked in planted(4, first=30):
        found = fitted[name].answer(asked, asked.documents, Scripted(GENERATOR))
        assert set(found.documents) <= {each.id for each in asked.documents}
        assert len(set(found.documents)) == len(found.documents)
        assert found.prompt_tokens == sum(each.prompt_tokens for each in found.outputs) > 0
        assert found.error == ""


@pytest.mark.parametrize("name", BASELINES)
def test_many_together_are_answered_as_one_after_the_other(fitted, name):
    several = [*planted(5, first=50), query("bare", "is the dog", [])]
    alone, at_once = Scripted(GENERATOR), Scripted(GENERATOR)
    expected = [fitted[name].answer(each, each.documents, alone) for each in several]
    askings = (fitted[name].asking(each, each.documents, at_once) for each in several)
    done: list[int] = []
    assert run_steps(askings, at_once, report=done.append) == expected
    assert sorted(map(words, at_once.asked)) == sorted(map(words, alone.asked))
    assert len(at_once.waves) == max(1, max(len(each.outputs) for each in expected) * (name == "adaptive"))
    assert done[-1] == len(several)


def test_steps_of_several_go_on_side_by_side_so_many_at_once():
    def thinking(steps: int):
        said = []
        for step in range(steps):
            outputs = yield [Prompt((Message("user", f"{steps} {step} {part}"),)) for part in "ab"]
            said += [each.text for each in outputs]
        return said

    generator = Scripted({f"{steps} {step} {part}": f"{steps}{step}{part}" for steps in range(4) for step in range(3)
                          for part in "ab"})  # fmt: skip
    found = run_steps((thinking(steps) for steps in (3, 0, 1, 2)), generator)
    assert found == [["30a", "30b", "31a", "31b", "32a", "32b"], [], ["10a", "10b"], ["20a", "20b", "21a", "21b"]]
    assert generator.waves == [6, 4, 2]
    again = Scripted(generator.answers)
    assert run_steps((thinking(steps) for steps in (3, 0, 1, 2)), again, at_once=2) == found
    assert again.waves == [2, 2, 2, 4, 2]
    assert run_steps([], again) == []


@pytest.mark.parametrize(("name", "waves"), [("skr", 1), ("adaptive", 5)])
def test_what_asks_while_it_learns_asks_for_many_questions_together(settings, name, waves):
    data = training(planted(8), Scripted(GENERATOR))
    data.generator.waves.clear()
    BASELINES[name].make(settings).fit(data)
    assert 1 <= len(data.generator.waves) <= waves
    assert data.generator.waves[0] > 1


@pytest.mark.parametrize("name", BASELINES)
def test_without_documents_each_asks_the_question_alone(fitted, name):
    asked, generator = query("q", "is the dog", []), Scripted(GENERATOR)
    found = fitted[name].answer(asked, (), generator)
    naive = Scripted(GENERATOR)
    assert replace(found, outputs=()) == replace(fitted["naive"].answer(asked, (), naive), outputs=())
    assert generator.asked == naive.asked


@pytest.mark.parametrize("name", BASELINES)
def test_what_was_learnt_is_kept_and_read_again(fitted, settings, name, tmp_path):
    fitted[name].save(tmp_path)
    again = BASELINES[name].make(settings)
    again.load(tmp_path)
    for asked in planted(4, first=40):
        first, second = (
            each.answer(asked, asked.documents, Scripted(GENERATOR)) for each in (fitted[name], again)
        )  # fmt: skip
        assert first == second
    assert not [path for path in tmp_path.rglob("*") if path.suffix in {".pkl", ".pickle", ".pt", ".bin"}]


@pytest.mark.parametrize("name", BASELINES)
def test_an_empty_training_split_is_refused_by_those_that_learn(settings, name):
    method = BASELINES[name].make(settings)
    empty = training([], Scripted(GENERATOR))
    if name not in LEARNING:
        method.fit(empty)
        return
    with pytest.raises(NotPossibleError, match="0"):
        method.fit(empty)
    with pytest.raises(NotPossibleError):
        method.answer(planted(1)[0], planted(1)[0].documents, Scripted(GENERATOR))


@pytest.mark.parametrize("name", LEARNING)
def test_training_queries_without_a_right_answer_teach_nothing(settings, name):
    data = training(planted(4), Scripted(GENERATOR))
    without = tuple(replace(each, query=replace(each.query, answers=())) for each in data.labelled)
    with pytest.raises(NotPossibleError):
        BASELINES[name].make(settings).fit(replace(data, labelled=without))


@pytest.mark.parametrize("name", LEARNING)
def test_training_may_be_stopped_by_who_watches(settings, name):
    def stop(*_about: object) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        BASELINES[name].make(settings).fit(replace(training(planted(8), Scripted(GENERATOR)), report=stop))


def test_embeddings_are_of_length_one_and_none_of_no_text(model):
    embed = embeddings.embedder(model, "cpu")
    np.testing.assert_allclose(np.linalg.norm(embed(["the cat", "a dog"]), axis=1), 1, atol=1e-6)
    assert embed([]).shape[0] == 0
    np.testing.assert_array_equal(embed(["a dog", "on", "a dog"])[0], embed(["a dog"])[0])


def test_what_was_embedded_is_not_embedded_again_and_not_all_is_kept(model, monkeypatch):
    asked: list[str] = []
    real = encoders.Encoder.embed
    monkeypatch.setattr(encoders.Encoder, "embed", lambda self, texts: asked.extend(texts) or real(self, texts))
    monkeypatch.setattr(embeddings, "KEPT", 2)
    embeddings._cached_encoder.cache_clear()
    embed = embeddings.embedder(model, "cpu")
    for texts in (["cat", "dog", "cat"], ["dog", "mat"], ["mat", "cat"]):
        embed(texts)
    assert asked == ["cat", "dog", "mat", "cat"]
    expected = real(encoders.load(model, device="cpu"), ["dog", "mat"])
    np.testing.assert_allclose(embed(["dog", "mat"]), expected, atol=1e-6)


def test_methods_embed_with_the_bundled_encoder_unless_told():
    assert skr.Skr(BaselineSettings()).settings.embedder == adaptive.Adaptive().settings.embedder == "all-MiniLM-L6-v2"


def test_a_papers_name_stands_alone_only_where_nothing_is_missing():
    def check(name):
        baseline = BASELINES[name]
        assert baseline.forms[-1].key == name
        for form in baseline.forms:
            assert bool(form.departs) == form.label.startswith(f"after {baseline.title} (")
            assert form.departs or form.label == baseline.title

    check_each(BASELINES, check)


def test_no_two_forms_share_a_key_or_a_label():
    forms = [form for each in BASELINES.values() for form in each.forms]
    assert len(FORMS) == len(forms) == len({form.label for form in forms})


def test_answers_of_several_forms_have_the_name_of_the_least():
    assert catalogue.least("replug", ["replug_ensemble", "replug_ensemble"]).key == "replug_ensemble"
    assert catalogue.least("replug", ["replug_ensemble", "replug_votes"]).key == "replug_votes"
    assert catalogue.least("replug", ["", "replug_ensemble"]).key == "replug"
    assert catalogue.least("replug", []).key == "replug_ensemble"
