"""Whether anybody takes part: a run without a question to ask would cost its start and end with nothing."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.rag.shapes import Collection

from .experiment import Experiment

_ANSWERS: Final = gettext_lazy(
    "Right answers stand in the file; of the study's topics they are people's responses, in the style that is named."
)
_DOCUMENTS: Final = gettext_lazy(
    "Give each question documents: in the file, or from a file of documents in which the command searches them "
    "(--corpus)."
)
#: What to do, by why a question takes no part, as the experiments and the readers of files call it.
ADVICE: Final[Mapping[str, str | Promise]] = {
    "no right answer": _ANSWERS,
    "no gold answer": _ANSWERS,
    "no gold answer that the metric can score": gettext_lazy("Choose a metric that reads these answers."),
    "no documents": _DOCUMENTS,
    "no document": _DOCUMENTS,
    "fewer than two documents": gettext_lazy("Documents are ranked: each question needs two of them or more."),
    "no passages": gettext_lazy("Import what was retrieved for the topics, or hand in a file of questions."),
}


def nobody(experiment: Experiment, collection: Collection, own: Any) -> str:
    """Say why no question of a collection can take part, and what to do; "" where one can.

    Raises
    ------
    BadParameterError
        Where it is the parameters that leave all of them out.
    """
    if not collection.queries:
        said, reasons = [_("There are no questions to ask.")], dict(collection.left_out)
        said += [_("Left out: %(why)s.") % {"why": _listed(reasons)}] if reasons else []
        return " ".join([*said, *_do(reasons)])
    reasons = dict(experiment.left_out(collection, own)) if experiment.left_out else {}
    if sum(reasons.values()) < len(collection.queries):
        return ""
    none = _("None of the questions can take part: %(why)s.") % {"why": _listed(reasons)}
    return " ".join([none, *_do(reasons)])


def _listed(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} ({n:,})" for reason, n in reasons.items())


def _do(reasons: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(str(ADVICE[reason]) for reason in reasons if reason in ADVICE))
