"""The default styles of discourse (crowdrag25, 3.1.2), and where a study gets them from."""

from collections.abc import Iterable
from datetime import datetime

from crowdrag.studies.models import Study

from ..models import Style
from . import versions

_TASK = (
    "Write a response of about 250 words to the query, from the passages beside the editor. "
    "Cite every claim that you take from a passage by its number in brackets, right behind the claim: [0]. "
    "Cite several where several say it: [3, 7]. Do not use a language model."
)

DEFAULTS = {
    "bullet": ("Bulleted list", "List all the points that matter to the query as a bulleted list, one point a line."),
    "essay": ("Essay", "Begin with a clear thesis, then give the arguments, and end with a conclusion."),
    "news": (
        "News",
        (
            "Begin with the lead: what matters most. Then the important details, and last the background "
            "(the inverted pyramid of a news article)."
        ),
    ),
}


def ensure(*, study: Study, names: Iterable[str], now: datetime) -> dict[str, Style]:
    """Return the study's styles of these names in their latest version; defaults that it lacks are made.

    A name that is neither in the study nor a default is not in the answer.
    """
    wanted = dict.fromkeys(names)
    found = versions.current(Style, study=study, names=wanted)
    for name in wanted:
        if name not in found and name in DEFAULTS:
            label, instructions = DEFAULTS[name]
            found[name], _made = versions.ensure(
                Style,
                study=study,
                name=name,
                now=now,
                label=label,
                instructions=f"{_TASK}\n\n{instructions}",
                target_words=250,
            )
    return found
