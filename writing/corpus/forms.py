"""Forms of topics and responses."""

from typing import Any

from django import forms

from crowdrag.studies.models import Study

from ..enums import Origin
from . import queries
from .queries import ResponseFilter, ResponseStatus

MAX_WORDS = 200


class ResponseFilterForm(forms.Form):
    """The filters of the list of responses. Values that do not exist in the study are ignored."""

    q = forms.CharField(
        label="Search", required=False, max_length=MAX_WORDS, widget=forms.TextInput({"type": "search"})
    )
    system = forms.ChoiceField(label="System", required=False)
    style = forms.ChoiceField(label="Style", required=False)
    origin = forms.ChoiceField(label="Origin", required=False, choices=[("", "All"), *Origin.choices])
    status = forms.ChoiceField(label="State", required=False, choices=[("", "All"), *ResponseStatus.choices])

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        choices = queries.response_choices(study)
        systems, styles = [(name, name) for name in choices.systems], choices.styles
        self.fields["system"].choices = [("", "All"), *systems]  # type: ignore[attr-defined]
        self.fields["style"].choices = [("", "All"), *styles]  # type: ignore[attr-defined]
        # Hide filters that have only one choice.
        for name, options in (("system", systems), ("style", styles)):
            if len(options) < 2 and not self.data.get(name):
                del self.fields[name]

    @property
    def filters(self) -> ResponseFilter:
        """The chosen filters."""
        self.is_valid()
        values = self.cleaned_data
        return ResponseFilter(
            words=values.get("q", "").strip(),
            **{name: values.get(name, "") for name in ("system", "style", "origin", "status")},
        )
