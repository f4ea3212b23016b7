"""Form for starting an analysis."""

from typing import Any

from django import forms

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run

from ..methods.reference_metrics import encodings
from ..methods.settings import PARAMETERS, PRESETS
from ..parameters import Parameter
from ..tables.run_tables import UPDATE_OF
from .updates import MARK

SEED = "seed"


def _common(parameter: Parameter) -> dict[str, Any]:
    common: dict[str, Any] = {"label": parameter.label, "help_text": parameter.help, "required": False}
    return common if parameter.default in ("", None) else common | {"initial": parameter.default}


def _field(parameter: Parameter) -> forms.Field:
    """Return the form field of a parameter; an empty field means the default."""
    common = _common(parameter)
    if parameter.kind == "flag":
        initial = "yes" if parameter.default else "no"
        return forms.TypedChoiceField(
            choices=list(parameter.choices),
            coerce=lambda value: value == "yes",
            empty_value=None,
            **common | {"initial": initial},
        )
    if parameter.kind == "choice":
        return forms.ChoiceField(choices=list(parameter.choices), **common)
    if parameter.kind == "text":
        return forms.CharField(**common)
    number = forms.IntegerField if parameter.kind == "integer" else forms.FloatField
    return number(min_value=parameter.least, max_value=parameter.most, **common)  # type: ignore[arg-type]


def _bertscores() -> list[tuple[str, Any]]:
    return [
        ("", "most recent"),
        *((str(choice), str(choice)) for choice in encodings.offered_models()),
        (encodings.NO_SCORES, "none"),
    ]


class AnalysisForm(forms.Form):
    """Parameters of an analysis; empty fields have their defaults."""

    seed = forms.IntegerField(label="Seed", initial=0, min_value=0, max_value=2**31, required=False)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that were set, without the seed."""
        values = {name: value for name, value in self.cleaned_data.items() if value is not None and name != SEED}
        for name, parameter in PARAMETERS.items():
            if parameter.kind == "choice" and not values.get(name):
                values.pop(name, None)
        fixed = PRESETS.get(values.get("preset", ""), {})
        return {name: value for name, value in values.items() if name not in fixed}

    def seed_given(self) -> int:
        """Return the seed, 0 by default."""
        return self.cleaned_data.get(SEED) or 0


_FIELDS = {name: _field(parameter) for name, parameter in PARAMETERS.items() if parameter.in_form}
_FIELDS["bertscore"] = forms.ChoiceField(choices=_bertscores, **_common(PARAMETERS["bertscore"]))
_POOL = PARAMETERS["pool"]
_FIELDS["pool"] = forms.ChoiceField(choices=[("", "automatic"), *_POOL.choices], **(_common(_POOL) | {"initial": ""}))
AnalysisForm.base_fields = {"preset": _FIELDS.pop("preset"), SEED: AnalysisForm.base_fields[SEED], **_FIELDS}
for _one in AnalysisForm.base_fields.values():
    # Each has a default, so that "(optional)" at every field would say nothing.
    _one.is_conditional = True  # type: ignore[attr-defined] # read by templates/ui/_field_optional.html


def describe(run: Run) -> dict[str, Any]:
    """Describe the parameters of an analysis or an update with the labels of the form."""
    fields = AnalysisForm.base_fields
    labels = {UPDATE_OF: "Update of", **{name: parameter.label for name, parameter in PARAMETERS.items()}}
    chosen = {name: kinds.choice_label(field.choices) for name, field in fields.items() if hasattr(field, "choices")}
    words = chosen | {
        UPDATE_OF: lambda key: kinds.run_reference_by_key(run.study, key),
        "pool": kinds.choice_label(PARAMETERS["pool"].choices),
        "fix_known": lambda fixed: chosen["fix_known"]("yes" if fixed else "no"),
    }
    return kinds.label_parameters(run.parameters, labels=labels, words=words, hidden=("seed", MARK))
