"""Default instructions and consent text for judges; cleaning of text input for the database."""

from collections.abc import Sequence
from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from crowdrag.studies.models import Study
from crowdrag.studies.page_language import in_study_language

from ..campaign_types.campaign_type import CampaignType
from ..models import Dimension

#: The longest text that a study may write for judges.
LONGEST_TEXT: Final = 50_000

_ASKED: Final = _("""\

## What we ask

{asked}
""")
_PAGE: Final = _("""\

## How the page works

Click or tap your answer, or press its number on the keyboard. The shortcuts are listed under “?” at the top of the
page. The numbers at the top show what is complete. Each answer is saved at once, and you can change it until you
submit. You can submit when you have answered all questions. You can leave and come back before your time is over. The
due time is at the top of the page.

## Pay and review

**We never refuse to pay you because of your opinion**, even if nobody else agrees. A person decides each case.
They look more closely if you finished faster than anyone can read, or if most answers are the same.{checks} If we do
not accept your work, we tell you why, and you can ask for another review. There are no tricks: the page has all the
information you need to answer.
""")
_CHECKS: Final = _(
    "They also look more closely if you fail an attention check. A check tells you which answer to select, or states "
    "something impossible."
)

_CONSENT: Final = _("""\
**Taking part is voluntary.** You can stop at any time and do not need to give a reason. On your dashboard you can
withdraw and have your data erased. You do not need an account, only your personal link. If you withdraw and have your
data erased, we delete the texts you wrote and the times of your answers. **We keep your answers in the
questionnaires**, but without anything that identifies you. We do not use them in later analyses, and someone else
judges in your place. We also keep a short record: your pseudonym, which tasks you did and when, and what you are
owed. We cannot take back what is already published.

## What we record

Of what you do, we record only the practice and the questionnaire, and no answers before you agree here. We record:

- **Your answers.** Your answer to each question, when you gave it and how often you changed it. The reasons that you
  write where we ask for them, and whether you say that you are unsure. Your comment at the end, if you leave one. Your
  answers in the practice, if there is one.
- **Your reading time.** How long you viewed each pair or response, and how often you came back to it.
- **Whether the page was in front of you.** How often and how long you were away from it, but not what you did there.

We also keep when you came and with which link, what you are paid, the messages that you send us, and your email address
if you enter it. If a recruitment platform sent you, we store your platform ID encrypted. We use it to pay you and to
recognise you. We never publish it.

## Purpose

We study what makes responses useful, and how much people and language models agree. We use a pseudonym instead of your
name.

## What we publish

- **Your answers, with your pseudonym**, under the licence {licence}. Anyone can then use them under this licence.
- **Your times**, only if you allow it below. If you do not allow it, you are paid the same, and we keep them to
  ourselves.

We publish nothing that identifies you. Please do not write anything in a comment or a reason that identifies you.
""")


def instructions(study: Study, items: CampaignType, dimensions: Sequence[Dimension], *, checks: int = 0) -> str:
    """Return the default instructions for judges, in Markdown and in the study's language.

    Parameters
    ----------
    items
        the type whose items are asked.
    dimensions
        of the campaign, in order; each is explained.
    checks
        number of attention checks in a questionnaire.
    """
    with in_study_language(study):
        text = items.instructions(dimensions)
        if explained := _explained(dimensions):
            text += gettext(_ASKED).format(asked=explained)
        return (text + gettext(_PAGE).format(checks=f" {gettext(_CHECKS)}" if checks else "")).strip()


def consent(study: Study) -> dict[str, str]:
    """Return the default consent text for judges, in the study's language, with its licences."""
    licence = study.text_licence
    with in_study_language(study):
        text = gettext(_CONSENT).format(licence=licence).strip()
    # Judges write no texts and have no logs. Their answers get the licence of the texts.
    return {"text": text, "text_licence": licence, "log_licence": "", "timing_licence": licence}


def _explained(dimensions: Sequence[Dimension]) -> str:
    return "\n".join(f"- **{each.label}.** {each.question} {each.description}".rstrip() for each in dimensions)


def clean_text(text: str) -> str:
    """Return a text with LF line ends, without characters that the database cannot store."""
    cleaned = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return cleaned.encode("utf-8", "replace").decode().strip()


def clean_line(text: str) -> str:
    """Return a text as one line, with single spaces."""
    return " ".join(clean_text(text).split())
