"""Forms for a study on the platform."""

from decimal import Decimal
from typing import Any

from django import forms

from crowdrag.studies import money
from crowdrag.studies.enums import Device
from crowdrag.studies.models import Study

from .enums import RejectionCategory
from .platform_actions import LEAST_MESSAGE, MOST_MESSAGE
from .platform_studies import LONGEST_NAME, MOST_MINUTES, MOST_PLACES, Terms


class DraftForm(forms.Form):
    """The terms of a study, as advertised."""

    name = forms.CharField(label="Public name", max_length=LONGEST_NAME)
    description = forms.CharField(
        label="Description",
        widget=forms.Textarea(attrs={"rows": 6}),
        max_length=5000,
        help_text="Participants read this before they take a place.",
    )
    reward = forms.DecimalField(label="Reward", min_value=Decimal("0.01"), max_digits=10)
    places = forms.IntegerField(
        label="Places",
        min_value=1,
        max_value=MOST_PLACES,
        help_text="You can add places later, but you cannot remove any.",
    )
    minutes = forms.IntegerField(label="Estimated time (minutes)", min_value=1, max_value=MOST_MINUTES)
    most_minutes = forms.IntegerField(
        label="Maximum time (minutes)", min_value=1, max_value=MOST_MINUTES, required=False
    )
    devices = forms.MultipleChoiceField(
        label="Devices",
        choices=Device.choices,
        widget=forms.CheckboxSelectMultiple,
        initial=[Device.DESKTOP.value],
    )
    languages = forms.CharField(
        label="First languages",
        required=False,
        max_length=300,
        help_text="As spelled on Prolific, separated by commas: English, German. Leave empty for any.",
    )
    countries = forms.CharField(
        label="Countries of residence",
        required=False,
        max_length=300,
        help_text="Separated by commas: United Kingdom, Ireland. Leave empty for any.",
    )
    approval_rate = forms.IntegerField(label="Minimum approval rate (%)", min_value=0, max_value=100, required=False)
    completed = forms.IntegerField(
        label="Minimum number of approved submissions", min_value=0, max_value=1_000_000, required=False
    )
    screen_out_reward = forms.DecimalField(
        label="Screen-out payment",
        min_value=Decimal("0.01"),
        max_digits=10,
        required=False,
        help_text="Only for Prolific workspaces with this feature. Leave empty to screen nobody out.",
    )

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        for name in ("reward", "screen_out_reward"):
            self.fields[name].label = f"{self.fields[name].label} ({study.currency})"

    @staticmethod
    def initial_of(terms: Terms, study: Study) -> dict[str, Any]:
        """Return the form's initial values from the terms that an activity proposes."""
        criteria = terms.eligibility
        return {
            "name": terms.name,
            "description": terms.description,
            "reward": money.to_major(terms.reward, study.currency),
            "places": terms.places,
            "minutes": terms.minutes,
            "devices": terms.devices,
            "languages": ", ".join(map(str, criteria.get("languages") or [])),
            "countries": ", ".join(map(str, criteria.get("countries") or [])),
            "approval_rate": criteria.get("approval_rate"),
            "completed": criteria.get("completed"),
        }

    def clean_reward(self) -> int:
        """Convert to minor units."""
        return self._minor("reward") or 0

    def clean_screen_out_reward(self) -> int | None:
        """Convert to minor units."""
        return self._minor("screen_out_reward")

    def terms(self) -> Terms:
        """Return the entered terms."""
        data = self.cleaned_data
        criteria = {
            "languages": _names(data["languages"]),
            "countries": _names(data["countries"]),
            "approval_rate": data["approval_rate"],
            "completed": data["completed"],
        }
        return Terms(
            name=data["name"],
            description=data["description"],
            reward=data["reward"],
            places=data["places"],
            minutes=data["minutes"],
            most_minutes=data["most_minutes"],
            devices=data["devices"],
            eligibility={name: value for name, value in criteria.items() if value not in (None, [])},
            screen_out_reward=data["screen_out_reward"],
        )

    def _minor(self, name: str) -> int | None:
        amount = self.cleaned_data[name]
        if amount is None:
            return None
        try:
            return money.to_minor(amount, self.study.currency)
        except money.TooFineError as error:
            raise forms.ValidationError("The amount has too many decimal places for this currency.") from error


class PlacesForm(forms.Form):
    """The total number of places."""

    to = forms.IntegerField(label="Total places", min_value=1, max_value=MOST_PLACES)


class ConfirmedForm(forms.Form):
    """Actions that cost money must be confirmed: one click alone pays nobody."""

    confirmed = forms.BooleanField(label="I confirm this payment")


class ApproveForm(ConfirmedForm):
    """No further fields: the reward is paid."""


class RejectForm(forms.Form):
    """The reason for the rejection, as the participant is told."""

    category = forms.ChoiceField(label="Rejection category on Prolific", choices=RejectionCategory.choices)
    message = forms.CharField(
        label="Message to the participant",
        widget=forms.Textarea(attrs={"rows": 4}),
        min_length=LEAST_MESSAGE,
        max_length=MOST_MESSAGE,
        help_text=("At least 100 characters. Explain what was wrong and give an example. You cannot undo a rejection."),
    )


class BonusForm(ConfirmedForm):
    """The amount of a bonus, and its reason."""

    amount = forms.DecimalField(label="Bonus", min_value=Decimal("0.01"), max_digits=10)
    reason = forms.CharField(
        label="Reason",
        max_length=300,
        help_text="For your records. It is not sent to Prolific.",
    )
    once = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.fields["amount"].label = f"{self.fields['amount'].label} ({study.currency})"
        self.order_fields(["amount", "reason", "confirmed", "once"])

    def clean_amount(self) -> int:
        """Convert to minor units."""
        try:
            return money.to_minor(self.cleaned_data["amount"], self.study.currency)
        except money.TooFineError as error:
            raise forms.ValidationError("The amount has too many decimal places for this currency.") from error


class ScreenOutForm(ConfirmedForm):
    """No further fields: the fixed part is paid."""


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
