"""Forms of checks, known labels and training, and of an answer to a training item."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from ..models import Dimension
from .known_labels import LabelWithReason

LINES = forms.Textarea(attrs={"rows": 5})
# More checks would leave no room for items.
MOST = 10


class AttentionForm(forms.Form):
    """Numbers of checks and gold items per questionnaire, and the texts of checks, one per line."""

    checks = forms.IntegerField(label="Attention checks in each questionnaire", min_value=0, max_value=MOST)
    gold = forms.IntegerField(label="Items with known labels in each questionnaire", min_value=0, max_value=MOST)
    instructed = forms.CharField(
        label="Checks that say which answer to select",
        help_text="One per line. Put {answer} where the text of the answer to select goes.",
        widget=LINES,
        required=False,
        max_length=5000,
    )
    nonsense = forms.CharField(
        label="Statements that nobody can agree with",
        help_text="One per line. People answer “Disagree” or “Agree”. There is no neutral option.",
        widget=LINES,
        required=False,
        max_length=5000,
    )


class PairForm(forms.Form):
    """Two responses, by id."""

    left = forms.CharField(label="ID of the left response", max_length=200)
    right = forms.CharField(label="ID of the right response", max_length=200)


class ResponseForm(forms.Form):
    """A response, by id."""

    response = forms.CharField(label="ID of the response", max_length=200)


class StatementForm(forms.Form):
    """A statement of a response and a passage that it cites."""

    response = forms.CharField(label="ID of the response", max_length=200)
    statement = forms.IntegerField(
        label="Position of the statement in the response", min_value=0, help_text="The first statement is 0."
    )
    passage = forms.CharField(label="ID of the cited passage", max_length=300)


class LabelsForm(forms.Form):
    """Known labels of an item: one label and one explanation per dimension."""

    def __init__(
        self, dimensions: Sequence[Dimension], known: Mapping[int, LabelWithReason], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.dimensions = dimensions
        for each in dimensions:
            label = known.get(each.pk)
            options = [(str(option["value"]), str(option["label"])) for option in each.options]
            self.fields[f"label-{each.pk}"] = forms.ChoiceField(
                label=each.label,
                help_text=each.question,
                choices=[("", "not known"), *options],
                required=False,
                initial="" if label is None else str(label.value),
            )
            self.fields[f"why-{each.pk}"] = forms.CharField(
                label=f"Reason, shown in training: {each.label}",
                widget=forms.Textarea(attrs={"rows": 2}),
                required=False,
                max_length=2000,
                initial=label.explanation if label else "",
            )

    def known(self) -> dict[int, LabelWithReason]:
        """Return the entered labels, by dimension."""
        return {
            each.pk: LabelWithReason(int(value), self.cleaned_data.get(f"why-{each.pk}", ""))
            for each in self.dimensions
            if (value := self.cleaned_data.get(f"label-{each.pk}"))
        }


def values(dimensions: Sequence[Dimension], fields: Mapping[str, str]) -> dict[int, int]:
    """Return the submitted answers, by dimension. Values that are not numbers count as not answered."""
    chosen = {}
    for each in dimensions:
        sent = fields.get(f"q-{each.pk}", "")
        if sent.lstrip("-").isascii() and sent.lstrip("-").isdigit() and len(sent) < 6:
            chosen[each.pk] = int(sent)
    return chosen
