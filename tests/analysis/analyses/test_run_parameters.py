"""Pages of runs show names where parameters hold keys of rows."""

import json
import re

import pytest
from django.urls import reverse

from analysis.analyses import services as analyses_services
from analysis.analyses import updates as updating
from analysis.archive import services
from analysis.planning import services as planning
from analysis.planning.parameters import PlanParameters
from analysis.reports import services as reports_services
from crowdrag.jobs import kinds, lifecycle, run_files
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Endpoint
from tests.analysis.page_visits import client_of
from tests.factories import StudyFactory
from writing.corpus.imports import importers
from writing.llm_writers.targets import TopicSelection

pytestmark = pytest.mark.django_db

#: Kinds of runs that are given nothing but their study.
EXPORTS = {services.kind_of(name) for name in services.WRITERS}
WITHOUT_PARAMETERS = {"demo.judge", "demo.sample", "studies.vacuum"} | EXPORTS
KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def shown(run: Run) -> dict[str, object]:
    """The parameters on a run's page."""
    return client_of(run.study).get(reverse("run", args=[run.study.slug, run.key])).context["parameters"]


def test_every_kind_of_run_has_names_for_its_parameters() -> None:
    known = {name for name in kinds._kinds if not name.startswith("test.")}
    assert {name for name in known if kinds.get(name).describe is None} <= WITHOUT_PARAMETERS


@pytest.mark.usefixtures("own_files")
def test_an_import_shows_its_files_and_options_by_name(tmp_path) -> None:
    study = StudyFactory()
    (tmp_path / "answers of bm25.jsonl").write_text("{}")
    upload = run_files.store_upload(study=study, source=tmp_path / "answers of bm25.jsonl")
    for kind, given, values in (
        ("import.responses", {"inputs": [{"role": "file", "upload": upload.pk}], "style": "bullet"},
         [["answers of bm25.jsonl"], "bullet"]),
        ("import.topics", {"inputs": [{"role": "file", "path": "/data/topics.jsonl"}]}, [["/data/topics.jsonl"]]),
    ):  # fmt: skip
        assert list(shown(lifecycle.start(study=study, kind=kind, parameters=given)).values()) == values
    assert importers.OPTIONS.keys() >= {name for each in importers.all_importers() for name in each.options}


def test_analyses_and_what_refers_to_them_name_no_key() -> None:
    study = StudyFactory(currency="EUR")
    run = lifecycle.start(
        study=study, kind=analyses_services.KIND, parameters=analyses_services.AnalysisSettings().write(), seed=3
    )
    assert not {name for name in shown(run) if "_" in name}
    plan = PlanParameters(topics=20, responses=4, source=str(run.key), pay=250, currency="EUR").write()
    others = [
        lifecycle.start(study=study, kind=kind, parameters=parameters)
        for kind, parameters in (
            (reports_services.KIND, {"analysis": str(run.key)}),
            (planning.KIND, plan),
            (updating.UPDATE, run.parameters | {"of": str(run.key), "mark": {"judgments": 4}}),
        )
    ]
    for other in others:
        values = shown(other)
        assert kinds.run_reference(run) in values.values()
        assert not KEY.search(json.dumps(values))
    assert "EUR\u00a02.50" in shown(others[1]).values()
    Run.objects.filter(pk=run.pk).delete()
    assert str(run.key) in shown(others[0]).values()  # what is gone stays as it was kept


def test_the_demos_model_shows_its_endpoint_and_styles_by_name() -> None:
    kind = kinds.get("demo.write")
    endpoint = Endpoint.objects.create(name="a small model", base_url="https://models.example/v1", model="m")
    parameters = {"endpoint": endpoint.pk, "which": TopicSelection.NOBODY.value, "styles": []}
    assert kind.describe is not None
    told = kind.describe(Run(study=StudyFactory(), kind=kind.name, parameters=parameters))
    assert list(told.values()) == ["a small model", [], TopicSelection.NOBODY.label]
