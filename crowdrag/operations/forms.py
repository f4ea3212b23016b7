"""Forms of the operator's dashboards."""

from typing import Any

from django import forms

from crowdrag.audit.queries import AuditFilter
from crowdrag.studies.enums import AuditedContent
from crowdrag.studies.models import User


class _PeriodForm(forms.Form):
    """A period from one day to another, both included."""

    since = forms.DateField(label="From", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def wanted(self) -> AuditFilter:
        """Return the filter; invalid fields are ignored."""
        fields = dict(self.cleaned_data) if self.is_bound and self.is_valid() else {}
        if user := fields.pop("user", ""):
            # An address without a user must find nothing, and not everything.
            fields["by"] = User.objects.filter(email__iexact=user).values_list("pk", flat=True).first() or 0
        return AuditFilter(**fields)


class AuditLogForm(_PeriodForm):
    """The filter of the audit log."""

    user = forms.EmailField(label="User (email address)", required=False)
    study = forms.CharField(label="Study (short name)", required=False, max_length=80)
    participant = forms.CharField(label="Pseudonym", required=False, max_length=200)
    what = forms.ChoiceField(label="Content", required=False, choices=[("", "all"), *AuditedContent.choices])

    field_order = ("user", "study", "participant", "what", "since", "until")


class FailuresForm(_PeriodForm):
    """The filter of failed sign-ins."""

    user = forms.EmailField(label="Account (email address)", required=False)

    field_order = ("user", "since", "until")


class ErasureForm(forms.Form):
    """The person whose data are erased."""

    study = forms.CharField(label="Study (short name)", max_length=80)
    pseudonym = forms.CharField(label="Pseudonym", max_length=200)


class ConfirmForm(ErasureForm):
    """The pseudonym, typed again for confirmation."""

    again = forms.CharField(label="Enter the pseudonym again to confirm", max_length=200)

    def clean(self) -> dict[str, Any]:
        """Reject a different pseudonym."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("again") != cleaned.get("pseudonym"):
            self.add_error("again", "The pseudonym does not match.")
        return cleaned


class RemovalForm(forms.Form):
    """The time of the preview whose rows a rule removes."""

    rule = forms.CharField(max_length=40)
    until = forms.DateTimeField(input_formats=["iso8601"])
