"""Forms of emails."""

from django import forms
from django.utils.translation import gettext_lazy as _


class AddressForm(forms.Form):
    """Where a participant wants emails. To save it is to agree to what stands beside it."""

    address = forms.EmailField(
        label=_("Email address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
