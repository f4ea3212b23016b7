"""The page that orders a run: the form, the estimate, the start."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from .. import progress
from ..enums import Queue
from ..kinds import InputRejectedError
from ..models import Run
from .types import AnyOrder, OrderForm

INVALID = 422


def order_run(
    request: HttpRequest,
    form: OrderForm[AnyOrder],
    *,
    start: Callable[[AnyOrder], Run],
    estimate: Callable[[AnyOrder], dict[str, Any]],
    show: Callable[..., HttpResponse],
) -> HttpResponse:
    """Show the page on which a run is ordered.

    Parameters
    ----------
    form
        bound, if anything was submitted.
    start
        starts the order; its `InputRejectedError` is shown in the form.
    estimate
        returns what the page shows about an order before it starts.
    show
        renders the page, from `status` and further context.
    """
    if request.method != "POST":
        return show()
    if not form.is_valid():
        return show(status=INVALID)
    with transaction.atomic():
        order = form.order(now=timezone.now())
    # Only what was estimated is started: the page with the estimate contains the order's digest.
    if request.POST.get("start") == order.digest:
        try:
            run = start(order)
        except InputRejectedError as rejected:
            form.add_error(None, rejected.problems[0]["message"])
            return show(status=INVALID)
        return redirect("run", run.study.slug, run.key)
    return show(order=order, before=progress.find_before(Queue.LLM), **estimate(order))
