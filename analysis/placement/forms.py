"""The form of a placement: the system, the budget of judgments and the pay."""

from typing import Any, Final

from django import forms

from crowdrag.studies.models import Participant, Study
from crowdrag.studies.money import AmountField
from crowdrag.ui.form_sections import FormSection

from . import queries
from .services import PlacementOrder

MOST_PAIRS: Final = 10_000
MOST_SEED: Final = 2**31 - 1


class PlacementForm(forms.Form):
    """What is asked before the pairs are drawn."""

    system = forms.ModelChoiceField(
        label="New system",
        queryset=Participant.objects.none(),
        empty_label=None,
        help_text="A system or model whose responses you imported or generated.",
    )
    pairs = forms.IntegerField(
        label="Pairs to judge",
        initial=PlacementOrder.pairs,
        min_value=1,
        max_value=MOST_PAIRS,
        help_text="Each pair is judged by one person, who answers all questions.",
    )
    items = forms.IntegerField(
        label="Pairs per questionnaire", initial=PlacementOrder.items, min_value=1, max_value=100
    )
    minutes = forms.IntegerField(
        label="Minutes per questionnaire", initial=PlacementOrder.minutes, min_value=1, max_value=600
    )
    pay = AmountField(label="Pay per questionnaire", help_text="0 for volunteers.")
    fee = AmountField(label="Platform fee per questionnaire", required=False)
    seed = forms.IntegerField(label="Seed", initial=0, min_value=0, max_value=MOST_SEED)

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["system"].queryset = queries.systems(study)  # type: ignore[attr-defined]
        self.fields["system"].label_from_instance = lambda system: system.external_id  # type: ignore[attr-defined]
        for name in ("pay", "fee"):
            self.fields[name].of(study.currency)  # type: ignore[attr-defined]

    @property
    def order(self) -> PlacementOrder:
        """The entered values."""
        return PlacementOrder(**self.cleaned_data | {"fee": self.cleaned_data["fee"] or 0})

    @property
    def sections(self) -> list[FormSection]:
        """The fields by subject."""
        named = [self[name] for name in ("system", "pairs")]
        cost = [self[name] for name in ("items", "minutes", "pay", "fee")]
        return [
            FormSection("placement", "System and judgments", named, [self["seed"]]),
            FormSection("cost", "Time and pay", cost, []),
        ]
