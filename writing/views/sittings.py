"""What the editor asks of the server while its page is open: JSON, for the writer whose session it is."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from crowdrag.studies.access import consented_page, participant_page
from crowdrag.studies.models import Participant

from ..domain import incoming, sittings
from ..enums import LONGEST_TEXT
from ..models import WritingTask
from . import answers


@consented_page("writing")
@require_POST
def sitting(request: HttpRequest, participant: Participant, task: str) -> HttpResponse:
    """Open the editor: a new sitting, with the text as the server has it; or give a new token for an earlier one."""
    found = get_object_or_404(WritingTask, participant=participant, external_id=task)

    def answer() -> dict[str, Any]:
        number = incoming.renewed(answers.body(request))
        if number is not None:
            return _told(sittings.renew(task=found, number=number, now=timezone.now()))
        device = incoming.device(answers.body(request))
        opened = sittings.open(task=found, device=device, now=timezone.now())
        return {
            "sitting": opened.sitting.number,
            "token": opened.token,
            "log_url": reverse("writing_log"),
            "text": opened.text,
            "max_text": LONGEST_TEXT,
            "elapsed": opened.elapsed,
            "next_batch": opened.sitting.next_batch,
            "next_event": opened.sitting.next_event,
            "lease_until": opened.lease_until,
            "others": [{"sitting": each.sitting, "text": each.text} for each in opened.others],
        }

    return answers.respond(answer, status=201, closed_next=_step(participant, task))


@participant_page
@require_POST
def finish(request: HttpRequest, participant: Participant, task: str) -> HttpResponse:
    """Take the writer's word that the text is done, if the log rebuilds it."""
    found = get_object_or_404(WritingTask, participant=participant, external_id=task)

    def answer() -> dict[str, Any]:
        sittings.finish(task=found, said=incoming.finish(answers.body(request)), now=timezone.now())
        return {"next": reverse("writing_exit", args=[participant.study.slug, task])}

    return answers.respond(answer, closed_next=_step(participant, task))


def _told(renewed: sittings.Renewed) -> dict[str, Any]:
    return {
        "sitting": renewed.sitting.number,
        "token": renewed.token,
        "log_url": reverse("writing_log"),
        "next_batch": renewed.sitting.next_batch,
        "next_event": renewed.sitting.next_event,
        "fenced": renewed.fenced,
        "lease_until": renewed.lease_until,
    }


def _step(participant: Participant, task: str) -> str:
    return reverse("writing_task", args=[participant.study.slug, task])
