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
from tests.analysis.similarity.texts import compute
from tests.analysis.small_study import analyse
from tests.analysis.visits import client_of, visit


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


def test_an_analysis_with_scores_that_nobody_computed_fails(study):
    run = analyse(study, bertscore="roberta-large:17")
    assert (run.state, len(run.problems)) == (RunState.FAILED, 1)


def test_an_estimate_learns_from_the_last_run(study, model):
    choice = choosing.choose()
    assert estimating.estimate(study, choice) == estimating.Estimate(6, 6, None)
    bundled = estimating.estimate(study, choosing.choose("all-MiniLM-L6-v2"))
    assert bundled.minutes == 1
    compute(study)
    after = estimating.estimate(study, choice)
    assert (after.texts, after.missing, after.minutes) == (6, 0, 1)


def test_the_command_prints_how_many_texts_and_pairs_there_were(study, capsys):
    call_command("bertscore", study.slug)
    assert capsys.readouterr().out.count("6") == 2
    for slug, options in (("nowhere", {}), (study.slug, {"model": "other"})):
        with pytest.raises(CommandError):
            call_command("bertscore", slug, **options)


def offer(study):
    """What the page of metrics offers an editor."""
    return visit(study, "metrics/", Role.EDITOR).context["bertscore"]


def test_the_page_offers_to_compute_and_shows_how_it_stands(study, settings, model):
    settings.BERTSCORE_MODELS = [model]
    start = f"/studies/{study.slug}/results/bertscore/start/"
    analyse(study)
    assert (offer(study).encoder, offer(study).missing, offer(study).models[0].estimate.minutes) == (None, 6, None)
    started = client_of(study, Role.EDITOR).post(start)
    run = Run.objects.get(kind=scoring.KIND)
    assert started.url.endswith(f"/runs/{run.key}/")
    assert offer(study).run.is_active
    assert f'action="{start}"' not in visit(study, "metrics/", Role.EDITOR).content.decode()
    running.wait(run)
    assert (offer(study).missing, offer(study).is_newer) == (0, True)  # they came after the analysis
    analyse(study)
    assert not offer(study).is_newer
    assert 'type="submit">' not in visit(study, "metrics/", Role.EDITOR).content.decode().split('id="bertscore"')[1]
    assert client_of(study).get(f"/studies/{study.slug}/runs/{run.key}/").status_code == 200


def test_the_page_shows_a_failed_run_and_refuses_other_models(study, settings, tmp_path):
    analyse(study)
    settings.BERTSCORE_MODELS = [str(tmp_path / "<gone>"), "all-MiniLM-L6-v2"]
    run = running.wait(scoring.start(study=study))
    text = visit(study, "metrics/", Role.EDITOR).content.decode()
    assert all(part in text for part in ("&lt;gone&gt;", "<select", f"/runs/{run.key}/"))
    start = f"/studies/{study.slug}/results/bertscore/start/"
    refused = client_of(study, Role.EDITOR).post(start, {"model": "/etc"}, follow=True)
    assert [message.level_tag for message in refused.context["messages"]] == ["error"]
    assert list(Run.objects.filter(kind=scoring.KIND)) == [run]
