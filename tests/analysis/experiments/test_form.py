"""The form of an experiment: what it begins with, what it offers, where the page lands, where errors stand."""

import re
from dataclasses import replace
from typing import Any

import pytest
from django.http import QueryDict
from django.utils import timezone

from analysis.experiments import services
from analysis.experiments.experiment import EXPERIMENTS, BadParameterError, get
from analysis.experiments.forms import OWN, WRITTEN, ExperimentForm
from crowdrag.jobs.models import Run, Upload
from crowdrag.llm.models import Endpoint
from tests.analysis.experiments.test_pages import TOLD, form_of, member_of
from tests.factories import StyleFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker", "experiment", "endpoint")]
OFFERED = ("fair", "uplift", "self_preference", "planted")


def autofocus(page) -> list[str]:
    return re.findall(r"<[^>]*autofocus[^>]*>", page.content.decode())


def test_a_form_begins_with_the_study_s_last_model_then_a_local_one_then_the_first(study):
    far = {"model": "m", "is_allowed": True, "base_url": "https://far.example/v1"}
    Endpoint.objects.create(name="a-far", is_local=False, **far)
    assert services.default_parameters(study) == "endpoint:odd"
    Run.objects.create(
        study=study, kind="experiment.planted", created_at="2026-01-01T00:00Z",
        parameters={"generator": "endpoint:a-far"},
    )  # fmt: skip
    page = member_of(study).get(form_of(study))
    assert page.context["form"]["generator"].value() == "endpoint:a-far"
    assert '<option value="endpoint:a-far" selected>' in page.content.decode()
    Endpoint.objects.filter(name="a-far").update(is_allowed=False)
    assert services.default_parameters(study) == "endpoint:odd"
    Endpoint.objects.filter(name="a-far").update(is_allowed=True)
    Endpoint.objects.filter(name="odd").delete()
    Run.objects.all().delete()
    assert services.default_parameters(study) == "endpoint:a-far"


def test_what_servers_do_not_tell_is_asked_of_models_in_a_worker_alone(study, settings):
    settings.GENERATOR_MODELS = ["gpt2"]
    form = ExperimentForm(experiment=get("self_preference"), study=study)
    assert [name for name, _label in form.fields["p_perplexity"].choices] == ["", "model:gpt2"]
    assert [name for name, _label in form.fields["generator"].choices] == ["endpoint:odd", "model:gpt2"]
    planted = ExperimentForm(experiment=get("planted"), study=study)
    assert "endpoint:odd" in dict(planted.fields["p_judge"].choices)


def test_every_format_that_is_taken_is_described():
    for name in OFFERED:
        taken = set(get(name).collections) - {"study", "responses"}
        assert taken <= set(WRITTEN)


def test_the_page_lands_at_what_was_asked_for(study):
    editor = member_of(study)
    assert autofocus(editor.get(form_of(study))) == []
    [landed] = autofocus(editor.post(form_of(study), TOLD))
    assert 'id="estimate"' in landed
    assert 'tabindex="-1"' in landed
    # What follows the form while it is filled in never takes the focus away from it.
    assert autofocus(editor.post(form_of(study) + "estimate/", TOLD)) == []
    wrong = editor.post(form_of(study), TOLD | {"p_k": "9"})
    assert autofocus(wrong) == []
    assert "data-errors" in wrong.content.decode()


def test_what_is_wrong_with_a_parameter_stands_at_its_field(study, monkeypatch):
    def refuse(collection, own):
        raise BadParameterError("k is 2; there are documents for 1.")

    monkeypatch.setitem(EXPERIMENTS, "planted", replace(get("planted"), estimate=refuse))
    page = member_of(study).post(form_of(study), TOLD)
    assert dict(page.context["form"].errors) == {"p_k": ["k is 2; there are documents for 1."]}
    assert autofocus(page) == []
    assert 'href="#id_p_k"' in page.content.decode()
    assert 'name="start"' not in page.content.decode()


def untouched(form: ExperimentForm) -> dict[str, Any]:
    """What a browser sends of a form that nobody has filled in, other than where its questions come from."""
    values = {name: form[name].value() for name in form.fields}
    values["source"] = next(value for value, _label in form.fields["source"].choices)
    return {
        name: field_value
        for name, field_value in values.items()
        if field_value is not None and field_value is not False
    }


def submitted(name: str, study: Any, changes: dict[str, Any]) -> ExperimentForm:
    data = QueryDict(mutable=True)
    for field, value in (untouched(ExperimentForm(experiment=get(name), study=study)) | changes).items():
        is_several = isinstance(value, list | tuple) and field not in {"p_alphas", "p_weights"}
        if is_several:
            data.setlist(field, [str(each) for each in value])
        else:
            data[field] = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return ExperimentForm(data, experiment=get(name), study=study)


def offered(form: ExperimentForm) -> list[tuple[str, Any]]:
    """Every control that lists its choices, with each of them."""
    return [
        (name, value) for name, field in form.fields.items() if hasattr(field, "choices") for value, _ in field.choices
    ]


@pytest.mark.parametrize(
    "name", ["planted", *(pytest.param(name, marks=pytest.mark.extended) for name in OFFERED if name != "planted")]
)
def test_every_choice_that_is_offered_can_be_chosen(name, study, settings):
    settings.GENERATOR_MODELS = ["gpt2"]
    settings.ENTAILMENT_MODELS = ["roberta-large-mnli"]
    StyleFactory(study=study, name="bullet")
    upload = Upload.objects.create(study=study, name="q.jsonl", size=2, sha256="0" * 64, uploaded_at=timezone.now())
    form = ExperimentForm(experiment=get(name), study=study)
    refused = []
    for field, value in offered(form):
        several = type(form.fields[field]).__name__ == "MultipleChoiceField"
        changes: dict[str, Any] = {field: [value] if several else value}
        if field == "source" and value not in {"study", "responses"}:
            changes["upload"] = upload.pk
        own = submitted(name, study, changes)
        if not own.is_valid():
            refused.append((field, value, dict(own.errors)))
        elif field.startswith(OWN):
            held = services.order(own.experiment, study, own.parameters()).parameters[field.removeprefix(OWN)]
            assert list(held) == [value] if several else held == value
    assert not refused
