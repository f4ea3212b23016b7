"""An experiment written down in a TOML file, and the command that runs it."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from analysis.domain.experiments import configuring
from analysis.domain.experiments.experiment import BadParameterError, get
from analysis.models import Table
from crowdrag.runs.models import Run
from tests.llm.conftest import endpoint, server  # noqa: F401 - fixtures

from . import planted

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
@pytest.mark.django_db(transaction=True)
def test_an_experiment_is_run_as_the_file_says_and_options_go_before_it(experiment, study, endpoint, tmp_path):  # noqa: F811
    config = written(tmp_path, WHOLE.replace("mine", study.slug))
    call_command("experiment", "planted", str(config), "--set", "k=3", "--out", str(tmp_path / "out"))
    run = Run.objects.get(kind="experiment.planted")
    kept = {name: run.parameters[name] for name in ("k", "weights", "is_strict", "queries", "generator")}
    assert kept == {"k": 3, "weights": [1, 0.5], "is_strict": True, "queries": 4, "generator": "endpoint:odd"}
    assert run.seed == 7
    assert Table.objects.filter(run=run, name=planted.TABLE).exists()
    assert (tmp_path / "out/report.html").is_file()
    call_command("experiment", "planted", str(config), seed=0, estimate=True)  # what is given may be nothing, too


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("study = ", "is no TOML"),
        ("study = 3", "study is a text in quotes, not 3"),
        ('queries = "4"', "queries is a whole number, not '4'"),
        ("queries = true", "queries is a whole number, not True"),
        ("k = 2", "there is no key k; there are study, file"),
        ("parameters = 2", "parameters is a table"),
        ("", "--study, or study in the TOML file"),
        ('study = "nowhere"', "no study 'nowhere'"),
    ],
)
@pytest.mark.django_db
def test_a_file_that_says_something_else_is_refused_with_what_is_wrong(experiment, tmp_path, text, said):
    with pytest.raises(CommandError, match=said):
        call_command("experiment", "planted", str(written(tmp_path, text)))


@pytest.mark.django_db
def test_a_wrong_parameter_is_refused_as_one_on_the_command_line(experiment, study, endpoint, tmp_path):  # noqa: F811
    config = written(tmp_path, WHOLE.replace("mine", study.slug).replace("k = 2", "k = 9"))
    with pytest.raises(CommandError, match="k is 9"):
        call_command("experiment", "planted", str(config))


def test_a_file_of_questions_lies_where_the_toml_does(tmp_path):
    found = configuring.read(written(tmp_path, 'file = "nq.jsonl"\nformat = "bank"\nothers = 4'))
    assert (found["file"], found["format"], found["others"]) == (tmp_path / "nq.jsonl", "bank", 4)
    with pytest.raises(BadParameterError, match="cannot be read"):
        configuring.read(tmp_path / "none.toml")


def test_names_are_those_of_the_papers_too():
    assert (get("fair-rag"), get("uplift-rag"), get("self-preference")) == (
        get("fair"),
        get("uplift"),
        get("self_preference"),
    )
