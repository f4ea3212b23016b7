"""The form that asks for more judgments of each questionnaire."""

from typing import Any

from django import forms

from ..judging import slots
from ..models import Campaign


class ExtendForm(forms.Form):
    """Asks for the number in all, not for how many more: sent twice it asks for the same."""

    k = forms.IntegerField(label="Total judges per questionnaire")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        field = self.fields["k"]
        field.initial = campaign.k + 1
        field.widget.attrs |= {"min": campaign.k, "max": slots.RANKS}
        field.help_text = f"Currently {campaign.k}. You can only increase it."
