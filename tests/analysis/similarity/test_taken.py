"""Scores that stand: in an analysis, on the page, by the command."""

import pytest
from django.core.management import CommandError, call_command

pytest.importorskip("torch", reason="the extra `neural` is not installed")

from analysis.domain import snapshots
from analysis.domain.similarity import choosing, estimating, reading, scoring
from analysis.models import Encoder
from crowdrag.runs.domain import running
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from tests.analysis.similarity.texts import analyse, compute
from tests.factories import MembershipFactory, UserFactory


def bertscore_rows(run: Run) -> list[dict]:
    return [row for row in run.tables.get(name="reference_metrics").rows if row["metric"] == "bertscore"]


def test_an_analysis_takes_the_scores_that_stand_and_they_are_in_its_digest(study, model):
    before = analyse(study)
    compute(study)
    after, again, without = analyse(study), analyse(study), analyse(study, bertscore="none")
    assert after.inputs_digest == again.inputs_digest != before.inputs_digest == without.inputs_digest
    assert bertscore_rows(after) == bertscore_rows(again) != bertscore_rows(before) == bertscore_rows(without)
    named = reading.read(study, snapshots.inputs(after).responses, named=model)
    assert named == snapshots.inputs(after).likenesses
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


@pytest.fixture
def shown(study, client):
    """The page of metrics as an editor sees it."""
    user = UserFactory()
    MembershipFactory(study=study, user=user, role=Role.EDITOR)
    client.force_login(user)

    def get() -> str:
        answer = client.get(f"/studies/{study.slug}/results/metrics/")
        assert answer.status_code == 200
        return answer.content.decode()

    return get


def test_the_page_offers_to_compute_and_says_how_it_stands(shown, study, client, settings, model):
    settings.BERTSCORE_MODELS = [model]
    analyse(study)
    assert "No scores were computed yet" in shown()
    assert "6 texts to encode" in shown()
    assert "known after the first run" in shown()
    started = client.post(f"/studies/{study.slug}/results/bertscore/start/")
    run = Run.objects.get(kind=scoring.KIND)
    assert started.url.endswith(f"/runs/{run.key}/")
    assert "BERTScores are being computed" in shown()
    running.wait(run)
    assert "All 6 texts are encoded" in shown()
    assert "They came after the analysis shown here" in shown()
    analyse(study)
    last = shown()
    assert "came after" not in last
    assert "Those shown here are of" in last
    assert "Compute BERTScore" not in last  # there is nothing to compute
    assert client.get(f"/studies/{study.slug}/runs/{run.key}/").status_code == 200


def test_the_page_says_why_a_run_failed(shown, study, client, settings, tmp_path):
    analyse(study)
    settings.BERTSCORE_MODELS = [str(tmp_path / "<gone>"), "all-MiniLM-L6-v2"]
    running.wait(scoring.start(study=study))
    assert "There is no folder" in shown()
    assert "&lt;gone&gt;" in shown()
    assert "<select" in shown()
    refused = client.post(f"/studies/{study.slug}/results/bertscore/start/", {"model": "/etc"}, follow=True)
    assert "not offered here" in refused.content.decode()


def test_viewers_cannot_start_it(study, client):
    user = UserFactory()
    MembershipFactory(study=study, user=user, role=Role.VIEWER)
    client.force_login(user)
    assert client.post(f"/studies/{study.slug}/results/bertscore/start/").status_code == 403
