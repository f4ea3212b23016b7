"""A problem that a judge reports with one item: a message to the researchers that names the item."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from crowdrag.assignments.problems import LeftStudy
from crowdrag.studies.enums import MessageKind
from crowdrag.studies.messages import services as messages
from crowdrag.studies.models import ParticipantMessage

from ..campaign_types.registry import item_type
from ..models import Assignment, QuestionnaireItem
from . import problems


@transaction.atomic
def report(*, assignment: Assignment, item: int, text: str, now: datetime) -> ParticipantMessage:
    """Send a judge's report about an item to the researchers. A repeated report is one message.

    Raises
    ------
    BadAnswer
        if the item is not in the questionnaire, the text is empty or too long, or there are too many messages.
    LeftStudy
    """
    participant = assignment.participant
    if participant.withdrawn_at or participant.erased_at:
        raise LeftStudy(Assignment)
    entries = QuestionnaireItem.objects.filter(questionnaire=assignment.questionnaire_id).order_by("position")
    keys = list(entries.values_list("item", flat=True))
    if item not in keys:
        raise problems.BadAnswer(_("This item is not in your questionnaire."))
    if not text.strip():
        raise problems.BadAnswer(_("Describe the problem."))
    about = assignment.external_id
    text = f"{_place(assignment, keys.index(item) + 1)}\n\n{text.strip()}"
    same = ParticipantMessage.objects.filter(participant=participant, about=about, text=text)
    if known := same.filter(answered_at__isnull=True).first():
        return known
    try:
        return messages.ask(participant=participant, kind=MessageKind.PROBLEM, text=text, about=about, now=now)
    except messages.MessageError as error:
        raise problems.BadAnswer(str(error)) from error


def _place(assignment: Assignment, number: int) -> str:
    return str(item_type(assignment.questionnaire.campaign).texts.about) % {"number": number}
