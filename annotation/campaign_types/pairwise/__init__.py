"""Pairwise campaigns: which of two responses to a topic is better (crowdrag25, 3.3)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.utils.translation import gettext, gettext_noop, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study

from ...enums import CampaignKind
from ...models import Dimension
from .. import default_dimensions
from ..campaign_type import QUESTIONNAIRE_FIELDS, RESPONSE_FIELDS, CampaignType, JudgeTexts

_INSTRUCTIONS: Final = gettext_noop("""\
We want to know **what makes a response useful**. You get questions that people asked. Each has two responses, A on
the left and B on the right (on a phone, you switch between them). For each pair, you say which response is better on
several aspects. There are no right or wrong opinions. We ask several people about the same pairs.

- **Read the question, then read both responses to the end.** Judge only the text you see. Do not look anything up. Do
  not judge whether you agree with the text.
- **Judge each aspect separately.** A response can be easier to follow and still cover less. Judge each pair
  separately too.
{neutral}- **Numbers in brackets, such as [0] or [3, 7],** show which source a claim comes from. Do not count them,
  and do not prefer a response because it has more of them.
""")
_NEUTRAL: Final = gettext_noop("""\
- **“{label}”** is for responses that are really alike on that aspect. Do not use it just because it is hard to decide.
""")


def instructions(dimensions: Sequence[Dimension]) -> str:
    """Return the beginning of the default instructions, with what the neutral answer is for."""
    labels = {option["label"] for each in dimensions for option in each.options if option["value"] == 0}
    # Without a neutral answer, or if its labels differ, it is not explained.
    explained = gettext(_NEUTRAL).format(label=labels.pop()) if len(labels) == 1 else ""
    return gettext(_INSTRUCTIONS).format(neutral=explained)


def default_questions(study: Study, now: datetime) -> list[Dimension]:
    """Return the seven dimensions of utility as comparisons."""
    return default_dimensions.ensure_pairwise(study=study, now=now)


TEXTS: Final = JudgeTexts(
    title=_("Compare responses"),
    task=_(
        "You read questions, each with two responses. You choose the better response on several aspects. You do "
        "not need to look anything up."
    ),
    item=_("Pair"),
    heading=_("Pair %(number)s of %(of)s"),
    about=_("About pair %(number)s of the questionnaire:"),
    answered=_("{answered} of {all} in this pair"),
    recorded=_(
        "We record your answers, how often you change an answer, and how long you view each pair. Time in other "
        "windows is counted separately."
    ),
    size=ngettext_lazy(
        "A questionnaire has %(n)s pair of responses.", "A questionnaire has up to %(n)s pairs of responses.", "n"
    ),
    questions=ngettext_lazy(
        "You answer %(n)s question about each pair.", "You answer %(n)s questions about each pair.", "n"
    ),
    unanswered=ngettext_lazy("Pair %(number)s: %(n)s question", "Pair %(number)s: %(n)s questions", "n"),
)

TYPE: Final = CampaignType(
    kind=CampaignKind.PAIRWISE,
    choice="pairwise: compare two responses to one topic",
    items="Pairs",
    item="item",
    responses=2,
    texts=TEXTS,
    question_names=default_dimensions.NAMES,
    design_fields=RESPONSE_FIELDS | QUESTIONNAIRE_FIELDS | {"pairs_per_topic", "reverse_share"},
    nothing_to_draw="No topic has two matching responses. Only accepted and included responses with a text can be "
    "compared.",
    default_questions=default_questions,
    instructions=instructions,
)
