"""A run with nothing in it does not start, and one in which nobody answered says so before anything else."""

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper

from analysis.experiments import question_sets, runs, services
from analysis.experiments.experiment import get
from analysis.rag.protocols import Usage
from crowdrag.jobs import kinds, lifecycle, run_command, run_files
from crowdrag.jobs.models import Run
from crowdrag.jobs.progress import Progress, Stage
from tests.analysis.experiments.test_api import at, post, script
from tests.analysis.experiments.test_form import submitted
from tests.analysis.experiments.test_pages import address, form_of, member_of
from tests.factories import StudyFactory, TopicFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker", "endpoint")]
DOCUMENT = {"id": "d", "text": "ok:water"}
#: Two questions without documents, one without a right answer, one with a single document.
BARE = [{"documents": []}, {"documents": []}, {"golden_answers": []}]


@pytest.fixture
def study():
    return StudyFactory(llm_budget=1_000_000)


def questions(tmp_path, rows, text="ok:x"):
    usual = {"question": text, "golden_answers": ["x"], "documents": [DOCUMENT, {"id": "e", "text": "ok:fire"}]}
    path = tmp_path / "asked.jsonl"
    path.write_text("\n".join(json.dumps({"id": f"q{i}"} | usual | row) for i, row in enumerate(rows)))
    return path


def order(study, path, name, **given):
    upload = run_files.store_upload(study=study, source=path)
    collection = services.of_upload(study, "qa", upload.pk)
    return services.order(get(name), study, {"generator": "endpoint:odd", "collection": collection, **given})


@pytest.mark.parametrize("name", ["fair", "uplift"])
def test_where_nobody_takes_part_nothing_starts_and_the_reasons_are_counted(study, server, tmp_path, name):
    asked = order(study, questions(tmp_path, BARE), name)
    expected = services.forecast(asked)
    assert (expected.estimate.queries, expected.estimate.left_out, expected.estimate.calls) == (0, 3, 0)
    for named in ("(1)", "(2)", "--corpus"):
        assert named in expected.problem
    with pytest.raises(kinds.InputRejectedError) as refused:
        services.start(asked)
    assert refused.value.problems == [{"message": expected.problem}]
    assert not Run.objects.exists()
    assert server.seen == []


@pytest.mark.parametrize("name", ["fair", "uplift"])
def test_one_question_that_takes_part_is_enough_to_be_reckoned(study, tmp_path, name):
    rows = [*BARE, {}, {}, {}, {}, {}]
    expected = services.forecast(order(study, questions(tmp_path, rows), name))
    assert (expected.problem, expected.estimate.queries, expected.estimate.left_out) == ("", 5, 3)


def test_every_reason_that_an_experiment_gives_says_what_to_do(study, tmp_path):
    rows = [*BARE, {"documents": [DOCUMENT]}]
    path = questions(tmp_path, rows)
    assert "(1)" in services.forecast(order(study, questions(tmp_path, [{"documents": [DOCUMENT]}]), "fair")).problem
    path = questions(tmp_path, rows)
    for name in ("fair", "uplift"):
        asked = order(study, path, name)
        reasons = get(name).left_out(asked.collection, get(name).own_parameters(asked.parameters))
        assert reasons
        assert set(reasons) <= set(runs.ADVICE)


def test_topics_without_passages_are_no_questions_and_it_is_said_why(study):
    TopicFactory(study=study, external_id="bare")
    asked = services.order(get("fair"), study, {"generator": "endpoint:odd", "collection": {"source": "study"}})
    assert question_sets.of_study(study).left_out == (("no passages", 1),)
    assert "(1)" in services.forecast(asked).problem


def test_page_command_and_api_refuse_alike(study, tmp_path):
    path = questions(tmp_path, BARE)
    said = services.forecast(order(study, path, "fair")).problem
    collection = {"source": "qa", "upload": study.uploads.get().pk}
    with pytest.raises(CommandError) as refused:
        call_command("experiment", "fair", study=study.slug, file=path, format="qa", generator="endpoint:odd")
    assert str(refused.value) == said

    answer = post(
        script(study), at(study, "experiments/fair/"), {"collection": collection, "generator": "endpoint:odd"}
    )
    assert (answer.status_code, answer.json()["errors"][0]["detail"]) == (422, said)
    estimate = post(
        script(study), at(study, "experiments/fair/estimate/"), {"collection": collection, "generator": "endpoint:odd"}
    )
    assert estimate.json()["problem"] == said

    form = submitted("fair", study, {"source": "qa", "upload": collection["upload"], "generator": "endpoint:odd"})
    page = member_of(study).post(form_of(study, "fair"), form.data)
    assert page.context["expected"].problem == said
    assert 'name="start"' not in page.content.decode()
    assert not Run.objects.exists()


def test_a_run_that_the_model_refused_whole_says_so_on_top_and_in_the_command_s_last_line(
    study, experiment, tmp_path, capsys
):
    path = questions(tmp_path, [{"documents": [{"id": "d", "text": "refuse"}]}], text="refuse")
    call_command("experiment", "planted", study=study.slug, file=path, format="qa", generator="endpoint:odd")
    run, (out, err) = Run.objects.get(), capsys.readouterr()
    assert run.summary["usage"]["failed"] == 2
    assert re.findall(r"\d+", out.splitlines()[-1]) == ["2", "0", "2"]
    warning, *_others = runs.warnings(run)
    assert ("(2)" in warning, warning in err) == (True, True)
    page = member_of(study).get(address(study, f"{run.key}/"))
    assert page.context["warnings"][0] == warning


def test_a_run_in_which_all_fell_out_or_nothing_could_be_read_says_so_first():
    usage = Usage(calls=4)
    found = runs.summary(
        {"fair_tradeoff": [], "fair_costs": [{"prompts": 4, "failed": 1, "unreadable": 3}]}, "fair_tradeoff", usage
    )
    assert (found["empty"], found["unreadable"], found["none_read"]) == (True, 3, True)
    first, _second = runs.warnings(Run(summary=found))
    assert "(3)" in first
    assert [each[:2] for each in runs.losses(Run(summary=found))] == ["3 "]
    some = runs.summary({"head": [{"n": 20}], "costs": [{"prompts": 4, "unreadable": 3}]}, "head", usage)
    assert (some["none_read"], some.get("empty"), runs.warnings(Run(summary=some))) == (False, None, [])


@pytest.mark.parametrize(
    ("made", "few"),
    [
        ({"head": [{"n": 1}, {"n": 9}, {"n": None}]}, 9),
        ({"head": [{"n": 9}, {"n": 10}]}, None),
        ({"head": [{"n": 24, "questions": 3}]}, 3),  # passages of three questions: these are resampled
        ({"head": [{"n": 12}], "by_query": [{"query": str(i % 3)} for i in range(12)]}, 3),  # three, by four alphas
        ({"head": [], "other": [{"questions": 4, "n": 40}]}, 4),
    ],
)
def test_a_run_of_a_handful_of_questions_says_that_its_intervals_are_too_narrow(made, few):
    found = runs.summary(made, "head", Usage())
    assert found.get("few") == few
    assert any(f" {few} " in each for each in runs.warnings(Run(summary=found))) == (few is not None)


def test_a_run_with_answers_has_no_warning(study, experiment, tmp_path, capsys):
    run = lifecycle.wait(services.start(order(study, questions(tmp_path, [{}]), "planted")))
    assert run.state == "DONE", run.error
    assert set(run.summary) & {"empty", "unreadable", "none_read"} == set()
    call_command("experiment", "planted", study=study.slug, file=questions(tmp_path, [{}]), format="qa",
                 generator="endpoint:odd")  # fmt: skip
    assert re.findall(r"\d+", capsys.readouterr().out.splitlines()[-1]) == ["0", "2"]


def test_the_run_s_key_is_written_out_before_the_run_is_waited_for(study, experiment, tmp_path, monkeypatch):
    out, written = io.StringIO(), []
    wait = lifecycle.wait
    monkeypatch.setattr(lifecycle, "wait", lambda run, **named: written.append(out.getvalue()) or wait(run, **named))
    call_command("experiment", "planted", study=study.slug, file=questions(tmp_path, [{}]), format="qa",
                 generator="endpoint:odd", stdout=out)  # fmt: skip
    assert str(Run.objects.get().key) in written[0]


def test_without_a_terminal_progress_is_a_line_a_stage_and_one_a_minute(monkeypatch):
    now, into = [0.0], io.StringIO()
    monkeypatch.setattr(run_command, "monotonic", lambda: now[0])
    tell = run_command.ProgressLines(OutputWrapper(into))
    for second, stage, done in ((0, 1, 0), (1, 1, 1), (59, 1, 2), (61, 1, 3), (62, 2, 4), (63, 2, 5)):
        now[0] = float(second)
        tell(Progress(done, 9, "Answering", stage=Stage(stage, 2, done, 5)))
    assert [line.split()[0] for line in into.getvalue().splitlines()] == ["0", "3", "4"]
