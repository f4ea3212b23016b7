"""What a model that writes was asked for, as people read it: names and words instead of keys of rows."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Endpoint

from ...models import Style, WritingPrompt
from .slots import Which
from .writers import Form

# In the order in which they are shown. The seed stands on the page of every run.
LABELS: Final[Mapping[str, str | Promise]] = {
    "endpoint": _("Endpoint"),
    "prompt": _("Prompt"),
    "styles": _("Styles"),
    "topics": _("Topics"),
    "which": _("Which topics and styles"),
    "form": _("Form of the answer"),
    "words": _("Words asked for"),
    "overlong": _("Too long from this multiple of the words on"),
    "accept_overlong": _("Keep responses that are too long"),
    "parameters": _("Parameters of the model"),
}


def describe(run: Run) -> dict[str, Any]:
    """Return a run's parameters in words; what is gone stays as it was kept."""
    return kinds.label_parameters(run.parameters, labels=LABELS, words=_WORDS)


def _endpoint(key: Any) -> Any:
    return Endpoint.objects.filter(pk=key).values_list("name", flat=True).first() or key


def _prompt(key: Any) -> Any:
    prompt = WritingPrompt.objects.filter(pk=key).first()
    return (
        key
        if prompt is None
        else str(_("%(name)s, version %(version)s") % {"name": prompt.name, "version": prompt.version})
    )


def _styles(keys: Any) -> Any:
    labels = dict(Style.objects.filter(pk__in=keys).values_list("pk", "label"))
    return [labels.get(key, key) for key in keys]


def _topics(names: Any) -> Any:
    return names or str(_("all"))


_WORDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "endpoint": _endpoint,
    "prompt": _prompt,
    "styles": _styles,
    "topics": _topics,
    "which": kinds.choice_label(Which.choices),
    "form": kinds.choice_label(Form.choices),
}
