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
from django.utils.safestring import mark_safe

from annotation.campaign_types import response_layout
from annotation.campaign_types.campaign_type import CampaignType
from annotation.campaign_types.registry import TYPES
from annotation.campaign_types.shown_items import ShownItem
from annotation.judging import questionnaire_content

register = template.Library()
# The responses of a large campaign, with a few thousand characters each, and items with one or two of them.
MOST_RESPONSES: Final = 1000
MOST_ITEMS: Final = 500
# The questions of a few campaigns, at each position on the page and with each answer.
MOST_QUESTIONS: Final = 4000
# What stands below the questions of as many items.
MOST_CONTROLS: Final = 1000


@register.simple_tag
def item_texts(number: int, shown: ShownItem, of: int, kind: str, language: str) -> str:
    """Return what is judged in an item as HTML; it is the `number`th of so many, of this type."""
    return _item_texts(number, shown, of, kind, language, translation.get_language())


@register.simple_tag
def unanswered_questions(item_type: CampaignType, entry: questionnaire_content.Entry) -> str:
    """Return an item's label with the number of its unanswered questions."""
    return item_type.texts.unanswered % {"number": entry.number, "n": entry.open}


@register.simple_tag
def item_controls(
    item: int, confidence: questionnaire_content.Confidence, is_last: bool, assignment: object | None
) -> str:
    """Return the controls below an item's questions as HTML; `assignment` is None in a preview."""
    return _item_controls(item, confidence, is_last, assignment is not None, translation.get_language())


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


@register.simple_tag
def question_fields(questions: tuple[questionnaire_content.Question, ...], language: str) -> str:
    """Return an item's questions like `question_field`, each named by its place on the page."""
    return mark_safe("".join(question_field(question, question.place, language) for question in questions))  # noqa: S308


@lru_cache(MOST_ITEMS)
def _item_texts(number: int, shown: ShownItem, of: int, kind: str, language: str, _read_in: str) -> str:
    heading = str(TYPES[kind].texts.heading) % {"number": number, "of": of}
    context = {"number": number, "shown": shown, "heading": heading, "language": language}
    return get_template("annotation/judging/_item_texts.html").render(context)


@lru_cache(MOST_CONTROLS)
def _item_controls(
    item: int, confidence: questionnaire_content.Confidence, is_last: bool, is_assigned: bool, _read_in: str
) -> str:
    context = {"item": item, "confidence": confidence, "is_last": is_last, "is_assigned": is_assigned}
    return get_template("annotation/judging/_item_controls.html").render(context)


@lru_cache(MOST_RESPONSES)
def _response(text: str) -> str:
    return get_template("annotation/judging/_response.html").render({"blocks": response_layout.blocks(text)})


@lru_cache(MOST_QUESTIONS)
def _question(question: questionnaire_content.Question, name: str, language: str, _read_in: str) -> str:
    return _rendered(question, name, language)


def _rendered(question: questionnaire_content.Question, name: str, language: str) -> str:
    context = {"question": question, "name": name, "language": language}
    return get_template("annotation/judging/_question.html").render(context)
