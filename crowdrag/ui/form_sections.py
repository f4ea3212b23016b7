"""Sections of a long form: the essential fields first, the advanced ones folded (templates/ui/_form_sections.html)."""

from dataclasses import dataclass, field

from django import forms


def mark_conditional(form: forms.BaseForm, *names: str) -> None:
    """Mark fields that other answers make required, so that they are not called optional."""
    for name in names:
        form.fields[name].is_conditional = True  # type: ignore[attr-defined] # read by templates/ui/_field_optional.html


@dataclass(frozen=True)
class FormSection:
    """Fields of one subject: the essential ones, and those that most people leave unchanged.

    `name` is the section's anchor; `is_open` shows the advanced fields from the start.
    """

    name: str
    title: str
    essential: list[forms.BoundField]
    advanced: list[forms.BoundField] = field(default_factory=list)
    help: str = ""
    is_open: bool = False

    @property
    def shows_advanced(self) -> bool:
        """Whether the advanced fields are unfolded: on request, or because one of them has an error."""
        return self.is_open or any(each.errors for each in self.advanced)
