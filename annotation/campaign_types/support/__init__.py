"""Support campaigns: does a cited passage support the statement that cites it (TREC RAG; ALCE)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.utils.translation import gettext, gettext_noop, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study
from crowdrag.studies.page_language import in_study_language
from writing.corpus import versions

from ...enums import CampaignKind
from ...models import Dimension
from ..campaign_type import QUESTIONNAIRE_FIELDS, RESPONSE_FIELDS, CampaignType, JudgeTexts
from ..drawn_items import DrawnItem, ResponseText
from . import statement_texts

#: The short name of the question, in exports and results.
SUPPORT: Final = "support"
#: The answers in ascending order. Full, partial and no support are those of TREC RAG.
CONTRADICTION, NO_SUPPORT, PARTIAL_SUPPORT, FULL_SUPPORT = range(-1, 3)

_INSTRUCTIONS: Final = gettext_noop("""\
We want to know **whether the sources of a text say what the text says**. You get statements from texts that answer a
question. Next to each statement is one passage that it names as its source. For each, you say how much of the
statement the passage supports.

- **Read the statement, then the passage.** Judge only these two. Do not look anything up, and do not use what you
  know about the topic.
- **Full support:** the passage says everything that the statement says, in the same or in other words.
- **Partial support:** the passage says some of it, but something is missing.
- **No support:** the passage says nothing of it, even if it is about the same topic.
- **Contradiction:** the passage says that the statement, or a part of it, is wrong.
- **A statement that needs its context** can be read in the whole text, which opens below it.
""")


def instructions(_dimensions: Sequence[Dimension]) -> str:
    """Return the beginning of the default instructions."""
    return gettext(_INSTRUCTIONS)


def default_questions(study: Study, now: datetime) -> list[Dimension]:
    """Return the question about support, in the study's language."""
    with in_study_language(study):
        content = {
            "question": gettext("Does the passage support the statement?"),
            "label": gettext("Support"),
            "description": gettext("Judge only what the passage says, not whether the statement is true."),
            "options": [
                {"value": CONTRADICTION, "label": gettext("Contradiction")},
                {"value": NO_SUPPORT, "label": gettext("No support")},
                {"value": PARTIAL_SUPPORT, "label": gettext("Partial support")},
                {"value": FULL_SUPPORT, "label": gettext("Full support")},
            ],
            "asks_justification": False,
        }
    return [versions.ensure(Dimension, study=study, name=SUPPORT, now=now, **content)[0]]


def items_of(texts: Sequence[ResponseText]) -> list[DrawnItem]:
    """Return one item for each statement of these responses and each passage that it cites."""
    responses = {text.key: text for text in texts}
    cited = statement_texts.cited_statements(responses)
    shown = statement_texts.load_texts(cited)
    return [
        DrawnItem(responses[row[0]], statement=row[1], retrieved=row[2], words_shown=shown[row].words) for row in cited
    ]


TEXTS: Final = JudgeTexts(
    title=_("Check sources"),
    task=_(
        "You read statements, each with a passage that is named as its source. You say whether the passage supports "
        "the statement. You do not need to look anything up."
    ),
    item=_("Statement"),
    heading=_("Statement %(number)s of %(of)s"),
    about=_("About statement %(number)s of the questionnaire:"),
    answered=_("{answered} of {all} for this statement"),
    recorded=_(
        "We record your answers, how often you change an answer, and how long you view each statement. Time in other "
        "windows is counted separately."
    ),
    size=ngettext_lazy("A questionnaire has %(n)s statement.", "A questionnaire has up to %(n)s statements.", "n"),
    questions=ngettext_lazy(
        "You answer %(n)s question about each statement.", "You answer %(n)s questions about each statement.", "n"
    ),
    unanswered=ngettext_lazy("Statement %(number)s: %(n)s question", "Statement %(number)s: %(n)s questions", "n"),
)

TYPE: Final = CampaignType(
    kind=CampaignKind.SUPPORT,
    choice="support: check whether a cited passage supports a statement",
    items="Statements",
    item="statement",
    responses=0,
    texts=TEXTS,
    question_names=(SUPPORT,),
    design_fields=RESPONSE_FIELDS | QUESTIONNAIRE_FIELDS,
    nothing_to_draw="No statement with a citation matches. Only accepted and included responses that cite retrieved "
    "passages can be checked.",
    default_questions=default_questions,
    instructions=instructions,
    items_of=items_of,
)
