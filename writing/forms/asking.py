"""What is said whenever a model is asked for many things: which model, told what, sampled how."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Protocol

from django import forms
from django.utils.translation import gettext_lazy

from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study, Versioned

from ..domain.generation.prompts import BadPromptError

LONGEST_PROMPT: Final = 50_000


class Prompts(Protocol):
    """A module of prompts in versions."""

    def latest_text(self, study: Study) -> str:
        """Return the prompt that was entered last, or the default."""

    def check(self, text: str) -> None:
        """Refuse a prompt that would not say what is asked: raise BadPromptError."""

    def ensure(self, *, study: Study, text: str, now: datetime) -> Versioned:
        """Return the version of the study's prompt with this text."""


class PromptForm(forms.Form):
    """Which model is asked, told what; further fields say for what.

    A form names its `prompts`, its `sampling` (the fields that are parameters of each call), and in `helps` what its
    fields say otherwise than here.
    """

    prompts: ClassVar[Prompts]
    sampling: ClassVar[tuple[str, ...]] = ("temperature", "max_tokens")
    helps: ClassVar[Mapping[str, Any]] = {}

    endpoint = forms.ModelChoiceField(
        label=gettext_lazy("Model"),
        queryset=Endpoint.objects.allowed().order_by("name", "id"),
        help_text=gettext_lazy("Endpoints that an operator allowed."),
    )
    prompt = forms.CharField(
        label=gettext_lazy("Prompt"),
        max_length=LONGEST_PROMPT,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "true"}),
    )
    temperature = forms.FloatField(
        label=gettext_lazy("Temperature"),
        required=False,
        min_value=0,
        max_value=2,
        help_text=gettext_lazy("Empty: the server's own."),
    )
    max_tokens = forms.IntegerField(
        label=gettext_lazy("Longest answer (tokens)"), required=False, min_value=16, max_value=1_000_000
    )
    seed = forms.IntegerField(label=gettext_lazy("Seed"), required=False, min_value=0, max_value=2**31)

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.study = study
        self.fields["prompt"].initial = self.prompts.latest_text(study)
        for name, said in self.helps.items():
            self.fields[name].help_text = said

    def clean_prompt(self) -> str:
        """Refuse a prompt that would not say what is asked."""
        text: str = self.cleaned_data["prompt"].replace("\r\n", "\n")
        try:
            self.prompts.check(text)
        except BadPromptError as error:
            raise forms.ValidationError(str(error)) from error
        return text

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of each call that were given."""
        found = {name: self.cleaned_data[name] for name in self.sampling}
        return {name: value for name, value in found.items() if value is not None}

    def version(self, *, now: datetime) -> Versioned:
        """Return the prompt's version, which is made if it is new."""
        return self.prompts.ensure(study=self.study, text=self.cleaned_data["prompt"], now=now)
