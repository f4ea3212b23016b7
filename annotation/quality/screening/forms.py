"""Forms of screening. Payment and inclusion are decided separately."""

from typing import Any

from django import forms

from crowdrag.assignments.forms import BulkRejectForm
from crowdrag.recruitment.enums import RejectionCategory
from crowdrag.studies.money import AmountField

from .services import LEAST

NOTE = forms.Textarea(attrs={"rows": 3})
LONGEST = 2000


class AcceptForm(forms.Form):
    """Accept a questionnaire: it is paid in full and counts as one of its k judgments."""

    # The field is displayed outside its form, so that accepting without a note takes one click.
    note = forms.CharField(
        label="Note to the judge",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "form": "accept-form"}),
        max_length=LONGEST,
    )

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "accept_%s"


class RejectForm(forms.Form):
    """Reject a questionnaire: the reason, and what is paid nevertheless."""

    PAY = (("none", "no pay"), ("part", "partial pay"), ("all", "full pay"))

    reason = forms.CharField(
        label="Reason",
        help_text="The judge can read this and contest the decision.",
        widget=NOTE,
        max_length=LONGEST,
    )
    category = forms.ChoiceField(
        label="Category on the platform",
        help_text="Required unless you choose full pay.",
        choices=[("", "–"), *RejectionCategory.choices],
        required=False,
    )
    pay = forms.ChoiceField(label="Pay", choices=PAY, widget=forms.RadioSelect, initial="none")
    amount = AmountField(label="Amount of partial pay", required=False)

    def __init__(self, *args: Any, owed: int, currency: str, from_platform: bool, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "reject_%s"
        self.owed = owed
        self.fields["amount"].of(currency)  # type: ignore[attr-defined]
        if from_platform:
            self.fields["reason"].help_text = (
                "The judge can read this here and on the platform, and can contest it. The platform requires at least "
                f"{LEAST} characters. You cannot undo a rejection on the platform."
            )
        else:
            del self.fields["category"]

    def clean(self) -> dict[str, Any]:
        """Add `pay_part`, the amount to pay in minor units."""
        cleaned: dict[str, Any] = super().clean() or {}
        amount = cleaned.get("amount")
        if cleaned.get("pay") == "part" and "amount" in cleaned:
            if not amount:
                self.add_error("amount", "Enter the amount.")
            elif amount > self.owed:
                self.add_error(
                    "amount", "The amount is higher than the promised pay that remains. Enter a lower amount."
                )
        cleaned["pay_part"] = {"all": self.owed, "part": amount or 0}.get(cleaned.get("pay", ""), 0)
        return cleaned


class ScreeningRejectForm(BulkRejectForm):
    """Reject the selected questionnaires. Platforms require a category and a longer reason."""

    category = forms.ChoiceField(
        label="Category on the platform",
        help_text="Required for judges from a platform, unless you pay in full.",
        choices=[("", "–"), *RejectionCategory.choices],
        required=False,
    )

    def __init__(self, *args: Any, from_platform: bool, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if from_platform:
            self.fields["reason"].help_text += f" The platform requires at least {LEAST} characters."
        else:
            del self.fields["category"]


class InclusionForm(forms.Form):
    """Include judgments in the analysis or exclude them, regardless of payment."""

    CHOICES = (("include", "include"), ("exclude", "exclude"))

    inclusion = forms.ChoiceField(label="Analysis", choices=CHOICES, widget=forms.RadioSelect)
    why = forms.CharField(
        label="Reason (internal record)", widget=forms.Textarea(attrs={"rows": 2}), max_length=LONGEST
    )

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "inclusion_%s"


class ReverseForm(forms.Form):
    """Accept a rejected questionnaire, and pay the rest."""

    note = forms.CharField(label="Note to the judge", widget=NOTE, max_length=LONGEST)

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "reverse_%s"


class PayForm(forms.Form):
    """Pay an extra amount, for example after a technical problem."""

    amount = AmountField(label="Amount")
    reason = forms.CharField(label="Reason", help_text="The judge can read it.", max_length=200)

    def __init__(self, currency: str, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "pay_%s"
        self.fields["amount"].of(currency)  # type: ignore[attr-defined]


class BulkForm(forms.Form):
    """Accept all questionnaires without flags that were submitted before the list was shown."""

    until = forms.DateTimeField(widget=forms.HiddenInput)
