"""Read the terms of paid work from the columns of a model, for forms, serializers and services.

A model lists the names of its terms as `TERMS`: `WritingPlan` in writing/plans/models.py and `Campaign` in
annotation/campaigns/models.py. A term's label, help text, range and default are those of its column.
Amounts of money are in minor units of the study's currency; forms show them in major units.
"""

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from crowdrag.studies.money import AmountField


def within(low: int, high: int) -> list[MinValueValidator | MaxValueValidator]:
    """Return the validators of a column that takes whole numbers from `low` to `high`."""
    return [MinValueValidator(low), MaxValueValidator(high)]


def set_terms(row: models.Model, terms: Mapping[str, Any]) -> dict[str, str]:
    """Set the terms of a row, without saving it, and return the errors by name."""
    problems = {}
    for name, value in terms.items():
        setattr(row, name, value)
        column: Any = row._meta.get_field(name)
        try:
            column.clean(value, row)
        except ValidationError as error:
            problems[name] = " ".join(error.messages)
    return problems


class AmountColumn(models.PositiveIntegerField):  # type: ignore[type-arg] # none at run time
    """An amount of money in minor units of the study's currency."""

    def formfield(self, **options: Any) -> Any:
        """Return a form field that takes major units."""
        return AmountField(label=self.verbose_name, help_text=self.help_text, required=not self.blank)


def form_field(column: "models.Field[Any, Any]", **options: Any) -> Any:
    """Return the form field of a term: whole numbers have the range of their column."""
    return column.formfield(**(limits(column) | options if isinstance(column, models.IntegerField) else options))


def limits(column: "models.Field[Any, Any]") -> dict[str, Any]:
    """Return the range of a column as fields of forms and serializers take it: `min_value`, `max_value`."""
    return {
        "min_value": max(each.limit_value for each in column.validators if isinstance(each, MinValueValidator)),
        "max_value": min(each.limit_value for each in column.validators if isinstance(each, MaxValueValidator)),
    }


class TermsForm(forms.ModelForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """The terms of a plan or a campaign, as its model declares them. It saves nothing: `terms` goes to the service."""

    TERMS: ClassVar[tuple[str, ...]]

    def __init__(self, row: models.Model, *args: Any, **kwargs: Any):
        # A copy: rejected input must not be shown as if it were stored.
        super().__init__(*args, **{**kwargs, "instance": copy.copy(row)})
        for field in self.fields.values():
            if isinstance(field, AmountField):
                field.of(row.study.currency)  # type: ignore[attr-defined] # each such model has its study

    @property
    def terms(self) -> dict[str, Any]:
        """The entered terms."""
        return {name: self.cleaned_data[name] for name in self.TERMS if name in self.cleaned_data}
