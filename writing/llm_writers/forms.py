"""Forms that order work by a model: endpoint, prompt, sampling, targets."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Protocol

from django import forms
from django.db.models import Model

from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study, Versioned

from ..corpus import versions
from ..models import Style, Topic
from . import outcomes, prompts
from .prompts import BadPromptError
from .targets import TopicSelection
from .writer import AnswerForm
from .writer_run import Order

LONGEST_PROMPT: Final = 50_000


class EndpointField(forms.ModelChoiceField):  # type: ignore[type-arg]  # Django's class takes no arguments
    """A choice of endpoints, shown with their models."""

    def label_from_instance(self, endpoint: Endpoint) -> str:
        """Return the name of the model, and that of the endpoint."""
        return f"{endpoint.model} ({endpoint.name})" if endpoint.model != endpoint.name else endpoint.name


def only_choice(field: forms.ModelChoiceField) -> Model | None:  # type: ignore[type-arg]  # see above
    """Return the choice of a field that has no other; None if it has several or none."""
    first = list(field.queryset[:2])  # type: ignore[index] # it is set
    return first[0] if len(first) == 1 else None


class Prompts(Protocol):
    """A module with versioned prompts."""

    def latest_text(self, study: Study) -> str:
        """Return the latest prompt, or the default."""

    def check(self, text: str) -> None:
        """Raise BadPromptError if the prompt is invalid."""

    def ensure(self, *, study: Study, text: str, now: datetime) -> Versioned:
        """Return the version of the study's prompt with this text."""


class PromptForm(forms.Form):
    """The model and its prompt; subclasses add the targets.

    Subclasses define `prompts`, `sampling` (the fields that are parameters of each call), and `helps` (help texts that
    replace those of this class).
    """

    prompts: ClassVar[Prompts]
    sampling: ClassVar[tuple[str, ...]] = ("temperature", "max_tokens")
    helps: ClassVar[Mapping[str, Any]] = {}

    endpoint = EndpointField(
        label="Model",
        queryset=Endpoint.objects.allowed().order_by("name", "id"),
        help_text="Ask your operator to add more.",
    )
    prompt = forms.CharField(
        label="Prompt",
        max_length=LONGEST_PROMPT,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "true"}),
    )
    temperature = forms.FloatField(
        label="Temperature",
        required=False,
        min_value=0,
        max_value=2,
        help_text="Leave empty for the server's default.",
    )
    max_tokens = forms.IntegerField(
        label="Maximum answer length (tokens)", required=False, min_value=16, max_value=1_000_000
    )
    seed = forms.IntegerField(label="Seed", required=False, min_value=0, max_value=2**31)

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.study = study
        self.fields["endpoint"].initial = only_choice(self.fields["endpoint"])  # type: ignore[arg-type]
        self.fields["prompt"].initial = self.prompts.latest_text(study)
        for name, text in self.helps.items():
            self.fields[name].help_text = text

    def clean_prompt(self) -> str:
        """Check the prompt."""
        text: str = self.cleaned_data["prompt"].replace("\r\n", "\n")
        try:
            self.prompts.check(text)
        except BadPromptError as error:
            raise forms.ValidationError(str(error)) from error
        return text

    @property
    def parameters(self) -> dict[str, Any]:
        """The given parameters of each call."""
        parameters = {name: self.cleaned_data[name] for name in self.sampling}
        return {name: value for name, value in parameters.items() if value is not None}

    def version(self, *, now: datetime) -> Versioned:
        """Return the version of the prompt; create it if it is new."""
        return self.prompts.ensure(study=self.study, text=self.cleaned_data["prompt"], now=now)


class WritingOrderForm(PromptForm):
    """The order of a campaign: model, prompt, topics and styles."""

    prompts: ClassVar = prompts
    sampling = ("temperature", "max_tokens", "frequency_penalty", "seed")
    helps: ClassVar = {
        "prompt": (
            "The instructions that people get. {query}, {style}, {words}, {citing} and {passages} are filled in for "
            "each topic and style. If you change it, a new version is saved, and its responses count as those of "
            "a new writer."
        ),
        "max_tokens": "Leave empty for four tokens per requested word. Reasoning models need more.",
    }

    styles = forms.MultipleChoiceField(label="Styles", widget=forms.CheckboxSelectMultiple)
    which = forms.ChoiceField(label="Topics", choices=TopicSelection.choices, initial=TopicSelection.NO_MODEL)
    topics = forms.CharField(
        label="Topic IDs",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One per line. Only if you choose topics by ID.",
    )
    form = forms.ChoiceField(
        label="Answer format",
        choices=AnswerForm.choices,
        initial=AnswerForm.TEXT,
        help_text="People write text. JSON helps small models to stay with their passages.",
    )
    words = forms.IntegerField(
        label="Target length (words)",
        required=False,
        min_value=10,
        max_value=5000,
        help_text="Leave empty for the target length of each style.",
    )
    overlong = forms.FloatField(
        label="Length limit (multiple of target)",
        initial=outcomes.OVERLONG,
        min_value=1,
        max_value=100,
        help_text=("Answers from this length on are too long. Answers that were cut off also count as too long."),
    )
    accept_overlong = forms.BooleanField(label="Keep answers that are too long as responses", required=False)
    frequency_penalty = forms.FloatField(
        label="Frequency penalty",
        required=False,
        min_value=-2,
        max_value=2,
        help_text="Small models need one, for example 0.6.",
    )
    field_order = (
        "endpoint", "styles", "which", "topics", "form", "prompt", "words", "overlong", "accept_overlong",
        "temperature", "max_tokens", "frequency_penalty", "seed",
    )  # fmt: skip

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(study, *args, **kwargs)
        self.found = dict(sorted(versions.current(Style, study=study).items()))
        names = dict.fromkeys([*self.found, *versions.DEFAULT_STYLES])
        self.fields["styles"].choices = [(name, self._label(name)) for name in names]  # type: ignore[attr-defined]
        self.fields["styles"].initial = list(self.found) or list(versions.DEFAULT_STYLES)
        self.fields["prompt"].widget.attrs["rows"] = 18

    def _label(self, name: str) -> str:
        return self.found[name].label if name in self.found else versions.DEFAULT_STYLES[name][0]

    def clean_form(self) -> str:
        """Return the answer format as a plain string."""
        return str(self.cleaned_data["form"])

    def clean(self) -> dict[str, Any]:
        """Check that the named topics exist."""
        cleaned = super().clean() or {}
        named = [line.strip() for line in (cleaned.get("topics") or "").splitlines() if line.strip()]
        cleaned["topics"] = tuple(dict.fromkeys(named))
        if cleaned.get("which") == TopicSelection.CHOSEN:
            known = set(
                Topic.objects.filter(study=self.study, external_id__in=named).values_list("external_id", flat=True)
            )
            if not named:
                self.add_error("topics", "Enter the topic IDs, one per line.")
            elif unknown := [name for name in cleaned["topics"] if name not in known]:
                self.add_error("topics", "This study has no topic with the ID {}.".format(", ".join(unknown[:5])))
        return cleaned

    def order(self, *, now: datetime) -> Order:
        """Return the order; create the prompt's version and the default styles if they are new."""
        cleaned = self.cleaned_data
        chosen = versions.ensure_styles(study=self.study, names=cleaned["styles"], now=now)
        return Order(
            endpoint=cleaned["endpoint"].pk,
            prompt=self.version(now=now).pk,
            styles=tuple(style.pk for style in chosen.values()),
            form=cleaned["form"],
            which=str(cleaned["which"]),
            topics=cleaned["topics"] if cleaned["which"] == TopicSelection.CHOSEN else (),
            words=cleaned["words"],
            parameters=self.parameters,
            overlong=cleaned["overlong"],
            accept_overlong=cleaned["accept_overlong"],
        )
