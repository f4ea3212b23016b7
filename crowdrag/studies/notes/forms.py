"""Forms of notes."""

from django import forms

from . import services


class NoteForm(forms.Form):
    """A note on a participant or on one piece of their work."""

    text = forms.CharField(label="Note", max_length=services.MAX_LENGTH, widget=forms.Textarea(attrs={"rows": 3}))
    about = forms.RegexField(regex=r"^[\w.:@/+-]{0,200}$", required=False)
