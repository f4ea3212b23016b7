"""Default instructions and consent text for judges; cleaning of text input for the database."""

from collections.abc import Sequence
from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from crowdrag.studies.models import Study
from crowdrag.studies.page_language import in_study_language

from ..enums import CampaignKind
from ..models import Dimension

#: The longest text that a study may write for judges.
LONGEST_TEXT: Final = 50_000

_PAIRWISE: Final = _("""\
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
_POINTWISE: Final = _("""\
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
_NEUTRAL: Final = _("""\
- **“{label}”** is for responses that are really alike on that aspect. Do not use it just because it is hard to decide.
""")
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


def instructions(study: Study, kind: str, dimensions: Sequence[Dimension], *, checks: int = 0) -> str:
    """Return the default instructions for judges, in Markdown and in the study's language.

    Parameters
    ----------
    kind
        of the campaign.
    dimensions
        of the campaign, in order; each is explained.
    checks
        number of attention checks in a questionnaire.
    """
    with in_study_language(study):
        if kind == CampaignKind.POINTWISE:
            text = gettext(_POINTWISE)
        else:
            neutral = "".join(gettext(_NEUTRAL).format(label=label) for label in _neutral(dimensions))
            text = gettext(_PAIRWISE).format(neutral=neutral)
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


def _neutral(dimensions: Sequence[Dimension]) -> list[str]:
    """Return the label of the neutral answer; empty if no question has one or if the labels differ."""
    labels = {option["label"] for each in dimensions for option in each.options if option["value"] == 0}
    return sorted(labels) if len(labels) == 1 else []


def _explained(dimensions: Sequence[Dimension]) -> str:
    return "\n".join(f"- **{each.label}.** {each.question} {each.description}".rstrip() for each in dimensions)


def clean_text(text: str) -> str:
    """Return a text with LF line ends, without characters that the database cannot store."""
    cleaned = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return cleaned.encode("utf-8", "replace").decode().strip()


def clean_line(text: str) -> str:
    """Return a text as one line, with single spaces."""
    return " ".join(clean_text(text).split())
