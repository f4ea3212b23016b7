"""Forms of participants."""

from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from .models import ConsentText


class ConsentForm(forms.Form):
    """Consent and permissions to release. Only data for which the text names a licence can be released."""

    agrees = forms.BooleanField(label=_("I have read this, and I take part voluntarily."))
    releases_text = forms.BooleanField(label="")
    releases_log = forms.BooleanField(label="", required=False)
    releases_timing = forms.BooleanField(label="", required=False)

    def __init__(self, text: ConsentText, *args: Any, publishes: str | Promise, **kwargs: Any):
        super().__init__(*args, **kwargs)
        named = {
            "releases_text": (publishes, text.text_licence),
            "releases_log": (
                _("The record of how I wrote it may be published under the licence %(licence)s."),
                text.log_licence,
            ),
            "releases_timing": (
                _("My times (when I worked and how long it took) may be published under the licence %(licence)s."),
                text.timing_licence,
            ),
        }
        for name, (label, licence) in named.items():
            if licence:
                self.fields[name].label = label % {"licence": licence}
            else:
                del self.fields[name]


class WithdrawForm(forms.Form):
    """Withdrawal, with or without erasure; only erasure for who cannot keep their data in the study."""

    choice = forms.ChoiceField(
        label=_("What would you like to do?"),
        choices=[
            ("stop", _("Withdraw and keep my data in the study")),
            ("erase", _("Withdraw and erase my data")),
        ],
        widget=forms.RadioSelect,
    )
    is_sure = forms.BooleanField(label=_("I understand that this cannot be undone."))

    def __init__(self, *args: Any, can_keep: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        if not can_keep:
            self.fields["choice"] = forms.ChoiceField(
                choices=[("erase", "")], initial="erase", widget=forms.HiddenInput
            )
