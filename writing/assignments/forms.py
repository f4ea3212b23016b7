"""Forms of the entry and exit surveys, and of returning a task."""

from typing import Any

from django import forms
from django.utils.html import escape
from django.utils.translation import gettext_lazy as _

from ..models import Survey
from ..plans import surveys


class SurveyForm(forms.Form):
    """A form generated from a survey; its fields have the names of the questions."""

    def __init__(self, survey: Survey | None, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.questions: list[dict[str, Any]] = survey.questions if survey else []
        for question in self.questions:
            self.fields[question["name"]] = _field(question)
        self.answers: dict[str, Any] = {}

    def clean(self) -> dict[str, Any]:
        """Convert the submitted values to answers in their stored form."""
        fields = super().clean() or {}
        try:
            self.answers = surveys.check(self.questions, fields)
        except surveys.BadAnswers as bad:
            for name, problem in bad.problems.items():
                if name not in self.errors:
                    self.add_error(name, problem)
        return fields


class ReturnForm(forms.Form):
    """The optional reason for returning a task, for researchers."""

    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Tell us if something was unclear or did not work."),
    )


def _field(question: dict[str, Any]) -> forms.Field:
    required = question.get("required", True)
    if not question["options"]:
        return forms.CharField(
            label=question["text"],
            required=required,
            max_length=surveys.LONGEST_ANSWER,
            widget=forms.Textarea(attrs={"rows": 4}),
        )
    choices = [(str(option["value"]), option["label"]) for option in question["options"]]
    return forms.ChoiceField(
        label=question["text"],
        required=required,
        choices=choices,
        help_text=_ends(question),
        widget=forms.RadioSelect(attrs={"class": f"answers answers--{question.get('kind', 'choice')}"}),
        error_messages={"required": _("Choose an answer."), "invalid_choice": _("Choose one of the answers.")},
    )


def _ends(question: dict[str, Any]) -> str:
    """Describe the ends of a scale, like "1 = nothing, 5 = a great deal", escaped because help texts are HTML."""
    options, ends = question["options"], ((0, question.get("low")), (-1, question.get("high")))
    named = [_("%(value)s = %(meaning)s") % {"value": options[n]["label"], "meaning": text} for n, text in ends if text]
    return escape(
        _("%(low)s, %(high)s") % dict(zip(("low", "high"), named, strict=True)) if len(named) == 2 else "".join(named)
    )
