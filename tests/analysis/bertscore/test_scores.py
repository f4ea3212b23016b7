"""BERTScore as a run: against bert-score, each text encoded once; in an analysis, on the page, by the command."""

import re
from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from analysis.inputs import queries, snapshots
from analysis.inputs.texts import digest
from analysis.methods.reference_metrics import bertscore_runs, encodings
from analysis.methods.settings import BadParameterError
from analysis.models import Encoder, Encoding, SimilarityScore
from analysis.rag.encoders import Identity
from analysis.text.bertscore import TokenEmbeddings, score
from analysis.text.statements import without_markers
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import Queue, RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from tests.analysis import small_study
from tests.analysis.bertscore.texts import compute, kept, set_texts
from tests.analysis.page_visits import client_of, visit
from tests.analysis.small_study import analyse
from tests.factories import ResponseFactory, StudyFactory
from writing.models import Response

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="the extra `neural` is not installed")


def test_scores_are_those_of_bert_score_a_pair_at_a_time(study, folder, encoded):
    bert_score = pytest.importorskip("bert_score")
    run = compute(study)
    responses = list(Response.objects.filter(study=study).order_by("external_id"))
    expected = {}
    for one, other in combinations(responses, 2):
        if one.topic_id != other.topic_id:
            continue
        first, second = sorted((one.text, other.text), key=digest)
        clean = [[without_markers(first)], [without_markers(second)]]
        found = bert_score.score(*clean, model_type=str(folder), num_layers=2, device="cpu")
        expected[digest(first), digest(second)] = tuple(float(number[0]) for number in found)
    rows = {(row.first, row.second): (row.precision, row.recall, row.f1) for row in SimilarityScore.objects.all()}
    assert rows.keys() == expected.keys()
    assert len(rows) == 6
    for pair, numbers in expected.items():
        assert rows[pair] == pytest.approx(numbers, abs=1e-5)
    assert set(encoded.values()) == {1}
    assert Encoding.objects.count() == len(encoded) == run.summary["texts"] == 6
    assert (run.summary["pairs"], run.summary["layer"], run.summary["device"]) == (6, 2, "cpu")


def test_again_nothing_is_encoded_and_what_is_new_only_once(study, encoded):
    compute(study)
    encoded.clear()
    again = compute(study)
    assert (again.summary["texts"], again.summary["pairs"], dict(encoded)) == (0, 0, {})
    topic = Response.objects.get(external_id="t1-x").topic
    new = ResponseFactory(topic=topic, external_id="t1-new", text="the dog is loud [0]. a cat sat")
    small_study.PairFactory(a=new, b=Response.objects.get(external_id="t1-x"))
    more = compute(study)
    assert dict(encoded) == {"the dog is loud. a cat sat": 1}
    assert (more.summary["texts"], more.summary["pairs"], SimilarityScore.objects.count()) == (1, 3, 9)


def test_a_text_that_two_wrote_is_encoded_once(db, encoded):
    study = set_texts(small_study.make(), t1_x="the cat", t1_y="the cat", t2_x="the cat")
    compute(study)
    assert encoded["the cat"] == 1
    similarity_scores = encodings.read_scores(study, queries.load(study, pool="CROWD").responses)
    used = replace(queries.load(study, pool="CROWD"), similarity_scores=similarity_scores)
    place = {response.name: i for i, response in enumerate(used.responses)}
    assert used.similarity(place["t1-x"], place["t1-y"]) == 1
    assert used.similarity(place["t1-y"], place["t1-z"]) == used.similarity(place["t1-z"], place["t1-x"]) != 1
    assert used.similarity(place["t1-x"], place["t2-y"]) == used.similarity(place["t2-x"], place["t2-y"])
    assert used.similarity(place["t1-z"], place["t2-y"]) is None


def test_an_empty_text_has_no_score(db):
    study = set_texts(small_study.make(), t1_x="[0]")
    compute(study)
    undefined = {pair for pair, f1 in kept().items() if f1 is None}
    assert len(undefined) == 2
    assert all(digest("[0]") in pair for pair in undefined)


@pytest.mark.extended
def test_only_what_is_offered_can_be_computed_and_only_of_pairs(study, folder, settings, tmp_path):
    for model in (f"{folder}:1", "/etc"):
        with pytest.raises(BadParameterError):
            bertscore_runs.start(study=study, model=model)
    with pytest.raises(bertscore_runs.NothingToCompareError):
        bertscore_runs.start(study=StudyFactory())
    for has, queue in ((True, Queue.GPU), (False, Queue.DEFAULT)):
        settings.HAS_GPU_WORKER = has
        assert bertscore_runs.queue() == queue
    settings.BERTSCORE_MODELS = [str(tmp_path / "gone")]
    run = lifecycle.wait(bertscore_runs.start(study=study))
    assert (run.state, len(run.problems)) == (RunState.FAILED, 1)


def test_models_are_named_with_their_layer():
    layers = {"roberta-large": 17, "roberta-large:5": 5, "all-MiniLM-L6-v2": None}
    assert {name: encodings.parse_choice(name).layer for name in layers} == layers
    assert str(encodings.parse_choice("/models/x:y")) == "/models/x:y"
    assert all(part in str(Identity("m", 3, "abc")) for part in ("m", "3", "abc"))


@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 400))
def test_what_is_kept_is_what_was_encoded(seed, n, dimensions):
    rng = np.random.default_rng(seed)
    one, other = (
        TokenEmbeddings(
            rng.normal(size=(n, dimensions)).astype(np.float32), rng.integers(0, 30_000, n), rng.random(n) < 0.9
        )
        for _ in range(2)
    )
    read = [encodings.unpack(encodings.pack(text), n) for text in (one, other)]
    assert read[0].ids.tolist() == one.ids.tolist()
    assert read[0].weighted.tolist() == one.weighted.tolist()
    before, after = score(one, other), score(*read)
    # Half precision has 11 bits: two vectors of length one are off by 2 ** -10 at most.
    assert (before.f1, before.precision) == pytest.approx((after.f1, after.precision), abs=2**-10, nan_ok=True)


def test_the_database_digests_as_we_do(db):
    study = set_texts(small_study.make(), t1_x="Köln – 157 m “high”\n\t🐱")
    row = Response.objects.annotate(found=encodings.Digest("text")).get(study=study, external_id="t1-x")
    assert row.found == digest(row.text)


def bertscore_rows(run: Run) -> list[dict]:
    return [row for row in run.tables.get(name="reference_metrics").rows if row["metric"] == "bertscore"]


@pytest.mark.extended
def test_an_analysis_takes_the_scores_that_stand_and_they_are_in_its_digest(study, model):
    before = analyse(study)
    compute(study)
    after, again, without = analyse(study), analyse(study), analyse(study, bertscore="none")
    assert after.inputs_digest == again.inputs_digest != before.inputs_digest == without.inputs_digest
    assert bertscore_rows(after) == bertscore_rows(again) != bertscore_rows(before) == bertscore_rows(without)
    named = encodings.read_scores(study, snapshots.inputs(after).responses, named=model)
    assert named == snapshots.inputs(after).similarity_scores
    assert model.removesuffix(":2") in after.summary["bertscore"]
    assert "bertscore" not in before.summary
    Encoder.objects.all().delete()
    used = snapshots.inputs(after)
    assert (used.digest, len(used.similarity_scores.pairs)) == (after.inputs_digest, 6)
    run = analyse(study, bertscore="roberta-large:17")  # which nobody computed
    assert (run.state, len(run.problems)) == (RunState.FAILED, 1)


def test_an_estimate_learns_from_the_last_run(study, model):
    choice = encodings.choose_model()
    assert bertscore_runs.estimate_encoding(study, choice) == bertscore_runs.EncodingEstimate(6, 6, None)
    bundled = bertscore_runs.estimate_encoding(study, encodings.choose_model("all-MiniLM-L6-v2"))
    assert bundled.minutes == 1
    compute(study)
    after = bertscore_runs.estimate_encoding(study, choice)
    assert (after.texts, after.missing, after.minutes) == (6, 0, 1)


def test_the_command_prints_how_many_texts_and_pairs_there_were(study, capsys):
    call_command("bertscore", study.slug)
    # Numbers that stand alone: the path of the model may hold any digits.
    assert re.findall(r"(?<![\w/.-])\d+(?![\w/.-])", capsys.readouterr().out)[:2] == ["6", "6"]
    for slug, options in (("nowhere", {}), (study.slug, {"model": "other"})):
        with pytest.raises(CommandError):
            call_command("bertscore", slug, **options)


def offer(study):
    """What the page of metrics offers an editor."""
    return visit(study, "metrics/", Role.EDITOR).context["bertscore"]


@pytest.mark.extended
def test_the_page_offers_to_compute_and_shows_how_it_stands(study, settings, model):
    settings.BERTSCORE_MODELS = [model]
    start = f"/studies/{study.slug}/results/bertscore/start/"
    analyse(study)
    assert (offer(study).encoder, offer(study).missing, offer(study).models[0].estimate.minutes) == (None, 6, None)
    started = client_of(study, Role.EDITOR).post(start)
    run = Run.objects.get(kind=bertscore_runs.KIND)
    assert started.url.endswith(f"/runs/{run.key}/")
    assert offer(study).run.is_active
    assert f'action="{start}"' not in visit(study, "metrics/", Role.EDITOR).content.decode()
    lifecycle.wait(run)
    assert (offer(study).missing, offer(study).is_newer) == (0, True)  # they came after the analysis
    analyse(study)
    assert not offer(study).is_newer
    assert 'type="submit">' not in visit(study, "metrics/", Role.EDITOR).content.decode().split('id="bertscore"')[1]
    assert client_of(study).get(f"/studies/{study.slug}/runs/{run.key}/").status_code == 200


@pytest.mark.extended
def test_the_page_shows_a_failed_run_and_refuses_other_models(study, settings, tmp_path):
    analyse(study)
    settings.BERTSCORE_MODELS = [str(tmp_path / "<gone>"), "all-MiniLM-L6-v2"]
    run = lifecycle.wait(bertscore_runs.start(study=study))
    text = visit(study, "metrics/", Role.EDITOR).content.decode()
    assert all(part in text for part in ("&lt;gone&gt;", "<select", f"/runs/{run.key}/"))
    start = f"/studies/{study.slug}/results/bertscore/start/"
    refused = client_of(study, Role.EDITOR).post(start, {"model": "/etc"}, follow=True)
    assert [message.level_tag for message in refused.context["messages"]] == ["error"]
    assert list(Run.objects.filter(kind=bertscore_runs.KIND)) == [run]
