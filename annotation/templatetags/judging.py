"""Template tags for parts of a questionnaire's page, cached as rendered.

All judges see the same responses and questions, and a questionnaire has hundreds of them. They never change (changes
are new versions), so each is rendered once. The cache key is the text itself, so erased texts are no longer looked up.
Answers with text are not cached.
"""

from functools import lru_cache
from typing import Final

from django import template
from django.template.loader import get_template
from django.utils import translation

from annotation.judging import questionnaire_content, response_layout

register = template.Library()
# The responses of a large campaign, with a few thousand characters each.
MOST_RESPONSES: Final = 1000
# The questions of a few campaigns, at each position on the page and with each answer.
MOST_QUESTIONS: Final = 4000


@register.simple_tag
def response_text(text: str) -> str:
    """Return a formatted response as safe HTML. Templates escape every piece."""
    return _response(text)


@register.simple_tag
def question_field(question: questionnaire_content.Question, name: str, language: str) -> str:
    """Return a question with its answers as HTML; `name` is unique on the page."""
    if question.answer is not None and question.answer.justification:
        return _rendered(question, name, language)
    return _question(question, name, language, translation.get_language())


@lru_cache(MOST_RESPONSES)
def _response(text: str) -> str:
    return get_template("annotation/judging/_response.html").render({"blocks": response_layout.blocks(text)})


@lru_cache(MOST_QUESTIONS)
def _question(question: questionnaire_content.Question, name: str, language: str, _read_in: str) -> str:
    return _rendered(question, name, language)


def _rendered(question: questionnaire_content.Question, name: str, language: str) -> str:
    context = {"question": question, "name": name, "language": language}
    return get_template("annotation/judging/_question.html").render(context)
