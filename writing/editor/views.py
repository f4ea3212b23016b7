"""The editor's page and its JSON requests."""

from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException, UnreadablePostError
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST

from crowdrag.studies.access import consented_page, participant_page, public
from crowdrag.studies.models import Participant

from ..enums import LONGEST_TEXT
from ..models import WritingTask
from . import event_validation, ingestion, page, script_messages, sessions

STATUSES = {"bad": 400, "token": 403, "large": 413}
CONFLICT, GONE, BUSY = 409, 410, 503


def request_body(request: HttpRequest) -> bytes:
    """Return a request's body.

    Raises
    ------
    TooLargeError
        If the declared length is too large; the body is not read.
    """
    try:
        size = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        size = 0
    if size > event_validation.MAX_BATCH_BYTES:
        raise event_validation.TooLargeError(
            f"at most {event_validation.MAX_BATCH_BYTES} bytes at once", most_bytes=event_validation.MAX_BATCH_BYTES
        )
    try:
        return request.body
    except (UnreadablePostError, RawPostDataException) as error:
        raise event_validation.BadInputError("The request ended too early.", where="") from error


def respond(answer: Callable[[], dict[str, Any]], *, status: int = 200, closed_next: str | None = None) -> JsonResponse:
    """Return the answer as JSON. Rejections say what to do; if the database is unavailable, the client can retry.

    `closed_next` is the URL for the page of a closed task; clients without a page get status 410 (gone).
    """
    try:
        return JsonResponse(answer(), status=status)
    except event_validation.RefusedError as refused:
        facts = {"problem": refused.problem, **refused.facts}
        if refused.problem == "closed":
            if closed_next is None:
                return JsonResponse(facts, status=GONE)
            facts["next"] = closed_next
        return JsonResponse(facts, status=STATUSES.get(refused.problem, CONFLICT))
    except (OperationalError, InterfaceError):
        return JsonResponse({"problem": "busy"}, status=BUSY, headers={"Retry-After": "1"})


@gzip_page  # safe from BREACH: the answer repeats nothing of the request and masks its token anew each time
@never_cache
@consented_page("writing")
def editor(request: HttpRequest, participant: Participant, task_id: str) -> HttpResponse:
    """Show the editor, or redirect to the next step."""
    try:
        editor_page = page.load_page(participant=participant, task=task_id)
    except page.NotDueError:
        return redirect("writing_task", participant.study.slug, task_id)
    context = {
        "editor": editor_page,
        "task": editor_page.task,
        "study": None,
        "project": participant.study,
        "wording": script_messages.editor(),
    }
    return render(request, "writing/editor/editor.html", context)


# The header X-Writing-Token by its name in `request.META`.
KEY = "HTTP_X_WRITING_TOKEN"


@csrf_exempt  # another site's form cannot send a token in a custom header
@public
@require_POST
def log(request: HttpRequest) -> HttpResponse:
    """Store a batch of events, and acknowledge it only after the commit."""

    def answer() -> dict[str, Any]:
        batch = event_validation.parse_batch(request_body(request))
        token = request.META.get(KEY, "")
        receipt = ingestion.receive(token=token, batch=batch, now=timezone.now())
        return {
            "acked": receipt.acked,
            "next_event": receipt.next_event,
            "fenced": receipt.fenced,
            "lease_until": receipt.lease_until,
        }

    return respond(answer)


@consented_page("writing")
@require_POST
def session(request: HttpRequest, participant: Participant, task_id: str) -> HttpResponse:
    """Open a new session with the server's text, or renew the token of an earlier one."""
    task = get_object_or_404(WritingTask, participant=participant, external_id=task_id)

    def answer() -> dict[str, Any]:
        number = event_validation.parse_renewal(request_body(request))
        if number is not None:
            return _session_content(sessions.renew_token(task=task, number=number, now=timezone.now()))
        device = event_validation.parse_device(request_body(request))
        opened = sessions.open_session(task=task, device=device, now=timezone.now())
        return {
            "session": opened.session.number,
            "token": opened.token,
            "log_url": reverse("writing_log"),
            "text": opened.text,
            "max_text": LONGEST_TEXT,
            "elapsed": opened.elapsed,
            "next_batch": opened.session.next_batch,
            "next_event": opened.session.next_event,
            "lease_until": opened.lease_until,
            "others": [{"session": each.session, "text": each.text} for each in opened.others],
        }

    return respond(answer, status=201, closed_next=_step(participant, task_id))


@participant_page
@require_POST
def finish(request: HttpRequest, participant: Participant, task_id: str) -> HttpResponse:
    """Finish the text, if it equals the one rebuilt from the log."""
    task = get_object_or_404(WritingTask, participant=participant, external_id=task_id)

    def answer() -> dict[str, Any]:
        sessions.finish(task=task, finished=event_validation.parse_finish(request_body(request)), now=timezone.now())
        return {"next": reverse("writing_exit", args=[participant.study.slug, task_id])}

    return respond(answer, closed_next=_step(participant, task_id))


def _session_content(renewed: sessions.TokenRenewal) -> dict[str, Any]:
    return {
        "session": renewed.session.number,
        "token": renewed.token,
        "log_url": reverse("writing_log"),
        "next_batch": renewed.session.next_batch,
        "next_event": renewed.session.next_event,
        "fenced": renewed.fenced,
        "lease_until": renewed.lease_until,
    }


def _step(participant: Participant, task_id: str) -> str:
    return reverse("writing_task", args=[participant.study.slug, task_id])
