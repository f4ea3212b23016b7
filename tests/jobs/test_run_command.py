"""Commands that follow a run: results for scripts, progress, and what a signal leaves behind."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.jobs.progress import Progress, Stage
from crowdrag.jobs.run_command import ProgressLines
from crowdrag.runtime.exit_codes import ExitCode
from tests.analysis import small_study
from tests.analysis.small_study import QUICK


@pytest.mark.extended
@pytest.mark.django_db
def test_a_signal_cancels_the_run_and_the_printed_command_goes_on_with_it(tmp_path, monkeypatch):
    study, out, err = small_study.make(), io.StringIO(), io.StringIO()

    def stop(*_args, **_options):
        raise SystemExit(ExitCode.TERMINATED)

    with monkeypatch.context() as patched:
        patched.setattr("crowdrag.jobs.worker.follow", stop)
        with pytest.raises(SystemExit) as ended:
            call_command("analyse", study.slug, out=tmp_path / "out", **QUICK, stdout=out, stderr=err)
    assert ended.value.code == ExitCode.TERMINATED
    run = Run.objects.get()
    assert run.state == RunState.CANCELLED
    assert f"crowdrag analyse {study.slug} --out {tmp_path / 'out'} --resume {run.key}" in err.getvalue()
    assert not out.getvalue()

    call_command(
        "analyse", study.slug, out=tmp_path / "out", resume=str(run.key), json=True, stdout=out, stderr=io.StringIO()
    )
    result = json.loads(out.getvalue())
    assert (result["run"], result["study"]) == (str(run.key), study.slug)
    assert sorted(result["files"]) == sorted(
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    assert Run.objects.get().state == RunState.DONE


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["6f1c2c6e-0000-4000-8000-000000000000", "nothing"])
def test_a_run_that_is_not_of_the_study_is_not_resumed(tmp_path, key):
    with pytest.raises(CommandError, match=key):
        call_command("analyse", small_study.make().slug, out=tmp_path / "out", resume=key)


@pytest.mark.django_db
def test_a_check_prints_one_object_for_scripts():
    out = io.StringIO()
    call_command("check_invariants", json=True, stdout=out)
    result = json.loads(out.getvalue())
    assert result["broken"] == 0
    assert all(row["checked"] == 0 for row in result["invariants"])


def test_without_a_terminal_a_line_is_printed_for_each_stage():
    lines = io.StringIO()
    show = ProgressLines(lines)
    show(Progress(0, 0))
    for number, done in ((1, 0), (1, 1), (2, 2), (2, 3)):
        show(Progress(done, 4, stage=Stage(number, 2, done, 2)))
    assert lines.getvalue().count("of 4") == 2
