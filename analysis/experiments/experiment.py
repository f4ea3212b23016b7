"""The description of an experiment, and the registry. Pages, the command and reports are derived from it.

An experiment is written as a value `Experiment` in a package of its own and registered when the app is ready:

    EXPERIMENT = Experiment(
        name="fair", title=_("Fair ranking"), about=_("..."), parameters=Parameters,
        collections=("study", "qa"), stages=(Stage("utility", _("Utility of each list"), work),),
        tables=TABLES, figures=FIGURES, compute=compute, estimate=estimate, methods=methods,
    )

    def register() -> None:
        experiment.register(EXPERIMENT)   # makes the run kind "experiment.fair", too

A run's parameters are flat: the common ones (`COMMON`) and the experiment's own. See docs/methods/experiments.md.

The keys of a configuration file are the options of `crowdrag experiment` without their dashes. The experiment's own
parameters are in a table `[parameters]`. Paths are relative to the file.
"""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from django.utils.functional import Promise

from analysis.rag.protocols import Collection

from ..figures import figure
from ..figures.figure import Figure
from ..parameters import BadParameterError, Parameter, parameters_of
from ..tables import table
from ..tables.rows import Row
from ..tables.run_tables import EXPERIMENT
from ..tables.table import Table

if TYPE_CHECKING:
    from ..reports.types import Methods
    from .stage_context import StageContext

__all__ = [
    "COMMON",
    "EXPERIMENTS",
    "BadParameterError",
    "CostEstimate",
    "Experiment",
    "ExperimentParameters",
    "Stage",
    "each_query",
    "get",
    "register",
]  # fmt: skip

#: Parameters that all experiments have:
#: `collection`: {"source": "study"} or {"source": FORMAT, "upload": primary key, "name": ..., "sha256": ...}; for an
#: experiment with folds also "apart": true (see `question_sets.APART`);
#: `generator`: "endpoint:NAME" or "model:NAME" (see `generators.generator`);
#: `queries`: the maximum number of questions, sampled with the run's seed; 0 for all.
COMMON = ("collection", "generator", "queries")
PREFIX = EXPERIMENT


class ExperimentParameters(Protocol):
    """An experiment's own parameters: a frozen dataclass whose fields all have defaults."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read the parameters; missing ones get their defaults.

        Raises
        ------
        BadParameterError
            Names the parameter, its value and the allowed values. Unknown names are refused too.
        """
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return all parameters as JSON values, so that a run records its complete settings."""
        ...


@dataclass(frozen=True)
class CostEstimate:
    """The maximum that a run requests from generators, estimated before it starts. Calls are distinct prompts.

    Attributes
    ----------
    calls, prompt_tokens, completion_tokens : int
        Upper bounds where they depend on the outcome; `note` says so.
    seconds : float
        Work other than generation (training, ranking), on two cores.
    queries, left_out : int
        Questions that take part, and those that cannot (no gold answer, for example).
    note : str
    likely : CostEstimate or None
        The probable cost, where it can be estimated better than by the upper bound. The duration is computed from it.
    most : CostEstimate or None
        The cost if every reply that may be requested again is requested as often as allowed; None if there are none.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float = 0.0
    queries: int = 0
    left_out: int = 0
    note: str = ""
    likely: CostEstimate | None = None
    most: CostEstimate | None = None

    @property
    def worst(self) -> CostEstimate:
        """The upper bound."""
        return self.most or self


Payload = dict[str, Any]


def each_query(batch: int = 1) -> Callable[[Collection, Any], Iterable[Payload]]:
    """Make units of `batch` queries each, in the collection's order.

    `StageContext.queries` returns a unit's queries.
    """

    def units(collection: Collection, parameters: Any) -> Iterable[Payload]:
        names = [query.id for query in collection.queries]
        return ({"queries": names[at : at + batch]} for at in range(0, len(names), batch))

    return units


@dataclass(frozen=True)
class Stage:
    """One stage. Its units may run in parallel, after all units of the previous stage.

    Attributes
    ----------
    name : str
        Prefix of the keys of its results: "NAME:".
    title : str
        Shown as the progress.
    work : callable(StageContext) -> mapping of str to JSON value
        Returns the results of one unit by key (the query's id, for example, without the stage's name). It writes
        nothing and is deterministic: equal inputs, parameters and seed give equal results. The context provides the
        payload, the generator, earlier results and random generators.
    units : callable(Collection, parameters) -> payloads
    is_local : bool
        Whether its units mostly compute, so that a process works on one at a time. Otherwise units that wait for an
        endpoint's answers overlap.
    """

    name: str
    title: str | Promise
    work: Callable[[StageContext], Mapping[str, Any]]
    units: Callable[[Collection, Any], Iterable[Payload]] = field(default_factory=each_query)
    is_local: bool = False


@dataclass(frozen=True)
class Experiment:
    """A kind of experiment.

    Attributes
    ----------
    name : str
        The run kind is "experiment.NAME".
    title, about : str
        Its name, and its question and results in a few sentences.
    parameters : type
        A frozen dataclass of its own parameters (without `COMMON`), with fields made by
        `analysis.parameters.parameter`.
    collections : tuple of str
        Its possible sources: "study", and formats of uploaded files ("qa", "lamp", "bank").
    stages : tuple of Stage
    tables : tuple of Table
        In the order of the report, the main table first.
    figures : tuple of Figure
    compute : callable(StageContext) -> rows by table
        Computes the result tables from all unit results: the run's last unit, after all stages.
    estimate : callable(Collection, parameters) -> CostEstimate
    methods : callable(Run, rows by table) -> Methods
        The paragraph for a paper, with references (see analysis/reports/methods_text.py).
    folds : callable(Collection, parameters) -> mapping of str to int, optional
        For an experiment that trains: the fold in which each question is tested, by its id, fixed before documents are
        sampled. Documents of other questions then come from the question's own fold.
    left_out : callable(Collection, parameters) -> mapping of str to int, optional
        The number of questions that cannot take part, by reason, as far as known before the run. If no question can
        take part, the run does not start (`runs.ADVICE` says what to do).
    queue : str
        Queue of its units. Workers of the "gpu" queue also work without a device.
    """

    name: str
    title: str | Promise
    about: str | Promise
    parameters: type[ExperimentParameters]
    collections: tuple[str, ...]
    stages: tuple[Stage, ...]
    tables: tuple[Table, ...]
    compute: Callable[[StageContext], Mapping[str, list[Row]]]
    estimate: Callable[[Collection, Any], CostEstimate]
    methods: Callable[[Any, Mapping[str, list[Row]]], Methods]
    figures: tuple[Figure, ...] = ()
    folds: Callable[[Collection, Any], Mapping[str, int]] | None = None
    left_out: Callable[[Collection, Any], Mapping[str, int]] | None = None
    queue: str = "gpu"

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """The experiment's own parameters, in the order of the form."""
        return parameters_of(self.parameters)

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names of its tables, in their order."""
        return tuple(table.name for table in self.tables)

    @property
    def kind(self) -> str:
        """The name of its run kind."""
        return PREFIX + self.name

    def own_parameters(self, parameters: Mapping[str, Any]) -> ExperimentParameters:
        """Read the experiment's own parameters from a run's parameters; raises `BadParameterError`."""
        return self.parameters.from_dict({name: value for name, value in parameters.items() if name not in COMMON})

    def dividing(self, parameters: Mapping[str, Any]) -> Callable[[Collection], Mapping[str, int]] | None:
        """Return the function that splits a collection into folds; None where nothing is trained."""
        folds = self.folds
        if folds is None:
            return None
        own_parameters = self.own_parameters(parameters)
        return lambda collection: folds(collection, own_parameters)


EXPERIMENTS: dict[str, Experiment] = {}


def register(experiment: Experiment) -> Experiment:
    """Register an experiment and its run kind; called once when the app is ready."""
    from . import runs

    EXPERIMENTS[experiment.name] = experiment
    table.register(experiment.tables)
    figure.register(experiment.figures)
    runs.register(experiment)
    return experiment


def get(name: str) -> Experiment:
    """Return an experiment by its name or its run kind; raises `LookupError` that lists the experiments.

    Words may be joined by hyphens, as on a command line, and the name may end in `rag`, as in the papers' titles.
    """
    try:
        return EXPERIMENTS[name.removeprefix(PREFIX).replace("-", "_").removesuffix("_rag")]
    except KeyError:
        raise LookupError(
            f"There is no experiment {name!r}. Experiments: {', '.join(EXPERIMENTS) or 'none'}."
        ) from None


#: Maximum length of a text, and of a model's name, which may be a path.
LONGEST, LONGEST_MODEL = 200, 500


@dataclass(frozen=True)
class ParameterReader(ABC):
    """An experiment's parameters: a dataclass with fields made by `parameter`, and a joint check (`check`)."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read the parameters; missing ones get their defaults.

        Raises
        ------
        BadParameterError
            If one is unknown, has the wrong type, is out of bounds, or contradicts another.
        """
        declared = {parameter.name: parameter for parameter in parameters_of(cls)}
        if unknown := sorted(set(values) - set(declared)):
            message = "Unknown parameter %(unknown)s. Parameters: %(known)s."
            raise BadParameterError(message % {"unknown": ", ".join(unknown), "known": ", ".join(sorted(declared))})
        parameters = cls(**{name: cls.read(declared[name], value) for name, value in values.items()})
        parameters.check()
        return parameters

    def to_dict(self) -> dict[str, Any]:
        """Return all parameters as JSON values."""
        return {name: _written(value) for name, value in asdict(self).items()}

    @staticmethod
    def read(parameter: Parameter, value: Any) -> Any:
        """Return one value in its field's type; raises `BadParameterError`."""
        if parameter.kind == "choices":
            return _read_choices(parameter, value)
        if parameter.kind == "flag":
            if not isinstance(value, bool):
                message = "%(name)s must be true or false, not %(value)r."
                raise BadParameterError(message % {"name": parameter.name, "value": value})
            return value
        if parameter.kind in {"integer", "number"}:
            return _read_number(parameter, value)
        most = parameter.most or (LONGEST_MODEL if parameter.kind == "model" else LONGEST)
        if not isinstance(value, str) or len(value) > most:
            message = "%(name)s must be text of at most %(most)s characters, not %(value)r."
            raise BadParameterError(message % {"name": parameter.name, "value": value, "most": most})
        return value.strip()

    @abstractmethod
    def check(self) -> None:
        """Raise `BadParameterError` where values contradict each other."""


def _read_choices(parameter: Parameter, value: Any) -> tuple[str, ...]:
    known = [name for name, _label in parameter.choices]
    if isinstance(value, str) or not isinstance(value, Sequence) or not set(value) <= set(known):
        message = "%(name)s must be a list of values from %(known)s, not %(value)r."
        raise BadParameterError(message % {"name": parameter.name, "value": value, "known": ", ".join(known)})
    return tuple(name for name in known if name in value)


def _read_number(parameter: Parameter, value: Any) -> float:
    least, most = parameter.least or 0, parameter.most
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    is_whole = is_number and float(value).is_integer()
    is_integer = parameter.kind == "integer"
    if not is_number or (is_integer and not is_whole) or value < least or (most is not None and value > most):
        message = "%(name)s must be a number from %(least)s to %(most)s, not %(value)r."
        raise BadParameterError(message % {"name": parameter.name, "value": value, "least": least, "most": most})
    return int(value) if is_integer else float(value)


def _written(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return [str(item) if isinstance(item, str) else item for item in value]  # enumeration members as their values


#: The keys beside the parameters, with their types.
KEYS: dict[str, type] = {
    "study": str,
    "file": str,
    "format": str,
    "corpus": str,
    "candidates": int,
    "searcher": str,
    "others": int,
    "style": str,
    "queries": int,
    "generator": str,
    "seed": int,
}
PATHS = {"file", "corpus"}
PARAMETERS = "parameters"
_KINDS = {str: "text in quotes", int: "a whole number"}


def read_configuration(path: Path) -> dict[str, Any]:
    """Return the contents of a configuration file: values by key (`PATHS` as paths), and a dictionary of parameters.

    Raises
    ------
    BadParameterError
        If the file cannot be read, is not valid TOML, or has a key that is unknown or has the wrong type; names the
        key.
    """
    try:
        configuration = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadParameterError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadParameterError(f"{path} is not valid TOML: {error}.") from error
    parameters = configuration.pop(PARAMETERS, {})
    if not isinstance(parameters, dict):
        raise BadParameterError(f"{path}: parameters must be a table, [parameters].")
    for key, value in configuration.items():
        _check(path, key, value)
    for key in PATHS & set(configuration):
        configuration[key] = path.parent / configuration[key]
    return {**configuration, PARAMETERS: parameters}


def _check(path: Path, key: str, value: Any) -> None:
    if key not in KEYS:
        message = "%(path)s: unknown key %(key)s. Keys: %(known)s, and the table [parameters]."
        raise BadParameterError(message % {"path": path, "key": key, "known": ", ".join(KEYS)})
    if type(value) is not KEYS[key]:
        message = "%(path)s: %(key)s must be %(kind)s, not %(given)r."
        raise BadParameterError(message % {"path": path, "key": key, "kind": _KINDS[KEYS[key]], "given": value})
