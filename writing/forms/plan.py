"""The forms of a writing plan. Money is entered in major units, and handed on in minor ones."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crowdrag.studies import codes, money

from ..domain import plans, styles, versions
from ..models import Style, WritingPlan

# The column's limit, in minor units.
MOST = 2_147_483_647
LICENCES = ("CC-BY-4.0", "CC-BY-SA-4.0", "CC0-1.0", "CC-BY-NC-4.0")


class MoneyField(forms.DecimalField):
    """An amount in the study's currency, as people write it; cleaned to whole minor units."""

    def __init__(self, *, currency: str, **options: Any):
        digits = money.minor_digits(currency)
        self.currency = currency
        super().__init__(min_value=0, max_value=money.to_major(MOST, currency), decimal_places=digits, **options)

    def prepare_value(self, value: Any) -> Any:
        """Show what is kept in minor units in major ones; what somebody typed as they typed it."""
        return money.to_major(value, self.currency) if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        """Return minor units."""
        found: Decimal | None = super().clean(value)
        return None if found is None else money.to_minor(found, self.currency)


class LicenceField(forms.CharField):
    """An SPDX licence expression, chosen from the usual ones (the page's list `licences`) or written."""

    def __init__(self, **options: Any):
        widget = forms.TextInput(attrs={"list": "licences"})
        super().__init__(max_length=100, validators=[codes.validate_licence], widget=widget, **options)


class PlanForm(forms.Form):
    """What is asked for, and what it pays."""

    styles = forms.MultipleChoiceField(
        label=gettext_lazy("Styles"),
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("On each topic people write in each of these."),
    )
    slots = forms.IntegerField(
        label=gettext_lazy("Responses per topic and style"), min_value=1, max_value=1000,
        help_text=gettext_lazy("By as many different people: nobody writes twice on a topic."),
    )  # fmt: skip
    tasks_per_person = forms.IntegerField(
        label=gettext_lazy("Responses per person, at most"), min_value=1, max_value=30000, required=False,
        help_text=gettext_lazy("Empty: as many as there are."),
    )  # fmt: skip
    minutes = forms.IntegerField(
        label=gettext_lazy("Minutes that a response takes"), min_value=1, max_value=600,
        help_text=gettext_lazy("What people are told; the wage is reckoned with it until somebody has written."),
    )  # fmt: skip
    lease_hours = forms.IntegerField(
        label=gettext_lazy("Hours until an untouched task goes to somebody else"), min_value=1, max_value=2000,
        help_text=gettext_lazy("From the last sign of life. The text is kept."),
    )  # fmt: skip
    trial_topics = forms.CharField(
        label=gettext_lazy("Trial topics"), required=False, widget=forms.Textarea(attrs={"rows": 3, "class": "mono"}),
        help_text=gettext_lazy(
            "Ids of topics, one a line. New writers write on these first, are paid for it, and go on when all was "
            "accepted. Empty: no trial."
        ),
    )  # fmt: skip

    def __init__(self, plan: WritingPlan, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.initial = {**_initial(plan), **self.initial}
        currency = plan.study.currency
        self.fields["styles"].choices = _style_choices(plan)  # type: ignore[attr-defined]
        self.fields["pay"] = MoneyField(
            currency=currency, label=_("Pay per response, %(currency)s") % {"currency": currency}
        )
        self.fields["fee"] = MoneyField(
            currency=currency, label=_("Platform's fee per response"), help_text=_("On top of the pay; 0 if none.")
        )
        self.fields["tax"] = MoneyField(
            currency=currency, label=_("Tax per response"), help_text=_("On top of the pay and the fee; 0 if none.")
        )
        self.fields["wage_floor"] = MoneyField(
            currency=currency,
            required=False,
            label=_("Least wage per hour"),
            help_text=_("You are told who earns less, by the time that they took. Empty: nobody is told."),
        )

    def clean_trial_topics(self) -> list[str]:
        """Return the ids."""
        return [each for each in re.split(r"[\s,;]+", self.cleaned_data["trial_topics"]) if each]

    @property
    def terms(self) -> plans.Terms:
        """What was entered."""
        names = plans.Terms.__dataclass_fields__
        return plans.Terms(**{name: self.cleaned_data[name] for name in names})


def _initial(plan: WritingPlan) -> dict[str, Any]:
    fields = {name: getattr(plan, name) for name in plans.Terms.__dataclass_fields__}
    asked = plan.plan_styles.order_by("position", "id").values_list("style__name", flat=True)
    tried = plan.plan_trial_topics.order_by("position", "id").values_list("topic__external_id", flat=True)
    return fields | {"styles": list(asked), "trial_topics": "\n".join(tried)}


def _style_choices(plan: WritingPlan) -> list[tuple[str, str]]:
    found = {name: label for name, (label, _instructions) in styles.DEFAULTS.items()}
    found |= {name: style.label for name, style in versions.current(Style, study=plan.study).items()}
    return sorted(found.items(), key=lambda each: (each[0] not in styles.DEFAULTS, each[1]))


class StyleForm(forms.Form):
    """A style of the study's own, or another wording of one."""

    label = forms.CharField(label=gettext_lazy("Name"), max_length=100, help_text=gettext_lazy("What writers see."))
    name = forms.CharField(
        label=gettext_lazy("Short name"), max_length=64,
        help_text=gettext_lazy("In exports and commands: small letters, digits and underscores. It stays."),
    )  # fmt: skip
    target_words = forms.IntegerField(label=gettext_lazy("Words asked for"), min_value=1, max_value=5000, initial=250)
    instructions = forms.CharField(
        label=gettext_lazy("Instructions"), widget=forms.Textarea(attrs={"rows": 8}),
        help_text=gettext_lazy("In Markdown. They stand beside the editor while people write."),
    )  # fmt: skip


class InstructionsForm(forms.Form):
    """What writers are told, whatever the style."""

    text = forms.CharField(
        label=gettext_lazy("Instructions"), widget=forms.Textarea(attrs={"rows": 22}), strip=False,
        help_text=gettext_lazy("In Markdown: a blank line begins a paragraph, - a point of a list, ** makes bold."),
    )  # fmt: skip


class ConsentForm(forms.Form):
    """What people are asked to agree to, and under which licences what they give is released."""

    text = forms.CharField(
        label=gettext_lazy("Consent text"), widget=forms.Textarea(attrs={"rows": 22}), strip=False,
        help_text=gettext_lazy("In Markdown. It must say what is recorded; the text that you found here does."),
    )  # fmt: skip
    text_licence = LicenceField(label=gettext_lazy("Licence of responses"))
    log_licence = LicenceField(
        label=gettext_lazy("Licence of the writing logs"), required=False,
        help_text=gettext_lazy("People choose whether theirs are released. Empty: nobody is asked, and none are."),
    )  # fmt: skip
    timing_licence = LicenceField(
        label=gettext_lazy("Licence of their timing"), required=False,
        help_text=gettext_lazy("When each change was made and how keys were struck. Empty: likewise."),
    )  # fmt: skip
