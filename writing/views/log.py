"""Where the editor's events come in. The token of the sitting is the key: no session that could run out is needed."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowdrag.studies.access import public

from ..domain import incoming, sittings
from . import answers

# The header X-Writing-Token, by the name that it has before Django makes a mapping of all headers.
KEY = "HTTP_X_WRITING_TOKEN"


@csrf_exempt  # a token in a header of one's own is nothing that another site's form could send
@public
@require_POST
def log(request: HttpRequest) -> HttpResponse:
    """Store a batch of events and say so: after the commit, never before."""

    def answer() -> dict[str, Any]:
        batch = incoming.batch(answers.body(request))
        token = request.META.get(KEY, "")
        receipt = sittings.receive(token=token, batch=batch, now=timezone.now())
        return {
            "acked": receipt.acked,
            "next_event": receipt.next_event,
            "fenced": receipt.fenced,
            "lease_until": receipt.lease_until,
        }

    return answers.respond(answer)
