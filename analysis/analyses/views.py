"""Pages of results: selection of the run, one page for each method, reports, tables and figures."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.utils.http import parse_etags
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Pair
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.jobs.views import redirect_to_started
from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant, Study
from writing.models import Response

from ..figures import figure, renderer
from ..methods import registry
from ..methods.competence import queries as competence_queries
from ..methods.leaderboard import head_to_head, system_profile
from ..methods.method import Page
from ..methods.reference_metrics import bertscore_runs
from ..methods.settings import BadParameterError
from ..reports import builder, comparison, exports
from ..reports import services as reports_services
from ..tables import run_tables
from . import queries as reports_queries
from . import services
from .forms import AnalysisForm

OVERVIEW = "results"


def state_of(request: HttpRequest, study: Study, *, live: bool = False) -> run_tables.AnalysisState:
    """Return the state of the requested run (`?run=key`), or of the latest finished analysis.

    `live`: of its latest update, on pages whose tables updates compute.
    """
    try:
        return services.state(study, key=_key(request), live=live)
    except Run.DoesNotExist:
        raise Http404("This study has no finished analysis with this key.") from None


def page_context(
    request: HttpRequest, state: run_tables.AnalysisState, page: str, *, needs_judgments: bool = False
) -> dict[str, Any]:
    """Return the context of the frame of a results page."""
    return {
        "state": state,
        "run": state.run,
        "asked_for": _key(request) is not None,
        "result_page": page,
        "not_judged": state.run is not None and state.run.summary.get("judgments") == 0,
        "needs_judgments": needs_judgments,
        "section": "results",
        "form": AnalysisForm(),
        "may_analyse": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
    }


def done_run(request: HttpRequest, study: Study) -> tuple[Run, bool]:
    """Return the run of a requested table or chart, and whether the request names it: then it never changes."""
    runs = Run.objects.filter(study=study, state=RunState.DONE)
    if (key := _key(request)) is not None:
        return get_object_or_404(runs.select_related("study"), run_tables.runs_with_tables(), key=key), True
    latest = runs.filter(kind=services.KIND).newest_first().first()
    if latest is None:
        raise Http404("This study has no finished analysis yet.")
    return latest, False


def _key(request: HttpRequest) -> uuid.UUID | None:
    key = request.GET.get("run")
    try:
        return uuid.UUID(key) if key else None
    except ValueError:
        raise Http404("This is not the key of a run.") from None


def page_view(page: Page) -> Callable[..., HttpResponseBase]:
    """Return the view of a results page, with the context from its method."""

    def view(request: HttpRequest, study: Study) -> HttpResponse:
        return _show(request, study, page)

    return study_page(Role.VIEWER)(require_safe(audited(page.audited)(view) if page.audited else view))


def _show(request: HttpRequest, study: Study, page: Page, **more: Any) -> HttpResponse:
    state = state_of(request, study, live=page.is_live)
    context = page_context(request, state, page.url_name, needs_judgments=page.needs_judgments)
    context |= page.context(study, state, request.GET)
    return render(request, page.template, context | more, status=422 if more else 200)


@study_page(Role.EDITOR)
@require_POST
def analyse(request: HttpRequest, study: Study) -> HttpResponse:
    """Start an analysis, and redirect to its progress."""
    form = AnalysisForm(request.POST)
    if not form.is_valid():
        return _refuse(request, study, form)
    try:
        run = services.start(
            study=study,
            by=request.user,  # type: ignore[arg-type]
            seed=form.seed_given(),
            parameters=form.parameters(),
        )
    except BadParameterError as error:
        form.add_error(None, str(error))
        return _refuse(request, study, form)
    except services.NothingToAnalyseError as error:
        messages.error(request, str(error))
        return redirect("results", slug=study.slug)
    return redirect_to_started(request, run)


def _refuse(request: HttpRequest, study: Study, form: AnalysisForm) -> HttpResponse:
    """Show the first results page with the rejected form, the input and the errors."""
    if state_of(request, study, live=True).run is None:  # the form is shown next to results
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
    overview = next(page for page in registry.pages() if page.url_name == OVERVIEW)
    return _show(request, study, overview, form=form)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.ANSWERS)
def participant(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show the answers of a participant."""
    person = get_object_or_404(Participant, study=study, pk=pk)
    audit_subject(request, person)
    state = state_of(request, study, live=True)
    context = page_context(request, state, "competence", needs_judgments=True) | {"person": person}
    return render(
        request, "analysis/analyses/participant.html", context | competence_queries.participant(study, state, person)
    )


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.RESPONSE)
def pair(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show the two responses of a pair and the votes behind its labels."""
    pairs = Pair.objects.select_related("a__topic", *Response.label_needs("a", "b"))
    shown_pair = get_object_or_404(pairs, study=study, pk=pk)
    audit_subject(request, None, shown_pair.pk)
    state = state_of(request, study, live=True)
    context = page_context(request, state, "pairs", needs_judgments=True) | {"pair": shown_pair}
    return render(request, "analysis/analyses/pair.html", context | competence_queries.pair(study, state, shown_pair))


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def system(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a system of the leaderboard: merits by dimension, best and worst responses."""
    state = state_of(request, study)
    try:
        profile = system_profile.system_profile(study, state, name=request.GET.get("system", ""), query=request.GET)
    except system_profile.NoSystemError:
        raise Http404("The leaderboard has no system of this name.") from None
    context = page_context(request, state, "leaderboard", needs_judgments=True) | profile
    return render(request, "analysis/methods/system.html", context)


@study_page(Role.VIEWER)
@require_safe
def pair_of_systems(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the wins between two systems by dimension, style and topic."""
    state = state_of(request, study)
    first, second, kind = (request.GET.get(name, "") for name in ("first", "second", "kind"))
    try:
        compared = head_to_head.head_to_head(study, state, first=first, second=second, kind=kind, query=request.GET)
    except head_to_head.NeverComparedError:
        raise Http404("No pair of responses by these two was judged.") from None
    context = page_context(request, state, "leaderboard", needs_judgments=True) | compared
    return render(request, "analysis/methods/head_to_head.html", context)


@study_page(Role.EDITOR)
@require_POST
def start(request: HttpRequest, study: Study) -> HttpResponse:
    """Start a run that computes missing scores, and redirect to its progress."""
    try:
        run = bertscore_runs.start(study=study, model=request.POST.get("model", ""), by=request.user)  # type: ignore[arg-type]
    except (BadParameterError, bertscore_runs.NothingToCompareError) as error:
        messages.error(request, str(error))
        return redirect("reference_metrics", slug=study.slug)
    return redirect_to_started(request, run)


@study_page(Role.VIEWER)
@require_safe
def report(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a report."""
    state = state_of(request, study)
    context = page_context(request, state, "report")
    if state.run is not None:
        context |= reports_queries.report(state.run, part=request.GET.get("part", ""))
    return render(request, "analysis/reports/report.html", context)


@study_page(Role.VIEWER)
@require_safe
def report_file(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Send a report, or one of its files."""
    run, _is_named = done_run(request, study)
    if name == exports.CERTIFICATE and (certificate := exports.certificate(run)):
        content, media_type = certificate, "application/json"
    elif name in exports.WRITERS:
        write, media_type = exports.WRITERS[name]
        content = write(builder.report(run))
    else:
        raise Http404("The report has no file with this name.")
    response = HttpResponse(content, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{str(run.key)[:8]}-{name}"'
    patch_cache_control(response, private=True, no_cache=True)
    return response


@study_page(Role.VIEWER)
@require_POST
def build_report(request: HttpRequest, study: Study) -> HttpResponse:
    """Start packing all files of a report, and redirect to the progress."""
    run, _is_named = done_run(request, study)
    packing = reports_services.start(run=run, by=request.user)  # type: ignore[arg-type]
    return redirect("run", slug=study.slug, key=packing.key)


@study_page(Role.VIEWER)
@require_safe
def analyses(request: HttpRequest, study: Study) -> HttpResponse:
    """List the finished analyses."""
    state = state_of(request, study)
    listing = reports_queries.analyses(study, page=request.GET.get("page"))
    return render(request, "analysis/analyses/list.html", page_context(request, state, "analyses") | listing)


@study_page(Role.VIEWER)
@require_safe
def compare(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the differences between two analyses."""
    state = state_of(request, study)
    old, new = (_named_analysis(request, study, name) for name in ("a", "b"))
    context = page_context(request, state, "analyses") | {"old": old, "new": new}
    if old and new:
        context["leaderboards"] = reports_queries.compare_leaderboards(old, new)
        context["comparison"] = comparison.compare(old, new)
    context["choices"] = reports_queries.choices(study)
    return render(request, "analysis/analyses/compare.html", context)


def _named_analysis(request: HttpRequest, study: Study, name: str) -> Run | None:
    """Return the analysis requested under this name, if any."""
    key_text = request.GET.get(name)
    if not key_text:
        return None
    try:
        key = uuid.UUID(key_text)
    except ValueError:
        raise Http404("This is not the key of a run.") from None
    runs = Run.objects.filter(study=study, kind=services.KIND, state=RunState.DONE).select_related("study")
    return get_object_or_404(runs, key=key)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def table(request: HttpRequest, study: Study, name: str, form: str) -> HttpResponse:
    """Send a table of a run as CSV, LaTeX or JSON."""
    run, _is_named = done_run(request, study)
    try:
        content = exports.table(run, name, form)
    except run_tables.UnknownTableError as error:
        raise Http404(str(error)) from None
    response = HttpResponse(content, content_type=exports.TABLE_TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{name}.{form}"'
    return response


YEAR = 365 * 24 * 3600


@study_page(Role.VIEWER)
@require_safe
def chart(request: HttpRequest, study: Study, name: str, form: str) -> HttpResponse:
    """Send a chart of a run. The results of a run never change, so browsers may cache it."""
    run, is_named = done_run(request, study)
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "paper")
    if not figure.is_known(name, theme, form, size):
        raise Http404("There is no such chart.")
    since = run.stale_at.timestamp() if run.stale_at else ""  # rows may have been erased at that time
    version = f"{run.key}-{name}-{theme}-{size}-{form}-{figure.VERSION}-{since}"
    etag = f'"{version}"'
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        return HttpResponse(status=304, headers={"ETag": etag})
    try:
        drawn = cache.get_or_set(f"chart-{version}", lambda: figure.render(study, run, name, theme, form, size), 3600)
    except figure.EmptyChartError as error:
        raise Http404(str(error)) from None
    response = HttpResponse(drawn, content_type=renderer.MEDIA_TYPES[form], headers={"ETag": etag})
    patch_cache_control(response, private=True, max_age=YEAR if is_named else 0)
    if is_named:
        patch_cache_control(response, immutable=True)
    return response
