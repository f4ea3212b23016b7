"""Default instructions and consent text for writers.

The part of the consent text that says what is recorded is made from the list by which the editor's record is checked
(`writing.editor.events`), so that it can neither fall behind nor promise too much.
"""

from typing import Final

from crowdrag.studies.models import Study

from ..editor.events import EVENT_KINDS

INSTRUCTIONS: Final = """\
You get a question and a list of passages that a search engine found for it. **Write a response to the question from
these passages**, in the style that stands beside the editor. Imagine a reader who asked the question and reads nothing
but your response.

- **Cite.** Put the number of a passage in brackets right behind each claim that you take from it: [0]. If several
  passages say it, name them all: [3, 7]. Pressing the button on a passage does it for you.
- **Use your own words.** Copying whole sentences is not what we ask for.
- **Choose.** Passages may be wrong, beside the point, or contradict each other. You need not use them all.
- **Do not use a language model** (ChatGPT or anything like it), and do not have anybody else write for you. We compare
  what people write with what models write; a response that a model wrote is of no use to us. Spelling checkers and
  dictionaries are fine.
- **Take your time.** About how long a response takes and what it pays stood on the first page. You can leave and come
  back, on another device too: your text is kept.

Before you write we ask a few questions about the topic, and a few more when you are done. Then somebody reads your
response: it is accepted and paid, or sent back to you with what is missing, or, if it is not what was asked for,
rejected with the reason, which you can contest.
"""

_CONSENT: Final = """\
**Taking part is voluntary.** You can stop at any time, without giving a reason. On your own page you can withdraw, and
have everything that you gave erased; it needs no account, only your personal link.

## What is recorded

While you write, the editor records how your text comes about. It records nothing outside of its page, and nothing
before you agree here:

{recorded}

Besides, we keep your answers to our questions, when you came and by which link, and what you are paid. Of a recruitment
platform's id we keep an encrypted copy, to pay you and to know you again; it is never published.

## What it is for

Research into how people write from sources, and how good their responses are compared with those of language models.
Other people and language models will read your response and judge it. You go by a pseudonym.

## What is published

- **Your responses**, under the licence {text_licence}: anybody may then use them as this licence says.
- **The record of how you wrote them** and **its timing**, only if you allow it below. It makes research possible that
  nobody thought of yet. If you do not, you are paid all the same, and it stays with us.

Nothing is published that says who you are. Please write nothing into your response that does.
"""


def instructions() -> str:
    """Return what writers are told unless the study says otherwise, in Markdown."""
    return INSTRUCTIONS


def consent(study: Study) -> str:
    """Return what writers are asked to agree to unless the study says otherwise, in Markdown."""
    return _CONSENT.format(recorded=recorded_events(), text_licence=study.text_licence)


def recorded_events() -> str:
    """Return the list of what the editor records, in plain words, in Markdown."""
    return "\n".join(f"- **{_capital(each.name)}.** {each.meaning}" for each in EVENT_KINDS)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
