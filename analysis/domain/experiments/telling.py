"""Parameters of experiments in words."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Endpoint

from . import generating
from .collecting import APART, OF_STUDY, RESPONSES, STUDY
from .experiment import COMMON, BadParameterError, Experiment, Field
from .reading import FORMATS

#: The parameter that names an earlier run.
EARLIER = "trained"


def collection_said(asked: Mapping[str, Any]) -> str:
    """A run's parameter `collection` in words."""
    source = asked.get("source", STUDY)
    if source in OF_STUDY:
        style = asked.get("style")
        if source == RESPONSES:
            said = _("responses of this study")
            return _("%(responses)s in %(style)s") % {"responses": said, "style": style} if style else said
        said = _("topics of this study")
        return _("%(topics)s, answers in %(style)s") % {"topics": said, "style": style} if style else said
    title = FORMATS[source].title if source in FORMATS else source
    said = f"{asked.get('name', '–')} ({title})"
    if asked.get("others") and asked.get(APART):
        said += _(", with %(n)s passages of other questions of the same split each") % {"n": asked["others"]}
    elif asked.get("others"):
        said += _(", with %(n)s passages of other questions each") % {"n": asked["others"]}
    return said


def told(experiment: Experiment, run: Run) -> dict[str, Any]:
    """A run's parameters as its page shows them."""
    fields = {each.name: each for each in experiment.fields}
    found: dict[str, Any] = {
        _("Questions"): collection_said(run.parameters.get("collection") or {}),
        _("Questions at most"): run.parameters.get("queries") or _("all"),
        _("Model"): run.parameters.get("generator") or "–",
    }
    own = {name: value for name, value in run.parameters.items() if name not in COMMON}
    if own.get(EARLIER):
        own[EARLIER] = kinds.run_reference_by_key(run.study, own[EARLIER])
    return found | {_label(name, fields): _plain(value, fields.get(name)) for name, value in own.items()}


def currency_of(run: Run) -> str:
    """The currency that the run's generator is paid in; the study's where it is not paid, or gone."""
    try:
        named = generating.read(str(run.parameters.get("generator") or ""))
    except BadParameterError:
        return run.study.currency
    found = Endpoint.objects.filter(name=named.name).values_list("currency", flat=True).first()
    return found or run.study.currency


def _label(name: str, fields: Mapping[str, Field]) -> str:
    return str(fields[name].label) if name in fields else name


def _plain(value: Any, field: Field | None) -> Any:
    """A value, as its field calls it where it was chosen from a list."""
    words = dict(field.choices) if field else {}
    if isinstance(value, list):
        return ", ".join(str(words.get(each, each)) for each in value)
    return str(words[value]) if isinstance(value, str) and value in words else value
