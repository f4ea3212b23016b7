"""Pages of models as writers: runs, order, answers."""

from functools import partial
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from crowdrag.jobs.run_orders.views import order_run
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..enums import AnswerOutcome
from . import queries, targets, writer_run
from .forms import WritingOrderForm
from .writer_run import Order

PER_PAGE = 50
CAMPAIGNS = 20


@study_page(Role.EDITOR)
@require_safe
def writers(request: HttpRequest, study: Study) -> HttpResponse:
    """List the campaigns in which models wrote."""
    page = Paginator(queries.runs(study), CAMPAIGNS).get_page(request.GET.get("page"))
    context = {"page": page, "campaigns": queries.describe_runs(page.object_list), "section": "writing"}
    return render(request, "writing/llm_writers/list.html", context)


@study_page(Role.EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def order(request: HttpRequest, study: Study) -> HttpResponse:
    """Order a campaign: show the form, then the forecast and the exact prompt, then start the run."""
    form = WritingOrderForm(study, request.POST if request.method == "POST" else None)
    return order_run(
        request,
        form,
        start=lambda order: writer_run.start(study=study, order=order, by=request.user),  # type: ignore[arg-type] # study_page requires sign-in
        estimate=partial(_estimate, study),
        show=partial(_form, request, form),
    )


@study_page(Role.EDITOR)
@require_safe
def campaign(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Show the answers of a campaign's model by outcome."""
    run = get_object_or_404(queries.runs(study), key=key)
    outcome = request.GET.get("outcome", "")
    page = Paginator(queries.answers(run, outcome=outcome), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": queries.describe_runs([run])[0],
        "run": run,
        "page": page,
        "outcome": outcome,
        "outcomes": AnswerOutcome.choices,
        "section": "writing",
    }
    return render(request, "writing/llm_writers/run.html", context)


def _estimate(study: Study, order: Order) -> dict[str, Any]:
    pairs = order.pairs(study)
    return {
        "forecast": writer_run.forecast(study=study, order=order),
        "texts": [order.writer().text(one) for one in targets.slots_of(pairs[:1])],
        "sampled": pairs[0] if pairs else None,
    }


def _form(request: HttpRequest, form: WritingOrderForm, *, status: int = 200, **context: Any) -> HttpResponse:
    return render(
        request, "writing/llm_writers/new.html", {"form": form, "section": "writing", **context}, status=status
    )
