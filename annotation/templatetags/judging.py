"""Template tags for parts of a questionnaire's page, cached as rendered.

All who judge see the same responses and the same questions, and a questionnaire has hundreds of them; responses and
questions never change (another version is another text), so what was made of one once is made for all. What is kept is
kept by the text itself: a text that is erased is asked for no more. What somebody wrote is not kept.
"""

from functools import lru_cache
from typing import Final

from django import template
from django.template.loader import get_template
from django.utils import translation

from annotation.judging import questionnaire_content, response_layout

register = template.Library()
# The responses of a large campaign, of some thousand characters each.
MOST_RESPONSES: Final = 1000
# The questions of a few campaigns, at each place of the page, with each answer.
MOST_QUESTIONS: Final = 4000


@register.simple_tag
def response_text(text: str) -> str:
    """Return a response laid out, as safe text: templates escape every piece."""
    return _response(text)


@register.simple_tag
def question_field(question: questionnaire_content.Question, name: str, language: str) -> str:
    """Return a question with its answers; `name` is one that no other question of the page has."""
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
