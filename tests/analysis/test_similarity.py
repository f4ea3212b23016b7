"""BERTScore as a run: against bert-score, each text encoded once, and nothing left of what was erased."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import numpy as np
import pgtrigger
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="the extra `neural` is not installed")

from analysis.domain import analysing, erasing, loading, snapshots
from analysis.domain.results.settings import BadParameterError
from analysis.domain.similarity import choosing, estimating, keeping, reading, scoring
from analysis.domain.texts import digest
from analysis.models import Encoder, Encoding, Likeness
from analysis.rag.encoders import Encoder as Model
from analysis.rag.encoders import Identity
from analysis.text.bertscore import TokenEmbeddings, score
from analysis.text.statements import without_markers
from crowdrag.runs import kinds
from crowdrag.runs.domain import executing, running
from crowdrag.runs.enums import Queue, RunState
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.analysis import small_study
from tests.analysis.rag import tiny
from tests.at_once import together
from tests.factories import MembershipFactory, ResponseFactory, StudyFactory, UserFactory
from writing.domain import erasing as writing_erasing
from writing.models import Response

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUICK = {"resamples": 20, "restarts": 2, "refine": 0}
WORDS = [word for word in tiny.WORDS if not word.startswith("##")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.fixture(autouse=True)
def model(folder: Path, settings, monkeypatch) -> str:
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)
    settings.BERTSCORE_MODELS = [f"{folder}:2", "all-MiniLM-L6-v2"]
    return f"{folder}:2"


def text_of(name: str) -> str:
    """A few words that depend on a response's name, with markers."""
    rng = np.random.default_rng(list(name.encode()))
    return f"{' '.join(rng.choice(WORDS, 6))} [0]. {' '.join(rng.choice(WORDS, 4))} [1, 2]"


def set_texts(study: Study, **texts: str) -> Study:
    with pgtrigger.ignore("writing.Response:text_never_changes"):
        for response in Response.objects.filter(study=study):
            text = texts.get(response.external_id.replace("-", "_")) or text_of(response.external_id)
            Response.objects.filter(pk=response.pk).update(text=text)
    return study


@pytest.fixture
def study(db: None) -> Study:
    return set_texts(small_study.make())


@pytest.fixture
def encoded(monkeypatch) -> Counter[str]:
    """How often each text was encoded."""
    seen: Counter[str] = Counter()
    encode = Model.encode
    monkeypatch.setattr(Model, "encode", lambda self, texts: (seen.update(texts), encode(self, texts))[1])
    return seen


def compute(study: Study, **options) -> Run:
    run = running.wait(scoring.start(study=study, **options))
    assert (run.state, run.problems, run.error) == (RunState.DONE, [], "")
    return run


def kept() -> dict[tuple[str, str], float | None]:
    return {(row.first, row.second): row.f1 for row in Likeness.objects.all()}


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
    rows = {(row.first, row.second): (row.precision, row.recall, row.f1) for row in Likeness.objects.all()}
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
    assert (more.summary["texts"], more.summary["pairs"], Likeness.objects.count()) == (1, 3, 9)


def test_a_text_that_two_wrote_is_encoded_once(db, encoded):
    study = set_texts(small_study.make(), t1_x="the cat", t1_y="the cat", t2_x="the cat")
    compute(study)
    assert encoded["the cat"] == 1
    likenesses = reading.read(study, loading.load(study, pool="CROWD").responses)
    used = replace(loading.load(study, pool="CROWD"), likenesses=likenesses)
    place = {response.name: i for i, response in enumerate(used.responses)}
    assert used.likeness(place["t1-x"], place["t1-y"]) == 1
    assert used.likeness(place["t1-y"], place["t1-z"]) == used.likeness(place["t1-z"], place["t1-x"]) != 1
    assert used.likeness(place["t1-x"], place["t2-y"]) == used.likeness(place["t2-x"], place["t2-y"])
    assert used.likeness(place["t1-z"], place["t2-y"]) is None


def test_an_empty_text_has_no_score(db):
    study = set_texts(small_study.make(), t1_x="[0]")
    compute(study)
    undefined = {pair for pair, f1 in kept().items() if f1 is None}
    assert len(undefined) == 2
    assert all(digest("[0]") in pair for pair in undefined)


def test_every_model_keeps_its_own(study, folder):
    compute(study)
    assert Encoder.objects.get().layer == 2
    with pytest.raises(BadParameterError, match="not offered here; choose one of"):
        scoring.start(study=study, model=f"{folder}:1")
    with pytest.raises(BadParameterError, match="not offered"):
        scoring.start(study=study, model="/etc")


def test_models_are_named_with_their_layer():
    assert choosing.read("roberta-large").layer == 17
    assert choosing.read("roberta-large:5").layer == 5
    assert choosing.read("all-MiniLM-L6-v2").layer is None
    assert str(choosing.read("/models/x:y")) == "/models/x:y"


def test_nothing_to_compare(db):
    with pytest.raises(scoring.NothingToCompareError, match="two or more responses in pairs"):
        scoring.start(study=StudyFactory())


@pytest.mark.parametrize(("has", "queue"), [(True, Queue.GPU), (False, Queue.DEFAULT)])
def test_it_runs_on_a_device_where_there_is_one(settings, has, queue):
    settings.HAS_GPU_WORKER = has
    assert scoring.queue() == queue


def test_a_model_that_is_gone_fails_at_once_and_says_what_to_do(study, settings, tmp_path):
    settings.BERTSCORE_MODELS = [str(tmp_path / "gone")]
    run = running.wait(scoring.start(study=study))
    assert run.state == RunState.FAILED
    assert "There is no folder" in run.problems[0]["message"]
    settings.BERTSCORE_MODELS = [choosing.offered()[0].model]


def test_a_worker_that_dies_loses_one_topic_at_most(study, encoded, monkeypatch):
    run = scoring.start(study=study)
    keep, calls = keeping.keep, []

    def dies(*args, **options):
        if calls:
            raise KeyboardInterrupt
        calls.append(keep(*args, **options))

    monkeypatch.setattr(keeping, "keep", dies)
    with pytest.raises(KeyboardInterrupt):
        executing.work_next(run)
    monkeypatch.setattr(keeping, "keep", keep)
    assert Likeness.objects.count() == 3
    assert running.wait(run).state == RunState.DONE
    assert Likeness.objects.count() == 6
    assert sorted(encoded.values()) == [1, 1, 1, 2, 2, 2]


def test_a_cancelled_run_keeps_what_it_has_and_goes_on_where_it_was(study, encoded, monkeypatch):
    run = scoring.start(study=study)
    report = kinds.Work.report
    monkeypatch.setattr(
        kinds.Work, "report", lambda self, done, *rest: (report(self, done, *rest), done and _cancel(run))
    )
    executing.work_next(run)
    monkeypatch.setattr(kinds.Work, "report", report)
    run.refresh_from_db()
    assert (run.state, Likeness.objects.count()) == (RunState.CANCELLED, 3)
    encoded.clear()
    assert running.wait(running.resume(run=run)).state == RunState.DONE
    assert (Likeness.objects.count(), len(encoded)) == (6, 3)


def _cancel(run: Run) -> None:
    running.cancel(run=run)
    raise kinds.Cancelled


def test_erasure_takes_what_was_made_of_the_text(db):
    study = set_texts(small_study.make(), t1_x="the cat", t1_y="the cat")
    compute(study)
    writer = Response.objects.get(external_id="t1-x").participant
    gone = {digest(text_of("t2-x"))}
    writing_erasing.erase(writer, NOW)
    erasing.erase(writer, NOW)
    left = set(Encoding.objects.values_list("text", flat=True))
    assert not left & gone
    assert digest("the cat") in left  # somebody else wrote the same
    assert not any(gone & set(pair) for pair in kept())
    assert len(left) == 4


def test_what_is_encoded_while_its_text_is_erased_is_not_kept(study):
    run = scoring.start(study=study)
    work = kinds.Work(run, run.units.get())
    effects = []
    work.keeper = effects.append
    scoring.work(work)
    writer = Response.objects.get(external_id="t1-x").participant
    writing_erasing.erase(writer, NOW)
    erasing.erase(writer, NOW)
    for effect in effects:
        effect()
    left = set(Encoding.objects.values_list("text", flat=True))
    assert left
    assert not left & {digest(text_of("t1-x")), digest(text_of("t2-x"))}
    assert all(set(pair) <= left for pair in kept())


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_keep_everything_once():
    study = set_texts(small_study.make())
    runs = [scoring.start(study=study), scoring.start(study=study)]
    scoring.load(str(choosing.offered()[0].model), 2)
    together([lambda run=run: executing.work_next(run) for run in runs])
    assert (Encoder.objects.count(), Encoding.objects.count(), Likeness.objects.count()) == (1, 6, 6)
    assert Run.objects.filter(state=RunState.DONE).count() == 2


def analyse(study: Study, **parameters) -> Run:
    return running.wait(analysing.start(study=study, parameters=QUICK | parameters))


def bertscore_rows(run: Run) -> list[dict]:
    return [row for row in run.tables.get(name="reference_metrics").rows if row["metric"] == "bertscore"]


def test_an_analysis_takes_the_scores_that_stand_and_they_are_in_its_digest(study, model):
    before = analyse(study)
    compute(study)
    after, again, without = analyse(study), analyse(study), analyse(study, bertscore="none")
    assert after.inputs_digest == again.inputs_digest != before.inputs_digest == without.inputs_digest
    assert bertscore_rows(after) == bertscore_rows(again) != bertscore_rows(before) == bertscore_rows(without)
    assert analyse(study, bertscore=model).inputs_digest == after.inputs_digest
    assert after.summary["bertscore"].startswith(f"{model.removesuffix(':2')}, layer 2, ")
    assert "bertscore" not in before.summary
    Encoder.objects.all().delete()
    used = snapshots.inputs(after)
    assert used.digest == after.inputs_digest
    assert used.likenesses
    assert len(used.likenesses.pairs) == 6


def test_scores_that_nobody_computed_are_told(study):
    run = analyse(study, bertscore="roberta-large:17")
    assert run.state == RunState.FAILED
    assert "have them computed first" in run.problems[0]["message"]


def test_an_estimate_learns_from_the_last_run(study, model):
    choice = choosing.choose()
    assert estimating.estimate(study, choice) == estimating.Estimate(6, 6, None)
    bundled = estimating.estimate(study, choosing.choose("all-MiniLM-L6-v2"))
    assert bundled.minutes == 1
    compute(study)
    after = estimating.estimate(study, choice)
    assert (after.texts, after.missing, after.minutes) == (6, 0, 1)


def test_the_command(study, capsys, model):
    call_command("bertscore", study.slug)
    assert "6 texts encoded and 6 pairs scored" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no study"):
        call_command("bertscore", "nowhere")
    with pytest.raises(CommandError, match="not offered"):
        call_command("bertscore", study.slug, model="other")


@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 400))
def test_what_is_kept_is_what_was_encoded(seed, n, dimensions):
    rng = np.random.default_rng(seed)
    one, other = (
        TokenEmbeddings(
            rng.normal(size=(n, dimensions)).astype(np.float32), rng.integers(0, 30_000, n), rng.random(n) < 0.9
        )
        for _ in range(2)
    )
    read = [keeping.unpack(keeping.pack(text), n) for text in (one, other)]
    assert read[0].ids.tolist() == one.ids.tolist()
    assert read[0].weighted.tolist() == one.weighted.tolist()
    before, after = score(one, other), score(*read)
    assert (before.f1, before.precision) == pytest.approx((after.f1, after.precision), abs=1e-5, nan_ok=True)


def test_the_database_digests_as_we_do(db):
    study = set_texts(small_study.make(), t1_x="Köln – 157 m “high”\n\t🐱")
    row = Response.objects.annotate(found=keeping.Digest("text")).get(study=study, external_id="t1-x")
    assert row.found == digest(row.text)


def test_an_identity_says_what_it_is():
    assert str(Identity("m", 3, "abc")) == "m, layer 3, abc"


@pytest.fixture
def page(study, client):
    """The page of metrics as an editor sees it."""
    user = UserFactory()
    MembershipFactory(study=study, user=user, role=Role.EDITOR)
    client.force_login(user)

    def get() -> str:
        answer = client.get(f"/studies/{study.slug}/results/metrics/")
        assert answer.status_code == 200
        return answer.content.decode()

    return get


def test_the_page_offers_to_compute_and_says_how_it_stands(page, study, client, settings, model):
    settings.BERTSCORE_MODELS = [model]
    analyse(study)
    assert "No scores were computed yet" in page()
    assert "6 texts to encode" in page()
    assert "known after the first run" in page()
    started = client.post(f"/studies/{study.slug}/results/bertscore/start/")
    run = Run.objects.get(kind=scoring.KIND)
    assert started.url.endswith(f"/runs/{run.key}/")
    assert "BERTScores are being computed" in page()
    running.wait(run)
    assert "All 6 texts are encoded" in page()
    assert "They came after the analysis shown here" in page()
    analyse(study)
    assert "came after" not in page()
    assert client.get(f"/studies/{study.slug}/runs/{run.key}/").status_code == 200


def test_the_page_says_why_a_run_failed(page, study, client, settings, tmp_path):
    analyse(study)
    settings.BERTSCORE_MODELS = [str(tmp_path / "<gone>"), "all-MiniLM-L6-v2"]
    running.wait(scoring.start(study=study))
    assert "There is no folder" in page()
    assert "&lt;gone&gt;" in page()
    assert "<select" in page()
    refused = client.post(f"/studies/{study.slug}/results/bertscore/start/", {"model": "/etc"}, follow=True)
    assert "not offered here" in refused.content.decode()


def test_viewers_cannot_start_it(study, client):
    user = UserFactory()
    MembershipFactory(study=study, user=user, role=Role.VIEWER)
    client.force_login(user)
    assert client.post(f"/studies/{study.slug}/results/bertscore/start/").status_code == 403
