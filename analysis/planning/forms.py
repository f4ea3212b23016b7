"""The form of a plan."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Final

from django import forms

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run
from crowdrag.studies import money
from crowdrag.studies.money import AmountField
from crowdrag.ui.form_sections import FormSection, mark_conditional

from .parameters import ASSUMPTIONS, BOUNDS, NO_SOURCE, BadPlanError, PlanParameters

PERCENT: Final = ("both_orders", "preferred", "neutral")
MONEY: Final = ("pay", "fee", "tax", "writing")
MOST_SEED: Final = 2**31 - 1


class NumbersField(forms.CharField):
    """Integers separated by commas."""

    def prepare_value(self, value: Any) -> Any:
        """Join numbers with commas."""
        return value if isinstance(value, str) or value is None else ", ".join(str(number) for number in value)

    def clean(self, value: Any) -> tuple[int, ...]:
        """Return the distinct numbers in ascending order."""
        text = super().clean(value) or ""
        try:
            return tuple(sorted({int(part) for part in text.replace(",", " ").split()}))
        except ValueError:
            raise forms.ValidationError("Enter whole numbers separated by commas, for example: 20, 40, 80.") from None


def _whole(name: str, label: Any, help_text: Any = "", *, required: bool = True) -> forms.IntegerField:
    low, high = (int(bound) for bound in BOUNDS[name])
    return forms.IntegerField(label=label, min_value=low, max_value=high, required=required, help_text=help_text)


def _part(
    name: str, label: Any, help_text: Any = "", *, percent: bool = True, required: bool = False
) -> forms.FloatField:
    scale = 100 if percent else 1
    low, high = (scale * bound for bound in BOUNDS[name])
    attributes = forms.NumberInput(attrs={"step": "any"})
    return forms.FloatField(
        label=label, min_value=low, max_value=high, required=required, help_text=help_text, widget=attributes
    )


class PlanForm(forms.Form):
    """Form of a plan. Assumptions left empty are taken from the selected analysis."""

    DESIGN: Final = ("topics", "k", "responses", "pairs", "items")
    DESIGN_ADVANCED: Final = (
        "more_topics", "more_k", "styles", "dimensions", "forced", "both_orders", "questionnaires_per_person",
    )  # fmt: skip
    COSTS: Final = ("minutes", "pay", "fee")
    COSTS_ADVANCED: Final = ("tax", "writing")
    EXPECTED: Final = ("source",)
    EXPECTED_ADVANCED: Final = ("competence", "competence_spread", "preferred", "neutral")
    WORK: Final = ("simulations",)
    WORK_ADVANCED: Final = ("seed",)

    topics = _whole("topics", "Topics")
    more_topics = NumbersField(
        label="Other numbers of topics to simulate", required=False, max_length=200,
        help_text="Separate numbers by commas.",
    )  # fmt: skip
    k = _whole("k", "Judges per pair")
    more_k = NumbersField(
        label="Other numbers of judges to simulate", required=False, max_length=200,
        help_text="Separate numbers by commas.",
    )  # fmt: skip
    responses = _whole("responses", "Responses per topic", "Half by people, half by models.")
    styles = _whole("styles", "Styles")
    dimensions = _whole("dimensions", "Dimensions")
    forced = _whole("forced", "Dimensions without the option “neither”")
    pairs = _whole("pairs", "Pairs per topic", "Empty: all pairs.", required=False)
    both_orders = _part("both_orders", "Pairs shown in both orders (%)", required=True)
    items = _whole("items", "Pairs per questionnaire")
    questionnaires_per_person = _whole("questionnaires_per_person", "Maximum questionnaires per person")
    minutes = _whole("minutes", "Minutes per questionnaire")
    pay = AmountField(
        label="Pay per questionnaire",
        required=False,
        help_text="Empty or 0: the plan shows hours instead of cost.",
    )
    fee = AmountField(label="Platform fee per questionnaire", required=False)
    tax = AmountField(label="Tax per questionnaire", required=False)
    writing = AmountField(
        label="Cost of one more response by a person",
        required=False,
        help_text="Applies to topics beyond the current ones. Enter 0 if you already have the responses.",
    )
    source = forms.ChoiceField(
        label="Source of assumptions", required=False,
        help_text="Fields that you leave empty use values from this source.",
    )  # fmt: skip
    competence = _part(
        "competence", "Mean competence of judges",
        "From 0 (everybody guesses) to 1 (everybody judges carefully).", percent=False,
    )  # fmt: skip
    competence_spread = _part("competence_spread", "Standard deviation of competence", percent=False)
    preferred = _part(
        "preferred", "Pairs in which the model's response is better (%)",
        "Of pairs of a person's and a model's response without ties. 50: no difference.",
    )  # fmt: skip
    neutral = _part("neutral", "Pairs in which neither response is better (%)")
    simulations = _whole(
        "simulations", "Simulated studies per design",
        "More simulations give narrower simulation intervals.",
    )  # fmt: skip
    seed = forms.IntegerField(label="Seed", initial=0, min_value=0, max_value=MOST_SEED)

    def __init__(self, *args: Any, currency: str, source: str | None, **options: Any):
        super().__init__(*args, **options)
        self.currency, self.has_source = currency, bool(source)
        for field in self.fields.values():
            if isinstance(field, AmountField):
                field.of(currency)
        latest = [(source, "the latest analysis")] if source else []
        choices = self.fields["source"]
        assert isinstance(choices, forms.ChoiceField)
        choices.choices = [*latest, ("", NO_SOURCE)]
        if source:
            mark_conditional(self, *ASSUMPTIONS)
        else:
            for name in ASSUMPTIONS:
                self.fields[name].required = True

    def _named(self, names: Iterable[str]) -> list[forms.BoundField]:
        return [self[name] for name in names]

    def sections(self) -> list[FormSection]:
        """Group the fields by subject. Without a source analysis, all assumptions are required."""
        return [
            FormSection("design", "Design", self._named(self.DESIGN), self._named(self.DESIGN_ADVANCED)),
            FormSection("cost", "Cost per questionnaire", self._named(self.COSTS), self._named(self.COSTS_ADVANCED)),
            FormSection(
                "assumptions", "Assumptions", self._named(self.EXPECTED), self._named(self.EXPECTED_ADVANCED),
                is_open=not self.has_source or bool(self.non_field_errors()),
            ),
            FormSection("simulation", "Simulation", self._named(self.WORK), self._named(self.WORK_ADVANCED)),
        ]  # fmt: skip

    def clean(self) -> dict[str, Any]:
        """Reject an invalid plan."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                self.plan()
            except BadPlanError as error:
                raise forms.ValidationError(str(error)) from error
        return cleaned

    def plan(self) -> PlanParameters:
        """Return the plan."""
        values = {name: value for name, value in self.cleaned_data.items() if value is not None}
        values.pop("seed")
        for name in PERCENT:
            if name in values:
                values[name] /= 100
        return PlanParameters(**values | {"source": values.get("source") or None, "currency": self.currency})


class UseForm(forms.Form):
    """The draft campaign to fill in, and the design to use."""

    campaign = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    k = _whole("k", "Judges per pair")
    topics = _whole("topics", "Topics")


def initial(known: dict[str, Any]) -> dict[str, Any]:
    """Return the initial values of the form, from the study."""
    usual: dict[str, Any] = {field.name: field.default for field in fields(PlanParameters)}
    plain = {name: value for name, value in (usual | known).items() if name in PlanForm.base_fields}
    for name in PERCENT:
        if isinstance(plain.get(name), float):
            plain[name] = round(100 * plain[name], 2)
    currency = known["currency"]
    return plain | {name: money.to_major(known.get(name, 0) or 0, currency) for name in MONEY}


def describe(run: Run) -> dict[str, Any]:
    """Describe the parameters of a plan with the labels of the form."""
    currency = run.parameters.get("currency") or run.study.currency
    labels = {name: field.label or name for name, field in PlanForm.base_fields.items() if name in run.parameters}
    words: dict[str, Any] = {name: lambda part: round(100 * part, 2) for name in PERCENT}
    words |= {name: lambda amount: money.format_amount(amount, currency) for name in MONEY}
    words["source"] = lambda key: kinds.run_reference_by_key(run.study, key)
    return kinds.label_parameters(run.parameters, labels=labels, words=words, hidden=("seed", "currency"))
