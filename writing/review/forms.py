"""Forms of review. Payment and inclusion are decided separately."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from crowdrag.assignments.assignees import CHOICES
from crowdrag.studies.money import AmountField

from ..models import WritingTask

NOTE = forms.Textarea(attrs={"rows": 3})


class AcceptForm(forms.Form):
    """Accept: paid in full."""

    # The field stands outside the form that it belongs to: accepting without words takes no opening of anything.
    note = forms.CharField(
        label=_("Note to the writer"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "form": "accept-form"}),
        max_length=5000,
    )

    def __init__(self, task: WritingTask, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "accept_%s"
        self.task = task


class SendBackForm(forms.Form):
    """Ask for a revision."""

    note = forms.CharField(
        label=_("Requested changes"),
        help_text=_("The writer reads this and continues from the current text."),
        widget=NOTE,
        max_length=5000,
    )

    def __init__(self, task: WritingTask, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "send_back_%s"
        self.task = task


class RejectForm(forms.Form):
    """Reject: say why, and what is paid all the same."""

    PAY = (("none", _("no pay")), ("part", _("partial pay")), ("all", _("full pay")))

    reason = forms.CharField(
        label=_("Reason"), help_text=_("The writer reads this and can contest it."), widget=NOTE, max_length=5000
    )
    pay = forms.ChoiceField(label=_("Pay"), choices=PAY, widget=forms.RadioSelect, initial="none")
    amount = AmountField(label=_("Amount of partial pay"), required=False)

    def __init__(self, task: WritingTask, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "reject_%s"
        self.task = task
        self.fields["amount"].of(task.study.currency)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Add `pay_part`: what is paid, in minor units."""
        cleaned: dict[str, Any] = super().clean() or {}
        whole, amount = self.task.pay or 0, cleaned.get("amount")
        if cleaned.get("pay") == "part" and "amount" in cleaned:
            if not amount:
                self.add_error("amount", _("Enter an amount."))
            elif amount > whole:
                self.add_error("amount", _("This amount is more than the pay offered."))
        cleaned["pay_part"] = {"all": whole, "part": amount or 0}.get(cleaned.get("pay", ""), 0)
        return cleaned


class InclusionForm(forms.Form):
    """Include in the analysis or leave out, whatever is paid."""

    CHOICES = (("include", _("include")), ("exclude", _("exclude")))

    inclusion = forms.ChoiceField(label=_("Analysis"), choices=CHOICES, widget=forms.RadioSelect)
    why = forms.CharField(label=_("Reason (kept on record)"), widget=forms.Textarea(attrs={"rows": 2}), max_length=5000)

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "inclusion_%s"


class ReverseForm(forms.Form):
    """Accept after all what was rejected, and pay the rest."""

    note = forms.CharField(label=_("Note to the writer"), widget=NOTE, max_length=5000)

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "reverse_%s"


class PayForm(forms.Form):
    """Pay something beside: when the fault was ours, say."""

    amount = AmountField(label=_("Amount"))
    reason = forms.CharField(label=_("Reason"), help_text=_("The writer reads it."), max_length=200)

    def __init__(self, currency: str, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "pay_%s"
        self.fields["amount"].of(currency)  # type: ignore[attr-defined]


class QueueForm(forms.Form):
    """What to show of the queue."""

    style = forms.ChoiceField(label=_("Style"), required=False)
    writer = forms.CharField(label=_("Writer"), required=False, max_length=200)
    trial = forms.BooleanField(label=_("Trials only"), required=False)
    signals = forms.BooleanField(label=_("With signals only"), required=False)
    assigned = forms.ChoiceField(label="Assigned to", choices=CHOICES, required=False)

    def __init__(self, styles: list[tuple[str, str]], *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["style"].choices = [("", _("All styles")), *styles]  # type: ignore[attr-defined]
