"""Parameters, models, counts and numbers in words: for pages, methods paragraphs and captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Endpoint

from ..parameters import Parameter
from ..tables.run_tables import OF_STUDY, RESPONSES, STUDY
from . import generators
from .experiment import COMMON, BadParameterError, Experiment
from .question_sets import APART, FORMATS

#: Parameters that contain models.
MODELS: Final = ("generator", "other")


def model(named: str) -> str:
    """Name the model and how it was called; an endpoint's name alone does not identify the model.

    Parameters
    ----------
    named : str
        A generator's name with its options, as `generators.read` parses it.

    Returns
    -------
    str
        The model's current name on its server, with the endpoint; `named` itself if the endpoint was deleted. For a
        model in this process its name; for a folder only the last part, because the path depends on the machine.

    Examples
    --------
    >>> model("model:/srv/models/flan-t5-xxl?beams=4")
    'flan-t5-xxl (beams=4)'
    """
    try:
        read = generators.read(named)
    except BadParameterError:
        return named
    about = [f"{name}={value}" for name, value in read.options.items()]
    if read.where == "endpoint":
        endpoint_model = Endpoint.objects.filter(name=read.name).values_list("model", flat=True).first()
        if endpoint_model is None:
            return named
        return _beside(endpoint_model, [f"endpoint {read.name}", *about])
    folder = PurePath(read.name)
    return _beside(folder.name if folder.is_absolute() else read.name, about)


def caption_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A run's parameters for captions, with models named as in the methods text."""
    return {**parameters, **{name: model(str(parameters[name])) for name in MODELS if parameters.get(name)}}


def many(number: int, thing: str) -> str:
    """A count with its noun, in the singular for one.

    Examples
    --------
    >>> many(1, "question"), many(2000, "resample")
    ('1 question', '2,000 resamples')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def plainly(number: float) -> str:
    """A number without an exponent, with at most six digits.

    Examples
    --------
    >>> plainly(1e-05), plainly(1.0), plainly(2_000_000)
    ('0.00001', '1', '2000000')
    """
    return f"{Decimal(f'{number:g}'):f}"


def _beside(name: str, about: list[str]) -> str:
    return f"{name} ({', '.join(about)})" if about else name


#: The parameter that refers to an earlier run.
EARLIER = "trained"


def collection_label(source_parameters: Mapping[str, Any]) -> str:
    """A run's parameter `collection`, in words."""
    source = source_parameters.get("source", STUDY)
    if source in OF_STUDY:
        style = source_parameters.get("style")
        if source == RESPONSES:
            label = "responses of this study"
            return f"{label} in {style}" if style else label
        label = "topics of this study"
        return f"{label}, answers in {style}" if style else label
    title = FORMATS[source].title if source in FORMATS else source
    label = f"{source_parameters.get('name', '–')} ({title})"
    if source_parameters.get("others") and source_parameters.get(APART):
        label += ", with {n} passages of other questions of the same split each".format(n=source_parameters["others"])
    elif source_parameters.get("others"):
        label += ", with {n} passages of other questions each".format(n=source_parameters["others"])
    return label


def parameters_in_words(experiment: Experiment, run: Run) -> dict[str, Any]:
    """A run's parameters, as its page shows them."""
    fields = {field.name: field for field in experiment.declared}
    shown: dict[str, Any] = {
        "Questions": collection_label(run.parameters.get("collection") or {}),
        "Maximum questions": run.parameters.get("queries") or "all",
        "Model": run.parameters.get("generator") or "–",
    }
    own_parameters = {name: value for name, value in run.parameters.items() if name not in COMMON}
    if own_parameters.get(EARLIER):
        own_parameters[EARLIER] = kinds.run_reference_by_key(run.study, own_parameters[EARLIER])
    return shown | {_label(name, fields): _plain(value, fields.get(name)) for name, value in own_parameters.items()}


def run_subjects(runs: Sequence[Run]) -> dict[int, str]:
    """The models that the experiments used, by run."""
    return {run.pk: str(run.parameters.get("generator") or "").partition(":")[2] for run in runs}


def currency_of(run: Run) -> str:
    """The currency of the run's endpoint; the study's if there is none, or it was deleted."""
    try:
        named = generators.read(str(run.parameters.get("generator") or ""))
    except BadParameterError:
        return run.study.currency
    currency = Endpoint.objects.filter(name=named.name).values_list("currency", flat=True).first()
    return currency or run.study.currency


def _label(name: str, fields: Mapping[str, Parameter]) -> str:
    return str(fields[name].label) if name in fields else name


def _plain(value: Any, field: Parameter | None) -> Any:
    """A value in words: the label of a choice, where it is one."""
    words = dict(field.choices) if field else {}
    if isinstance(value, list):
        return ", ".join(str(words.get(item, item)) for item in value)
    return str(words[value]) if isinstance(value, str) and value in words else value
