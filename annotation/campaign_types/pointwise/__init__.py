"""Pointwise campaigns: one response is rated on scales (crowdrag25, 3.3.1)."""

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
We want to know **what makes a response useful**. You get questions that people asked. Each has one response. For
each, you say how good the response is on several aspects, on a scale with two ends. There are no right or wrong
opinions. We ask several people about the same responses.

- **Read the question, then read the response to the end.** Judge only the text you see. Do not look anything up. Do
  not judge whether you agree with the text.
- **Judge each aspect separately.** A response can be easy to follow and still cover little. Judge each response
  separately too.
- **Use the whole scale.** Use the ends for clear cases.
- **Numbers in brackets, such as [0] or [3, 7],** show which source a claim comes from. Do not count them, and do not
  rate a response higher because it has more of them.
""")


def instructions(_dimensions: Sequence[Dimension]) -> str:
    """Return the beginning of the default instructions."""
    return gettext(_INSTRUCTIONS)


def default_questions(study: Study, now: datetime) -> list[Dimension]:
    """Return the seven dimensions of utility as scales with four options."""
    return default_dimensions.ensure_pointwise(study=study, now=now)


TEXTS: Final = JudgeTexts(
    title=_("Rate responses"),
    task=_(
        "You read questions, each with one response. You rate each response on several aspects. You do not need to "
        "look anything up."
    ),
    item=_("Response"),
    heading=_("Response %(number)s of %(of)s"),
    about=_("About response %(number)s of the questionnaire:"),
    answered=_("{answered} of {all} for this response"),
    recorded=_(
        "We record your answers, how often you change an answer, and how long you view each response. Time in other "
        "windows is counted separately."
    ),
    size=ngettext_lazy("A questionnaire has %(n)s response.", "A questionnaire has up to %(n)s responses.", "n"),
    questions=ngettext_lazy(
        "You answer %(n)s question about each response.", "You answer %(n)s questions about each response.", "n"
    ),
    unanswered=ngettext_lazy("Response %(number)s: %(n)s question", "Response %(number)s: %(n)s questions", "n"),
)

TYPE: Final = CampaignType(
    kind=CampaignKind.POINTWISE,
    choice="pointwise: rate one response on scales",
    items="Responses",
    item="response",
    responses=1,
    texts=TEXTS,
    question_names=default_dimensions.NAMES,
    design_fields=RESPONSE_FIELDS | QUESTIONNAIRE_FIELDS,
    nothing_to_draw="No response matches. Only accepted and included responses with a text can be judged.",
    default_questions=default_questions,
    instructions=instructions,
)
