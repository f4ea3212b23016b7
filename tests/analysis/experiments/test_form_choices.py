"""Every choice that an experiment's form offers is taken by it, and reaches the run as it was chosen."""

from typing import Any

import pytest
from django.http import QueryDict
from django.utils import timezone

from analysis.domain.experiments import starting
from analysis.domain.experiments.experiment import get
from analysis.views.experiment_form import OWN, ExperimentForm
from crowdrag.runs.models import Upload
from tests.factories import StyleFactory
from tests.llm.conftest import endpoint, server  # noqa: F401 - fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker", "experiment", "endpoint")]
EXPERIMENTS = ("fair", "uplift", "self_preference", "planted")


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


@pytest.mark.parametrize("name", EXPERIMENTS)
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
            held = starting.order(own.experiment, study, own.parameters()).parameters[field.removeprefix(OWN)]
            assert list(held) == [value] if several else held == value
    assert not refused
