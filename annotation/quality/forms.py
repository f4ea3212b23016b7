"""Forms of checks, known labels and training, and of an answer to a training item."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from ..models import Dimension
from .known_labels import LabelWithReason

LINES = forms.Textarea(attrs={"rows": 5})
# More would leave no room for what is to be judged.
MOST = 10


class AttentionForm(forms.Form):
    """How many checks and gold items a questionnaire has, and what the checks say, one a line."""

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
    """Two responses by their ids."""

    left = forms.CharField(label="ID of the left response", max_length=200)
    right = forms.CharField(label="ID of the right response", max_length=200)


class ResponseForm(forms.Form):
    """A response by its id."""

    response = forms.CharField(label="ID of the response", max_length=200)


class LabelsForm(forms.Form):
    """Which labels of an item are known, and why; one choice and one explanation for each dimension."""

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
        """Return what was entered, by dimension."""
        return {
            each.pk: LabelWithReason(int(value), self.cleaned_data.get(f"why-{each.pk}", ""))
            for each in self.dimensions
            if (value := self.cleaned_data.get(f"label-{each.pk}"))
        }


def values(dimensions: Sequence[Dimension], fields: Mapping[str, str]) -> dict[int, int]:
    """Return the answers that were sent, by dimension; what is no number counts as not answered."""
    chosen = {}
    for each in dimensions:
        sent = fields.get(f"q-{each.pk}", "")
        if sent.lstrip("-").isascii() and sent.lstrip("-").isdigit() and len(sent) < 6:
            chosen[each.pk] = int(sent)
    return chosen
