"""Forms of entry links, and of the personal key with which participants return."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from .. import activities
from ..enums import Outcome
from ..study.models import Study
from . import links


class KeyForm(forms.Form):
    """A pasted personal link."""

    key = forms.CharField(
        label=_("Your personal link or code"),
        max_length=500,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        help_text=_("Enter the whole link, or only the code, with or without dashes."),
    )


class LinkForm(forms.Form):
    """The common fields of new links."""

    purpose = forms.ChoiceField(label="For")
    days = forms.IntegerField(
        label="Valid for (days)",
        required=False,
        min_value=1,
        max_value=3650,
        help_text="Leave empty to keep it open until you close it. People who joined before can always come back.",
    )

    def __init__(self, study: Study, *args: Any, purpose: str = "", **kwargs: Any):
        super().__init__(*args, **kwargs)
        ours = [activity for activity in activities.of_study(study) if purpose in ("", activity.name)]
        self.fields["purpose"].choices = [(activity.name, activity.label) for activity in ours]  # type: ignore[attr-defined]
        if purpose:
            self.fields["purpose"].widget = forms.HiddenInput()
            self.fields["purpose"].initial = purpose

    def expires_at(self, now: datetime) -> datetime | None:
        """Return when the link ends."""
        days = self.cleaned_data["days"]
        return now + timedelta(days=days) if days else None


class PersonalLinksForm(LinkForm):
    """Invitations, one per line."""

    labels = forms.CharField(
        label="Labels, one per line",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=(
            "For your own use, to tell the invitations apart. Labels are never exported. Avoid names and addresses."
        ),
    )
    field_order = ["labels", "purpose", "days"]

    def clean_labels(self) -> list[str]:
        """Split the labels into lines."""
        labels = [line.strip() for line in self.cleaned_data["labels"].splitlines() if line.strip()]
        if not labels:
            raise forms.ValidationError("Enter at least one label.")
        if len(labels) > links.MAX_AT_ONCE:
            raise forms.ValidationError("Enter at most %(most)d labels at once.", params={"most": links.MAX_AT_ONCE})
        if any(len(label) > links.MAX_LABEL_LENGTH for label in labels):
            raise forms.ValidationError(
                "A line is longer than %(most)d characters.", params={"most": links.MAX_LABEL_LENGTH}
            )
        return labels


class OpenLinkForm(LinkForm):
    """A link that anybody can use."""

    label = forms.CharField(label="Name", max_length=links.MAX_LABEL_LENGTH, help_text="For your own use.")
    field_order = ["label", "purpose", "days"]


class PlatformLinkForm(OpenLinkForm):
    """A link for a recruitment platform."""

    platform = forms.SlugField(label="Platform", max_length=30, initial="prolific")
    participant = forms.CharField(label="URL parameter for the participant ID", max_length=50)
    study = forms.CharField(label="URL parameter for the platform's study ID", max_length=50, required=False)
    session = forms.CharField(label="URL parameter for the session ID", max_length=50, required=False)
    field_order = ["label", "platform", "participant", "study", "session"]

    def __init__(self, study: Study, *args: Any, purpose: str = "", **kwargs: Any):
        super().__init__(study, *args, purpose=purpose, **kwargs)
        for role, name in links.PLATFORM_PRESETS["prolific"].items():
            self.fields[role].initial = name
        for outcome in Outcome:
            self.fields[f"end_{outcome}"] = forms.CharField(
                label=f"Redirect address for people who {outcome.label}",
                required=False,
                max_length=links.MAX_ADDRESS_LENGTH,
                widget=forms.URLInput(attrs={"placeholder": "https://"}),
            )
        self.order_fields([*self.field_order, *(f"end_{outcome}" for outcome in Outcome), "purpose", "days"])

    def clean(self) -> dict[str, Any]:
        """Check the parameter names and the URLs."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for role in links.PARAMETER_ROLES:
            if (name := cleaned.get(role)) and not links.PARAMETER_NAME.fullmatch(name):
                self.add_error(role, "Use only letters, digits, dots, dashes and underscores.")
        named = [cleaned[role] for role in links.PARAMETER_ROLES if cleaned.get(role)]
        if len(set(named)) < len(named):
            self.add_error(None, "Two parameters have the same name. Use different names.")
        for field, address in self._ends(cleaned):
            try:
                cleaned[field] = links.check_address(address)
            except links.AddressError as error:
                self.add_error(field, str(error))
        return cleaned

    def parameters(self) -> dict[str, str]:
        """Return the platform's parameter names by role."""
        return {role: self.cleaned_data[role] for role in links.PARAMETER_ROLES if self.cleaned_data[role]}

    def completion(self) -> dict[str, str]:
        """Return the completion URLs by outcome."""
        return {field.removeprefix("end_"): address for field, address in self._ends(self.cleaned_data)}

    def _ends(self, cleaned: dict[str, Any]) -> Iterable[tuple[str, str]]:
        names = [f"end_{outcome}" for outcome in Outcome]
        return [(name, cleaned[name]) for name in names if cleaned.get(name)]
