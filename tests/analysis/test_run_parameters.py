"""Pages of runs show names where parameters hold keys of rows."""

import json
import re

import pytest
from django.test import Client
from django.urls import reverse

from analysis.domain import analysing
from analysis.domain.planning import working as planning
from analysis.domain.planning.asked import Asked
from analysis.domain.reports import packing
from analysis.domain.updating import working as updating
from crowdrag.llm.models import Endpoint
from crowdrag.runs import kinds
from crowdrag.runs.domain import running, uploads
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from tests.factories import MembershipFactory, StudyFactory
from writing.domain.generation.slots import Which
from writing.domain.imports import importers

pytestmark = pytest.mark.django_db

#: Kinds of runs that are given nothing but their study.
WITHOUT_PARAMETERS = {"demo.judge", "export.archive", "export.crowdrag25", "studies.vacuum"}
KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def shown(run: Run) -> dict[str, object]:
    """The parameters on a run's page."""
    client = Client()
    client.force_login(MembershipFactory(study=run.study, role=Role.VIEWER).user)
    return client.get(reverse("run", args=[run.study.slug, run.key])).context["parameters"]


def test_every_kind_of_run_says_what_its_parameters_are_called() -> None:
    known = {name for name in kinds._kinds if not name.startswith("test.")}
    assert {name for name in known if kinds.get(name).told is None} <= WITHOUT_PARAMETERS


def test_an_import_shows_its_files_and_options_by_name(tmp_path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path
    study = StudyFactory()
    (tmp_path / "answers of bm25.jsonl").write_text("{}")
    upload = uploads.store(study=study, source=tmp_path / "answers of bm25.jsonl")
    given = {"inputs": [{"role": "file", "upload": upload.pk}], "style": "bullet"}
    run = running.start(study=study, kind="import.responses", parameters=given)
    assert shown(run) == {"Responses": ["answers of bm25.jsonl"], "Style": "bullet"}
    path = running.start(
        study=study, kind="import.topics", parameters={"inputs": [{"role": "file", "path": "/data/topics.jsonl"}]}
    )
    assert shown(path) == {"Topics": ["/data/topics.jsonl"]}
    assert importers.OPTIONS.keys() >= {name for each in importers.every() for name in each.options}


def test_analyses_and_what_refers_to_them_name_no_key() -> None:
    study = StudyFactory(currency="EUR")
    run = running.start(study=study, kind=analysing.KIND, parameters=analysing.Settings().write(), seed=3)
    values = shown(run)
    assert {"crowd", "are fixed", "topics"} <= {str(value) for value in values.values()}
    assert not {name for name in values if "_" in name}
    name = kinds.reference(run)
    pack = running.start(study=study, kind=packing.KIND, parameters={"analysis": str(run.key)})
    plan = running.start(
        study=study,
        kind=planning.KIND,
        parameters=Asked(topics=20, responses=4, source=str(run.key), pay=250, currency="EUR").write(),
    )
    update = running.start(
        study=study, kind=updating.UPDATE, parameters=run.parameters | {"of": str(run.key), "mark": {"judgments": 4}}
    )
    for other in (pack, plan, update):
        values = shown(other)
        assert name in values.values()
        assert not KEY.search(json.dumps(values))
    assert "EUR\u00a02.50" in shown(plan).values()
    Run.objects.filter(pk=run.pk).delete()
    assert str(run.key) in shown(pack).values()  # what is gone stays as it was kept


def test_the_demos_model_shows_its_endpoint_and_styles_by_name() -> None:
    kind = kinds.get("demo.write")
    endpoint = Endpoint.objects.create(name="a small model", base_url="https://models.example/v1", model="m")
    study = StudyFactory()
    run = Run(
        study=study, kind=kind.name, parameters={"endpoint": endpoint.pk, "which": Which.NOBODY.value, "styles": []}
    )
    assert kind.told is not None
    assert list(kind.told(run).values()) == ["a small model", [], Which.NOBODY.label]
