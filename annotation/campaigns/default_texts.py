"""Default instructions and consent text for judges; texts from outside, made storable."""

from collections.abc import Iterable, Sequence
from typing import Final

from crowdrag.studies.models import Study

from ..enums import CampaignKind
from ..models import Dimension

#: The longest text that a study may write for judges.
LONGEST_TEXT: Final = 50_000

_PAIRWISE: Final = """\
We want to know **what makes an answer useful**. You get about {items} questions that people asked, each with two
answers, A on the left and B on the right (on a phone one below the other). For each, you say in several respects which
answer is better. There are no right or wrong opinions; we ask several people the same.

- **Read the question, then both answers to the end.** Judge what stands there. Do not look anything up, and do not
  judge whether you agree.
- **Judge each question by itself.** An answer can be easier to follow and still look at less. The pairs have nothing to
  do with each other either.
{neutral}- **Numbers in brackets, as [0] or [3, 7],** say which source a claim is taken from. You do not see the
  sources. Do not count them, and prefer no answer because it has more of them.
"""
_POINTWISE: Final = """\
We want to know **what makes an answer useful**. You get about {items} questions that people asked, each with one
answer. For each, you say in several respects how good the answer is, on a scale between two ends. There are no right or
wrong opinions; we ask several people the same.

- **Read the question, then the answer to its end.** Judge what stands there. Do not look anything up, and do not judge
  whether you agree.
- **Judge each question by itself.** An answer can be easy to follow and still look at little. The answers have nothing
  to do with each other either.
- **Use the whole scale.** The ends are for what is clearly so.
- **Numbers in brackets, as [0] or [3, 7],** say which source a claim is taken from. You do not see the sources. Do not
  count them, and think no better of an answer because it has more of them.
"""
_NEUTRAL: Final = """\
- **“{label}”** is for answers that are really alike in that respect, not for those on which it is hard to decide.
"""
_ASKED: Final = """\

## What is asked

{asked}
"""
_PAGE: Final = """\

## How the page works

All of it is on one page. Click an answer, or press the number beside it; the keys are listed under “?”. The dots at the
top show what is done. Every answer is saved as you give it, and you can change it until you hand in. You can hand in
when all is answered. You may leave and come back while your time runs; until when stands under “···” at the top.

## Pay, and how your work is looked at

What it pays and about how long it takes stood on the first page. **Your opinion is never a reason not to pay you**,
even if nobody shares it. A person may look at work that was much faster than anybody can read, or that answers
everything alike{checks}. If it is not accepted, you are told why, and you can contest it. There is no trap: nothing is
asked that cannot be known from the page.
"""
_CHECKS: Final = ", or that misses the questions that say themselves which answer to give"

_CONSENT: Final = """\
**Taking part is voluntary.** You can stop at any time, without giving a reason. On your own page you can withdraw, and
have what you gave erased; it needs no account, only your personal link. What you wrote and all times are erased then.
**Your bare answers stay** (which one you chose), with nothing that leads to who you are; they count in no analysis from
then on, and somebody else judges in your place.

## What is recorded

Nothing is recorded outside of the page, and nothing before you agree here. While you judge:

- **Your answers.** To each question of each item, when you gave them and how often you changed them; the reasons that
  you write where we ask for some; and your comment at the end, if you leave one.
- **Your time on each item.** How long it stood before you and how often you came back to it.
- **Whether the page was in front of you.** How often and how long you were away from it. Not what you did there.

Besides, we keep when you came and by which link, and what you are paid. Of a recruitment platform's id we keep an
encrypted copy, to pay you and to know you again; it is never published.

## What it is for

Research into what makes answers useful, and how far people and language models agree on it. You go by a pseudonym.

## What is published

- **Your answers, with your pseudonym**, under the licence {licence}: anybody may then use them as this licence says.
- **Your times**, only if you allow it below. If you do not, you are paid all the same, and they stay with us.

Nothing is published that says who you are. Please write nothing into a comment or a reason that does.
"""


def instructions(kind: str, campaign_dimensions: Iterable[Dimension], *, items: int, checks: int = 0) -> str:
    """Return what judges are told unless the study says otherwise, in Markdown.

    Parameters
    ----------
    kind
        the campaign's.
    asked
        what it asks, in order; each is explained.
    items, checks
        how many items and attention checks a questionnaire holds.
    """
    dimensions = list(campaign_dimensions)
    is_pairwise = kind != CampaignKind.POINTWISE
    neutral = "".join(_NEUTRAL.format(label=label) for label in _neutral(dimensions))
    text = _PAIRWISE.format(items=items, neutral=neutral) if is_pairwise else _POINTWISE.format(items=items)
    explained = _explained(dimensions)
    text += _ASKED.format(asked=explained) if explained else ""
    return (text + _PAGE.format(checks=_CHECKS if checks else "")).strip()


def consent(study: Study) -> dict[str, str]:
    """Return what judges are asked to agree to unless the study says otherwise, with its licences."""
    licence = study.text_licence
    text = _CONSENT.format(licence=licence).strip()
    # Judges write no texts and no logs; the licence of their answers is that of texts.
    return {"text": text, "text_licence": licence, "log_licence": "", "timing_licence": licence}


def _neutral(dimensions: Sequence[Dimension]) -> list[str]:
    """Return what the answer is called that takes no side; nothing where no question has it, or each its own words."""
    labels = {option["label"] for each in dimensions for option in each.options if option["value"] == 0}
    return sorted(labels) if len(labels) == 1 else []


def _explained(dimensions: Sequence[Dimension]) -> str:
    return "\n".join(f"- **{each.label}.** {each.question} {each.description}".rstrip() for each in dimensions)


def clean_text(text: str) -> str:
    """Return a text with the line ends of the database, without what it cannot hold."""
    cleaned = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return cleaned.encode("utf-8", "replace").decode().strip()


def clean_line(text: str) -> str:
    """Return a text of one line."""
    return " ".join(clean_text(text).split())
