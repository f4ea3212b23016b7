"""The form of a webhook."""

from django import forms

from . import transport
from .enums import CHOSEN
from .models import LONGEST_ADDRESS


class WebhookForm(forms.Form):
    """The URL and the events of a webhook."""

    address = forms.CharField(
        label="URL",
        max_length=LONGEST_ADDRESS,
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="URL of the system to notify: https://…",
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=[(event.value, event.label) for event in CHOSEN],
        widget=forms.CheckboxSelectMultiple,
    )
    label = forms.CharField(label="Name (only for you)", max_length=100, required=False)

    def clean_address(self) -> str:
        """Reject a URL to which nothing may be sent."""
        address: str = self.cleaned_data["address"].strip()
        try:
            transport.parse_address(address)
        except transport.AddressError as error:
            raise forms.ValidationError(str(error)) from error
        return address
