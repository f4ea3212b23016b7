"""An experiment written down in a TOML file, and the command that runs it."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.experiments import experiment as experiments_experiment
from analysis.experiments.experiment import BadParameterError
from analysis.models import ResultTable
from crowdrag.jobs.models import Run
from tests.analysis.experiments import planted

WHOLE = """
study = "mine"
generator = "endpoint:odd"
queries = 4
seed = 7

[parameters]
k = 2
weights = [1, 0.5]
is_strict = true
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


@pytest.mark.usefixtures("no_broker")
@pytest.mark.django_db
def test_an_experiment_is_run_as_the_file_says_and_options_go_before_it(experiment, study, endpoint, tmp_path):
    config = written(tmp_path, WHOLE.replace("mine", study.slug))
    call_command("experiment", "planted", str(config), "--set", "k=3", "--out", str(tmp_path / "out"))
    run = Run.objects.get(kind="experiment.planted")
    kept = {name: run.parameters[name] for name in ("k", "weights", "is_strict", "queries", "generator")}
    assert kept == {"k": 3, "weights": [1, 0.5], "is_strict": True, "queries": 4, "generator": "endpoint:odd"}
    assert run.seed == 7
    assert ResultTable.objects.filter(run=run, name=planted.TABLE).exists()
    assert (tmp_path / "out/report.html").is_file()
    call_command("experiment", "planted", str(config), seed=0, estimate=True)  # what is given may be nothing, too


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("study = ", r"config\.toml"),
        ("study = 3", r"\bstudy\b.*\b3\b"),
        ('queries = "4"', r"\bqueries\b.*'4'"),
        ("queries = true", r"\bqueries\b.*True"),
        ("k = 2", r"\bk\b"),
        ("parameters = 2", r"\bparameters\b"),
        ("", r"\bstudy\b"),
        ('study = "nowhere"', "nowhere"),
    ],
)
@pytest.mark.django_db
def test_a_file_that_says_something_else_is_refused_with_what_is_wrong(experiment, tmp_path, text, named):
    with pytest.raises(CommandError, match=named):
        call_command("experiment", "planted", str(written(tmp_path, text)))


def test_a_file_of_questions_lies_where_the_toml_does(tmp_path):
    found = experiments_experiment.read_configuration(
        written(tmp_path, 'file = "nq.jsonl"\nformat = "bank"\nothers = 4')
    )
    assert (found["file"], found["format"], found["others"]) == (tmp_path / "nq.jsonl", "bank", 4)
    with pytest.raises(BadParameterError):
        experiments_experiment.read_configuration(tmp_path / "none.toml")
