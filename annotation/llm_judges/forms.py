"""Forms to start a model judge or an injection test."""

from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet

from crowdrag.studies.models import Study
from crowdrag.ui.form_sections import mark_conditional
from writing.llm_writers.forms import PromptForm, only_choice

from ..enums import CampaignKind, CampaignState, Inference, Judges
from ..models import Campaign, CampaignDimension, Dimension, Item
from . import injection, llm_campaigns, prompts
from .injection import InjectionOrder
from .run_orders import Order
from .stimuli import ItemSelection


class TrainingForm(forms.Form):
    """The campaign whose pairs a judge labels that is trained on the study's judgments."""

    source = forms.ModelChoiceField(
        label="Campaign",
        queryset=Campaign.objects.none(),
        help_text=(
            "The judge labels the pairs of this campaign. It is trained on all judgments of people in the study, and "
            "labels each topic without having seen the judgments on it."
        ),
    )

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        source: forms.ModelChoiceField = self.fields["source"]  # type: ignore[assignment,type-arg]
        source.queryset = judged_campaigns(study).exclude(kind=CampaignKind.POINTWISE)
        source.initial = only_choice(source)


def judged_campaigns(study: Study) -> QuerySet[Campaign]:
    """Return the campaigns of people that a model can judge: they have questions, and items or a design to draw."""
    # Drafts have no items before their questionnaires are generated.
    has_items = Exists(Item.objects.filter(campaign=OuterRef("pk"))) | Q(state=CampaignState.DRAFT)
    has_questions = Exists(CampaignDimension.objects.filter(campaign=OuterRef("pk")))
    campaigns = Campaign.objects.filter(has_items, has_questions, study=study)
    return campaigns.exclude(judges=Judges.MODEL).order_by("-created_at", "-id")


class AskingForm(PromptForm):
    """Settings of a model judge: model, campaign, prompt."""

    prompts: ClassVar = prompts
    helps: ClassVar = {
        "prompt": (
            "{instructions}, {query}, {questions}, {form} and {responses} are replaced for each item with what "
            "people see. Sentences of the instructions about the page and the pay are left out. If you change it, a "
            "new version is saved, and its answers count as those of a new judge."
        ),
        "temperature": (
            "0 makes answers reproducible. Leave empty for the server's default, which some models require."
        ),
        "max_tokens": ("Leave empty for the length that the answer format needs. Reasoning models need more."),
    }

    source = forms.ModelChoiceField(
        label="Campaign",
        queryset=Campaign.objects.none(),
        help_text=(
            "The model gets the items, instructions and questions of this campaign. If a draft has no questionnaires "
            "yet, they are generated."
        ),
    )
    inference = forms.ChoiceField(label="Prompting", choices=Inference.choices, initial=Inference.COMBINED)
    justify = forms.BooleanField(
        label="Require a justification for every answer",
        required=False,
        help_text="If a question requires a justification from people, the model always gives one.",
    )

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(study, *args, **kwargs)
        source: forms.ModelChoiceField = self.fields["source"]  # type: ignore[assignment,type-arg]
        source.queryset = judged_campaigns(study)
        source.initial = only_choice(source)
        self.fields["temperature"].initial = self.fields["seed"].initial = 0
        self.fields["seed"].label = "Random seed"

    @property
    def has_campaigns(self) -> bool:
        """Whether there is a campaign to choose."""
        return self.fields["source"].queryset.exists()  # type: ignore[attr-defined, no-any-return]

    def asking(self, *, now: datetime) -> dict[str, Any]:
        """Return the settings that both orders share; create the prompt's version and a draft's items if needed."""
        cleaned = self.cleaned_data
        llm_campaigns.generate_items(source=cleaned["source"], now=now)
        return {
            "endpoint": cleaned["endpoint"].pk,
            "prompt": self.version(now=now).pk,
            "source": cleaned["source"].pk,
            "inference": str(cleaned["inference"]),
            "justify": cleaned["justify"],
            "parameters": self.parameters,
            "seed": cleaned["seed"] or 0,
        }


class JudgingForm(AskingForm):
    """Settings of a judging run."""

    which = forms.ChoiceField(label="Items", choices=ItemSelection.choices, initial=ItemSelection.ALL)
    n = forms.IntegerField(
        label="Sample size",
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="Required for a random sample: the number of pairs or responses, drawn with the seed.",
    )
    both = forms.BooleanField(
        label="Judge each pair in both orders",
        required=False,
        initial=True,
        help_text="If off, only the order shown to people.",
    )
    repeats = forms.IntegerField(
        label="Repetitions",
        min_value=1,
        max_value=20,
        initial=1,
        help_text="Only the first answer counts. The others are stored too.",
    )

    field_order = ("endpoint", "source", "which", "n", "both", "inference", "justify", "prompt", "temperature")

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(study, *args, **kwargs)
        mark_conditional(self, "n")

    def clean(self) -> dict[str, Any]:
        """Require the size of a sample."""
        cleaned = super().clean() or {}
        if cleaned.get("which") == ItemSelection.SAMPLE and not cleaned.get("n") and "n" not in self.errors:
            self.add_error("n", "Enter the sample size.")
        return cleaned

    def order(self, *, now: datetime) -> Order:
        """Return the order."""
        cleaned = self.cleaned_data
        return Order(
            **self.asking(now=now),
            which=str(cleaned["which"]),
            n=cleaned["n"] if cleaned["which"] == ItemSelection.SAMPLE else None,
            both=cleaned["both"],
            repeats=cleaned["repeats"],
        )


class InjectionForm(AskingForm):
    """Settings of an injection test."""

    dimension = forms.ChoiceField(label="Question to test")
    n = forms.IntegerField(
        label="Pairs",
        min_value=1,
        max_value=10_000,
        initial=injection.LEAST_PAIRS,
        help_text="With fewer than 100 pairs, the interval is wide.",
    )
    bare = forms.BooleanField(
        label="Also test without delimiters",
        required=False,
        initial=True,
        help_text="Shows the effect of the delimiters. This doubles the number of calls.",
    )

    field_order = ("endpoint", "source", "dimension", "n", "bare", "inference", "justify", "prompt", "temperature")

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(study, *args, **kwargs)
        sources = self.fields["source"].queryset  # type: ignore[attr-defined]
        dimensions = Dimension.objects.filter(study=study, campaign_dimensions__campaign__in=sources)
        names = dict(dimensions.order_by("campaign_dimensions__position", "version").values_list("name", "label"))
        self.fields["dimension"].choices = list(names.items())  # type: ignore[attr-defined]
        if injection.PREFERRED in names:
            self.fields["dimension"].initial = injection.PREFERRED

    def clean(self) -> dict[str, Any]:
        """Check that the campaign asks the selected question."""
        cleaned = super().clean() or {}
        source, name = cleaned.get("source"), cleaned.get("dimension")
        if source is not None and name:
            dimension = Dimension.objects.filter(campaign_dimensions__campaign=source, name=name).first()
            if dimension is None:
                self.add_error("dimension", "This campaign does not have this question.")
            cleaned["found"] = dimension
        return cleaned

    def order(self, *, now: datetime) -> InjectionOrder:
        """Return the order."""
        cleaned = self.cleaned_data
        return InjectionOrder(
            **self.asking(now=now), n=cleaned["n"], dimension=cleaned["found"].pk, bare=cleaned["bare"]
        )
