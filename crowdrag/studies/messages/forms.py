"""Forms of messages."""

from django import forms
from django.utils.translation import gettext_lazy as _

from ..enums import MessageKind
from . import services


class MessageForm(forms.Form):
    """Something asked of the researchers."""

    kind = forms.ChoiceField(label=_("What is it?"), choices=MessageKind.choices, initial=MessageKind.QUESTION)
    about = forms.RegexField(regex=r"^[\w.:@/+-]{0,200}$", required=False, widget=forms.HiddenInput)
    text = forms.CharField(
        label=_("Your words"),
        max_length=services.MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("The researchers of this study read it. They see the pseudonym that it gave you, not who you are."),
    )


class AnswerForm(forms.Form):
    """A researcher's answer."""

    text = forms.CharField(label=_("Answer"), max_length=services.MAX_LENGTH, widget=forms.Textarea(attrs={"rows": 4}))
