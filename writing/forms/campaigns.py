"""The form of a campaign in which a model writes."""

from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crowdrag.studies.models import Study

from ..domain import styles, versions
from ..domain.generation import outcomes, prompts
from ..domain.generation.campaigns import Order
from ..domain.generation.slots import Which
from ..domain.generation.writers import Form
from ..models import Style, Topic
from .asking import PromptForm


class CampaignForm(PromptForm):
    """Who is to write what, told what."""

    prompts: ClassVar = prompts
    sampling = ("temperature", "max_tokens", "frequency_penalty", "seed")
    helps: ClassVar = {
        "prompt": gettext_lazy(
            "What people are told. {query}, {style}, {words}, {citing} and {passages} are filled in for each topic and "
            "style. A change makes a new version, and another participant."
        ),
        "max_tokens": gettext_lazy(
            "Empty: four for each word asked for. Models that think before they answer need more."
        ),
    }

    styles = forms.MultipleChoiceField(label=gettext_lazy("Styles"), widget=forms.CheckboxSelectMultiple)
    which = forms.ChoiceField(label=gettext_lazy("Topics"), choices=Which.choices, initial=Which.NO_MODEL)
    topics = forms.CharField(
        label=gettext_lazy("Ids of topics"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("One a line, if you name them."),
    )
    form = forms.ChoiceField(
        label=gettext_lazy("Form of the answer"),
        choices=Form.choices,
        initial=Form.TEXT,
        help_text=gettext_lazy("A text is what people write. JSON keeps small models to their passages."),
    )
    words = forms.IntegerField(
        label=gettext_lazy("Words asked for"),
        required=False,
        min_value=10,
        max_value=5000,
        help_text=gettext_lazy("Empty: what each style asks for."),
    )
    overlong = forms.FloatField(
        label=gettext_lazy("Too long from"),
        initial=outcomes.OVERLONG,
        min_value=1,
        max_value=100,
        help_text=gettext_lazy("As a multiple of the words asked for. What was cut off is too long as well."),
    )
    accept_overlong = forms.BooleanField(
        label=gettext_lazy("Answers that are too long become responses too"), required=False
    )
    frequency_penalty = forms.FloatField(
        label=gettext_lazy("Penalty on repetition"),
        required=False,
        min_value=-2,
        max_value=2,
        help_text=gettext_lazy("Small models need some, 0.6 say."),
    )
    field_order = (
        "endpoint", "styles", "which", "topics", "form", "prompt", "words", "overlong", "accept_overlong",
        "temperature", "max_tokens", "frequency_penalty", "seed",
    )  # fmt: skip

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(study, *args, **kwargs)
        self.found = dict(sorted(versions.current(Style, study=study).items()))
        names = dict.fromkeys([*self.found, *styles.DEFAULTS])
        self.fields["styles"].choices = [(name, self._label(name)) for name in names]  # type: ignore[attr-defined]
        self.fields["styles"].initial = list(self.found) or list(styles.DEFAULTS)
        self.fields["prompt"].widget.attrs["rows"] = 18

    def _label(self, name: str) -> str:
        return self.found[name].label if name in self.found else styles.DEFAULTS[name][0]

    def clean_form(self) -> str:
        """Return the form of the answer as a plain word."""
        return str(self.cleaned_data["form"])

    def clean(self) -> dict[str, Any]:
        """Look for the topics that are named."""
        cleaned = super().clean() or {}
        named = [line.strip() for line in (cleaned.get("topics") or "").splitlines() if line.strip()]
        cleaned["topics"] = tuple(dict.fromkeys(named))
        if cleaned.get("which") == Which.CHOSEN:
            known = set(
                Topic.objects.filter(study=self.study, external_id__in=named).values_list("external_id", flat=True)
            )
            if not named:
                self.add_error("topics", _("Name the topics, one id a line."))
            elif unknown := [name for name in cleaned["topics"] if name not in known]:
                self.add_error("topics", _("This study has no topic %s.") % ", ".join(unknown[:5]))
        return cleaned

    def order(self, *, now: datetime) -> Order:
        """Return what is ordered; the prompt's version and the default styles are made if they are new."""
        cleaned = self.cleaned_data
        chosen = styles.ensure(study=self.study, names=cleaned["styles"], now=now)
        return Order(
            endpoint=cleaned["endpoint"].pk,
            prompt=self.version(now=now).pk,
            styles=tuple(style.pk for style in chosen.values()),
            form=cleaned["form"],
            which=str(cleaned["which"]),
            topics=cleaned["topics"] if cleaned["which"] == Which.CHOSEN else (),
            words=cleaned["words"],
            parameters=self.parameters,
            overlong=cleaned["overlong"],
            accept_overlong=cleaned["accept_overlong"],
        )
