"""The form of a saved reply."""

from django import forms

from ..enums import ReplyKind
from . import services


class SavedReplyForm(forms.Form):
    """A saved reply."""

    kind = forms.ChoiceField(label="Used for", choices=ReplyKind.choices)
    title = forms.CharField(label="Title", max_length=80, help_text="Only staff see the title, in the menu.")
    text = forms.CharField(label="Text", max_length=services.MAX_LENGTH, widget=forms.Textarea(attrs={"rows": 6}))
