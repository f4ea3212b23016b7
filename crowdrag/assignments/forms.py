"""Forms of decisions about many pieces of work at once."""

from typing import Any

from django import forms

from crowdrag.studies.models import Study, User

from .assignees import reviewers

LONGEST = 2000
NOTE = forms.Textarea(attrs={"rows": 4, "autofocus": True})


class BulkRejectForm(forms.Form):
    """Reject all selected work for one reason."""

    PAY = (("none", "no pay"), ("all", "full pay"))

    reason = forms.CharField(
        label="Reason", help_text="Each of them reads this and can contest it.", widget=NOTE, max_length=LONGEST
    )
    pay = forms.ChoiceField(label="Pay", choices=PAY, widget=forms.RadioSelect, initial="none")

    @property
    def in_full(self) -> bool:
        """Whether the full pay is paid despite the rejection."""
        return bool(self.cleaned_data["pay"] == "all")


class BulkRevisionForm(forms.Form):
    """Request a revision of all selected work, with the same message."""

    note = forms.CharField(
        label="Requested changes", help_text="Each of them reads this and continues from their text.", widget=NOTE,
        max_length=LONGEST,
    )  # fmt: skip


class AssigneeForm(forms.Form):
    """Assign work to a reviewer, or to nobody."""

    to = forms.ModelChoiceField(label="Assigned to", queryset=User.objects.none(), required=False, empty_label="Nobody")

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.auto_id = "assignee_%s"
        self.fields["to"].queryset = reviewers(study)  # type: ignore[attr-defined]


class UndoForm(forms.Form):
    """Undo a decision, identified by its time."""

    at = forms.DateTimeField(widget=forms.HiddenInput)
