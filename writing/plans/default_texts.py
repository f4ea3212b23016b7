"""Default instructions and consent text for writers.

The description of the recorded data in the consent text is generated from the list that validates the editor's events
(`writing.editor.events`), so that it is always correct and complete.
"""

from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from crowdrag.studies.models import Study
from crowdrag.studies.page_language import in_study_language

from ..editor.events import EVENT_KINDS

INSTRUCTIONS: Final = _("""\
You get a question and a list of passages that a search engine found for it. **Write a response to the question from
these passages.** Use the style described at the top of the editor. Imagine a reader who asked the question and reads
only your response.

- **Cite.** After each claim, put the number of the passage that it comes from in brackets: [0]. If several passages
  support the claim, cite them all: [3, 7]. You can also press *Cite* on a passage.
- **Use your own words.** Do not copy whole sentences.
- **Choose.** Passages can be wrong, off topic, or contradict each other. You do not need to use them all.
- **Do not use a language model** (ChatGPT or similar). Do not let anyone else write for you. We compare what people
  write with what models write, so we cannot use a response that a model wrote. Spelling checkers and dictionaries are
  fine.
- **Take your time.** You can leave and come back, on any device. Your text is saved.

We ask a few questions about the topic before you write, and a few more when you are done. Then a reviewer reads your
response. The reviewer accepts it, and you are paid. Or the reviewer asks you to revise it and says what is missing. If
the response is not what we asked for, the reviewer can reject it and give the reason. You can then ask for another
review.
""")

_CONSENT: Final = _("""\
**Taking part is voluntary.** You can stop at any time and do not need to give a reason. On your dashboard you can
withdraw and have your data erased. We then keep a short record: your pseudonym, which tasks you did and when, and what
you are owed. We cannot take back what is already published. You do not need an account, only your personal link.

## What we record

While you write, the editor records how your text is written. It records nothing outside its own page, and nothing
before you agree here:

{recorded}

We also keep your answers to our questions, when you came and with which link, what you are paid, the messages that you
send us, and your email address if you enter it. If a recruitment platform sent you, we store your platform ID
encrypted. We use it to pay you and to recognise you. We never publish it.

## Purpose

We study how people write from sources, and how good their responses are compared with those of language models. Other
people and language models will read your response and judge it. We use a pseudonym instead of your name.

## What we publish

- **Your responses**, under the licence {text_licence}. Anyone can then use them under this licence.
- **The record of how you wrote them** and **its timing**, only if you allow it below. They help other researchers to
  study how people write. If you do not allow it, you are paid the same, and we keep them to ourselves.

We publish nothing that identifies you. Please do not write anything in your response that identifies you.
""")


def instructions(study: Study) -> str:
    """Return the default instructions in the study's language, as Markdown."""
    with in_study_language(study):
        return gettext(INSTRUCTIONS)


def consent(study: Study) -> str:
    """Return the default consent text in the study's language, as Markdown."""
    with in_study_language(study):
        return gettext(_CONSENT).format(recorded=recorded_events(), text_licence=study.text_licence)


def recorded_events() -> str:
    """Return the list of events that the editor records in the current language, as Markdown."""
    return "\n".join(f"- **{_capital(gettext(each.name))}.** {gettext(each.meaning)}" for each in EVENT_KINDS)


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
