"""Declarations of parameters, from which forms, API, command line and checks are generated.

A set of parameters is a frozen dataclass. Each field is created by `parameter`, with its default and description:

    @dataclass(frozen=True)
    class Settings:
        resamples: int = parameter(1000, _("Bootstrap resamples"), "integer", least=1, most=100_000)
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from django.utils.functional import Promise

Kind = Literal["integer", "number", "numbers", "text", "flag", "choice", "choices", "model"]
_KEY = "parameter"


class BadParameterError(ValueError):
    """The value of a parameter is invalid."""


@dataclass(frozen=True)
class Parameter:
    """A parameter that users can set.

    Attributes
    ----------
    name : str
        Name of the field; on the command line with hyphens.
    default : object
        Used if nothing is set; None if the default depends on something else, as described in `help`.
    label, help : str
        Name, and effect or cost.
    kind : str
        "choice" is one of `choices`, "choices" are several of them; "flag" is yes or no, with optional labels in
        `choices`; "numbers" is a comma-separated list; "model" is a generator other than that of the run, "" for none.
    least, most : float or None
        Inclusive bounds; for lists, of each number; for text, `most` is the maximum length.
    choices : tuple of (str, str)
        Value and label.
    in_form : bool
        False if pages do not show it.
    is_advanced : bool
        Whether the form shows it behind "more".
    is_here : bool
        Whether a model must run in a worker, because it needs output that servers do not return.
    """

    name: str
    default: Any
    label: str | Promise
    kind: Kind
    help: str | Promise = ""
    least: float | None = None
    most: float | None = None
    choices: tuple[tuple[str, str | Promise], ...] = ()
    in_form: bool = True
    is_advanced: bool = False
    is_here: bool = False

    @property
    def option(self) -> str:
        """Command-line option; for a flag that is on by default, the option that turns it off."""
        name = self.name.replace("_", "-")
        return f"--no-{name}" if self.kind == "flag" and self.default else f"--{name}"

    def in_words(self, value: Any) -> str:
        """Format a value for pages: the label of a choice, yes or no, a number with separators."""
        if self.kind == "flag":
            return "yes" if value else "no"
        labels = {name: str(label) for name, label in self.choices}
        if value is None or value == "":
            return labels.get("", "none")
        return labels.get(str(value), f"{value:,}" if isinstance(value, int | float) else str(value))

    def check(self, value: Any) -> None:
        """Raise `BadParameterError` if a value has the wrong type or is out of bounds."""
        if value is None and self.default is None:
            return
        if self.kind == "flag":
            if not isinstance(value, bool):
                raise BadParameterError(f"{self.name} must be true or false, not {value!r}.")
        elif self.kind == "text":
            if not isinstance(value, str):
                raise BadParameterError(f"{self.name} must be text, not {value!r}.")
        elif self.kind == "choice":
            values = [name for name, _label in self.choices]
            if value not in values:
                raise BadParameterError(f"{self.name} must be one of {', '.join(values)}, not {value!r}.")
        else:
            self._check_number(value)

    def _check_number(self, value: Any) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (self.kind == "integer" and not isinstance(value, int)):
            kind = "a whole number" if self.kind == "integer" else "a number"
            raise BadParameterError(f"{self.name} must be {kind}, not {value!r}.")
        if self.most is None:
            if self.least is not None and not value >= self.least:
                raise BadParameterError(f"{self.name} must be at least {self.least:,}, not {value}.")
        elif not (self.least or 0) <= value <= self.most:
            low, high = self.least or 0, self.most
            raise BadParameterError(f"{self.name} must be between {low:,} and {high:,}, not {value}.")


def parameter(default: Any, label: str | Promise, kind: Kind, **more: Any) -> Any:
    """Create a dataclass field for a parameter; `more` are attributes of `Parameter`."""
    return field(default=default, metadata={_KEY: {"default": default, "label": label, "kind": kind, **more}})


def parameters_of(settings: type) -> tuple[Parameter, ...]:
    """Return the parameters of a dataclass in order."""
    declared: Iterable[Any] = fields(settings)
    return tuple(Parameter(name=field.name, **field.metadata[_KEY]) for field in declared if _KEY in field.metadata)
