"""Forms of messages."""

from django import forms
from django.utils.translation import gettext_lazy as _

from ..enums import MessageKind
from . import services


class MessageForm(forms.Form):
    """A message to the researchers."""

    kind = forms.ChoiceField(label=_("Type of message"), choices=MessageKind.choices, initial=MessageKind.QUESTION)
    about = forms.RegexField(regex=r"^[\w.:@/+-]{0,200}$", required=False, widget=forms.HiddenInput)
    text = forms.CharField(
        label=_("Your message"),
        max_length=services.MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("The researchers of this study read your message. They see your pseudonym, not who you are."),
    )


class AnswerForm(forms.Form):
    """A researcher's answer."""

    text = forms.CharField(label="Answer", max_length=services.MAX_LENGTH, widget=forms.Textarea(attrs={"rows": 4}))
