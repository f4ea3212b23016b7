"""Forms of emails."""

from django import forms
from django.utils.translation import gettext_lazy as _


class AddressForm(forms.Form):
    """A participant's email address. Saving it is consent to the text beside it."""

    address = forms.EmailField(
        label=_("Email address"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
