"""The form to extend a campaign."""

from typing import Any

from django import forms

from ..judging import slots
from ..models import Campaign


class ExtendForm(forms.Form):
    """The total number of judges per questionnaire, not the increase, so that the request is idempotent."""

    k = forms.IntegerField(label="Total judges per questionnaire")

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        field = self.fields["k"]
        field.initial = campaign.k + 1
        field.widget.attrs |= {"min": campaign.k, "max": slots.RANKS}
        field.help_text = f"Currently {campaign.k}. You can only increase it."
