"""What a run of a model that judges was asked for, as people read it: names and words instead of keys of rows."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Endpoint

from ...enums import Inference
from ...models import Campaign, Dimension, JudgingPrompt
from .choosing import Which

# In the order in which they are shown. The seed stands on the page of every run.
LABELS: Final[Mapping[str, str | Promise]] = {
    "endpoint": _("Endpoint"),
    "prompt": _("Prompt"),
    "source": _("Campaign"),
    "inference": _("How it is asked"),
    "justify": _("Asked for justifications"),
    "which": _("Items"),
    "n": _("Pairs, if not all"),
    "both": _("Each pair in both orders"),
    "repeats": _("Times that each is asked"),
    "dimension": _("Question that is looked at"),
    "bare": _("Without the fence as well"),
    "parameters": _("Parameters of the model"),
}


def told(run: Run) -> dict[str, Any]:
    """Return a run's parameters in words; what is gone, or what nobody here knows any more, as it was kept."""
    return kinds.label_parameters(run.parameters, labels=LABELS, words=_WORDS)


def _endpoint(kept: Any) -> Any:
    return Endpoint.objects.filter(pk=kept).values_list("name", flat=True).first() or kept


def _campaign(kept: Any) -> Any:
    return Campaign.objects.filter(pk=kept).values_list("name", flat=True).first() or kept


def _question(kept: Any) -> Any:
    return Dimension.objects.filter(pk=kept).values_list("label", flat=True).first() or kept


def _prompt(kept: Any) -> Any:
    prompt = JudgingPrompt.objects.filter(pk=kept).first()
    if prompt is None:
        return kept
    return str(_("%(name)s, version %(version)s") % {"name": prompt.name, "version": prompt.version})


_WORDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "endpoint": _endpoint,
    "prompt": _prompt,
    "source": _campaign,
    "inference": kinds.choice_label(Inference.choices),
    "which": kinds.choice_label(Which.choices),
    "dimension": _question,
}
