"""Forms of review. Payment and inclusion are decided separately."""

from typing import Any

from django import forms

from crowdrag.assignments.assignees import CHOICES
from crowdrag.studies.money import AmountField

from ..models import WritingTask

NOTE = forms.Textarea(attrs={"rows": 3})


class AcceptForm(forms.Form):
    """Accept a response with full pay."""

    # The field is placed outside its form, so that accepting without a message needs no opened form.
    note = forms.CharField(
        label="Note to the writer",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "form": "accept-form"}),
        max_length=5000,
    )

    def __init__(self, task: WritingTask, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "accept_%s"
        self.task = task


class SendBackForm(forms.Form):
    """Request a revision."""

    note = forms.CharField(
        label="Requested changes",
        help_text="The writer reads this and continues from the current text.",
        widget=NOTE,
        max_length=5000,
    )

    def __init__(self, task: WritingTask, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "send_back_%s"
        self.task = task


class RejectForm(forms.Form):
    """Reject a response with a reason and partial pay."""

    PAY = (("none", "no pay"), ("part", "partial pay"), ("all", "full pay"))

    reason = forms.CharField(
        label="Reason", help_text="The writer reads this and can contest it.", widget=NOTE, max_length=5000
    )
    pay = forms.ChoiceField(label="Pay", choices=PAY, widget=forms.RadioSelect, initial="none")
    amount = AmountField(label="Amount of partial pay", required=False)

    def __init__(self, task: WritingTask, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "reject_%s"
        self.task = task
        self.fields["amount"].of(task.study.currency)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Add `pay_part`, the pay in minor units."""
        cleaned: dict[str, Any] = super().clean() or {}
        whole, amount = self.task.pay or 0, cleaned.get("amount")
        if cleaned.get("pay") == "part" and "amount" in cleaned:
            if not amount:
                self.add_error("amount", "Enter an amount.")
            elif amount > whole:
                self.add_error("amount", "This amount is more than the pay offered.")
        cleaned["pay_part"] = {"all": whole, "part": amount or 0}.get(cleaned.get("pay", ""), 0)
        return cleaned


class InclusionForm(forms.Form):
    """Include in the analysis or exclude, independently of payment."""

    CHOICES = (("include", "include"), ("exclude", "exclude"))

    inclusion = forms.ChoiceField(label="Analysis", choices=CHOICES, widget=forms.RadioSelect)
    why = forms.CharField(label="Reason (internal record)", widget=forms.Textarea(attrs={"rows": 2}), max_length=5000)

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "inclusion_%s"


class ReverseForm(forms.Form):
    """Accept a rejected response, and pay the rest."""

    note = forms.CharField(label="Note to the writer", widget=NOTE, max_length=5000)

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "reverse_%s"


class PayForm(forms.Form):
    """Pay an extra amount, for example after a technical problem."""

    amount = AmountField(label="Amount")
    reason = forms.CharField(label="Reason", help_text="The writer reads it.", max_length=200)

    def __init__(self, currency: str, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "pay_%s"
        self.fields["amount"].of(currency)  # type: ignore[attr-defined]


class QueueForm(forms.Form):
    """The filter of the queue."""

    style = forms.ChoiceField(label="Style", required=False)
    writer = forms.CharField(label="Writer", required=False, max_length=200)
    trial = forms.BooleanField(label="Trials only", required=False)
    signals = forms.BooleanField(label="With flags only", required=False)
    assigned = forms.ChoiceField(label="Assigned to", choices=CHOICES, required=False)

    def __init__(self, styles: list[tuple[str, str]], *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["style"].choices = [("", "All styles"), *styles]  # type: ignore[attr-defined]
