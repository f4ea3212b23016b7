"""Forms of the operator's dashboards."""

from typing import Any

from django import forms

from crowdrag.audit.queries import AuditFilter
from crowdrag.studies.enums import AuditedContent
from crowdrag.studies.models import User


class _PeriodForm(forms.Form):
    """From one day to another, both included."""

    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def wanted(self) -> AuditFilter:
        """Return what is asked for; what cannot be read asks for nothing."""
        fields = dict(self.cleaned_data) if self.is_bound and self.is_valid() else {}
        if user := fields.pop("user", ""):
            # An address that nobody has is nobody's: nothing is found, and not everything.
            fields["by"] = User.objects.filter(email__iexact=user).values_list("pk", flat=True).first() or 0
        return AuditFilter(**fields)


class AuditLogForm(_PeriodForm):
    """Which looks."""

    user = forms.EmailField(label="User (email address)", required=False)
    study = forms.CharField(label="Study (short name)", required=False, max_length=80)
    participant = forms.CharField(label="Pseudonym", required=False, max_length=200)
    what = forms.ChoiceField(label="Content", required=False, choices=[("", "all"), *AuditedContent.choices])

    field_order = ("user", "study", "participant", "what", "since", "until")


class FailuresForm(_PeriodForm):
    """Which failures."""

    user = forms.EmailField(label="Account (email address)", required=False)

    field_order = ("user", "since", "until")


class ErasureForm(forms.Form):
    """Whose data."""

    study = forms.CharField(label="Study (short name)", max_length=80)
    pseudonym = forms.CharField(label="Pseudonym", max_length=200)


class ConfirmForm(ErasureForm):
    """The same, written out once more."""

    again = forms.CharField(label="Enter the pseudonym again to confirm", max_length=200)

    def clean(self) -> dict[str, Any]:
        """Refuse where it is another."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("again") != cleaned.get("pseudonym"):
            self.add_error("again", "The pseudonym does not match.")
        return cleaned


class RemovalForm(forms.Form):
    """What a rule would have removed when it was looked at."""

    rule = forms.CharField(max_length=40)
    until = forms.DateTimeField(input_formats=["iso8601"])
