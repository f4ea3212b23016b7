"""Forms of decisions about many pieces of work at once."""

from django import forms

LONGEST = 2000
NOTE = forms.Textarea(attrs={"rows": 4, "autofocus": True})


class BulkAcceptForm(forms.Form):
    """Accept all that is selected: each is paid in full."""

    note = forms.CharField(
        label="Note to all of them", required=False, widget=forms.Textarea(attrs={"rows": 3}), max_length=LONGEST
    )


class BulkRejectForm(forms.Form):
    """Reject all that is selected for one reason."""

    PAY = (("none", "no pay"), ("all", "full pay"))

    reason = forms.CharField(
        label="Reason", help_text="Each of them reads this and can contest it.", widget=NOTE, max_length=LONGEST
    )
    pay = forms.ChoiceField(label="Pay", choices=PAY, widget=forms.RadioSelect, initial="none")

    @property
    def in_full(self) -> bool:
        """Whether all of the pay is paid with the rejection."""
        return bool(self.cleaned_data["pay"] == "all")


class BulkRevisionForm(forms.Form):
    """Request a revision of all that is selected, in the same words."""

    note = forms.CharField(
        label="Requested changes", help_text="Each of them reads this and continues from their text.", widget=NOTE,
        max_length=LONGEST,
    )  # fmt: skip


class UndoForm(forms.Form):
    """Undo what was decided at a moment."""

    at = forms.DateTimeField(widget=forms.HiddenInput)
