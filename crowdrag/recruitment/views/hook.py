"""The door at which the platform tells what happens: proved, stored, answered at once."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowdrag.studies.access import public

from ..domain import hooks


@csrf_exempt
@public
@never_cache
@require_POST
def prolific(request: HttpRequest) -> HttpResponse:
    """Take an event. What comes twice is taken once; nothing is said to whoever is not the platform."""
    try:
        # One byte more than is read: enough to see that it is too large, however large it says it is.
        body = request.read(hooks.LARGEST + 1)
        is_new = hooks.receive(body=body, headers=hooks.Headers.of(request.headers), now=timezone.now())
    except hooks.HookError as error:
        return HttpResponse(status=error.status)
    return JsonResponse({"stored": is_new}, status=200)
