"""Parameters of analyses and experiments, stated once: forms, the API, the command line and checks follow from them.

A set of parameters is a frozen dataclass. Each of its fields is made by `parameter`, which keeps what people must know
of it beside its default:

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
    """A parameter cannot be used."""


@dataclass(frozen=True)
class Parameter:
    """One parameter as people set it.

    Attributes
    ----------
    name : str
        The field's name; on the command line with dashes.
    default : object
        Used where nothing is set; None where something else decides then, as `help` says.
    label, help : str
        What it is, and what it does or costs.
    kind : str
        "choice" is one of `choices`, "choices" are several of them; "flag" is yes or no, whose words `choices` may say;
        "numbers" is a list, written with commas; "model" is a generator other than the run's, "" for none.
    least, most : float or None
        Bounds, both included; of each number of a list; of a text the most letters.
    choices : tuple of (str, str)
        Value and label.
    in_form : bool
        False for what pages do not ask for.
    is_advanced : bool
        Whether the form shows it behind "more".
    is_here : bool
        Whether a model must be one in a worker, as for what servers do not return.
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
        """Its option on the command line; of a flag that is on by default, what turns it off."""
        name = self.name.replace("_", "-")
        return f"--no-{name}" if self.kind == "flag" and self.default else f"--{name}"

    def in_words(self, value: Any) -> str:
        """A value as pages write it: the label of a choice, yes or no, a number with separators."""
        if self.kind == "flag":
            return "yes" if value else "no"
        labels = {name: str(label) for name, label in self.choices}
        if value is None or value == "":
            return labels.get("", "none")
        return labels.get(str(value), f"{value:,}" if isinstance(value, int | float) else str(value))

    def check(self, value: Any) -> None:
        """Raise `BadParameterError` where a value is of another kind or out of bounds."""
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
    """Make a field of a dataclass that is a parameter; `more` as for `Parameter`."""
    return field(default=default, metadata={_KEY: {"default": default, "label": label, "kind": kind, **more}})


def parameters_of(settings: type) -> tuple[Parameter, ...]:
    """Return the parameters of a dataclass in their order."""
    declared: Iterable[Any] = fields(settings)
    return tuple(Parameter(name=field.name, **field.metadata[_KEY]) for field in declared if _KEY in field.metadata)
