"""Pages of results: which run they show, one page for each method, reports, tables and charts."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.cache import cache
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.utils.http import parse_etags
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Pair
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant, Study
from writing.models import Response

from ..experiments.experiment import PREFIX
from ..figures import renderer
from ..methods import charts
from ..methods import writing_page as writing_queries
from ..methods.agreement import queries as agreement_queries
from ..methods.competence import queries as competence_queries
from ..methods.competence import queries as pairs_queries
from ..methods.grades import queries as grades_queries
from ..methods.leaderboard import queries as leaderboard_queries
from ..methods.model_judges import queries as model_judges_queries
from ..methods.order_effects import queries as order_effects_queries
from ..methods.reference_metrics import bertscore_runs
from ..methods.reference_metrics import queries as metrics_queries
from ..methods.settings import BadParameterError
from ..planning import services as planning_services
from ..reports import builder, comparison, exports
from ..reports import services as reports_services
from ..tables import run_tables
from ..tables.run_tables import UPDATE
from . import queries as reports_queries
from . import services
from . import services as analyses_services
from .forms import AnalysisForm

#: The pages of results by the name of their URL, in the order in which they are offered.
PAGES = (
    ("results", _("Agreement")),
    ("competence", _("Competence")),
    ("grades", _("Grades")),
    ("leaderboard", _("Leaderboard")),
    ("writing_results", _("Writing")),
    ("pairs", _("Pairs and votes")),
    ("order_results", _("Order and dimensions")),
    ("reference_metrics", _("Metrics")),
    ("model_judge_results", _("Models as judges")),
    ("report", _("Report")),
    ("analyses", _("Analyses")),
)
#: Of these, the pages that show nothing without judgments.
OF_JUDGMENTS = ("competence", "grades", "leaderboard", "pairs", "order_results", "reference_metrics")


def state_of(request: HttpRequest, study: Study, *, live: bool = False) -> run_tables.AnalysisState:
    """Return the state of the run asked for (`?run=key`), else of the latest analysis that is done.

    `live`: of its latest update, on pages whose tables updates make.
    """
    try:
        return analyses_services.state(study, key=_key(request), live=live)
    except Run.DoesNotExist:
        raise Http404("There is no finished analysis of this key in this study.") from None


def page_context(request: HttpRequest, state: run_tables.AnalysisState, page: str) -> dict[str, Any]:
    """Return what the frame of a page of results shows."""
    return {
        "state": state,
        "run": state.run,
        "asked_for": _key(request) is not None,
        "result_page": page,
        "result_pages": PAGES,
        "not_judged": state.run is not None and state.run.summary.get("judgments") == 0,
        "needs_judgments": page in OF_JUDGMENTS,
        "section": "results",
        "form": AnalysisForm(),
        "may_analyse": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
    }


def done_run(request: HttpRequest, study: Study) -> tuple[Run, bool]:
    """Return the run whose table or chart is asked for, and whether it was named: then the answer never changes."""
    runs = Run.objects.filter(study=study, state=RunState.DONE)
    if (key := _key(request)) is not None:
        of_kind = Q(kind__in=(analyses_services.KIND, planning_services.KIND, UPDATE)) | Q(kind__startswith=PREFIX)
        return get_object_or_404(runs.select_related("study"), of_kind, key=key), True
    latest = runs.filter(kind=analyses_services.KIND).newest_first().first()
    if latest is None:
        raise Http404("This study has no finished analysis yet.")
    return latest, False


def _key(request: HttpRequest) -> uuid.UUID | None:
    given = request.GET.get("run")
    try:
        return uuid.UUID(given) if given else None
    except ValueError:
        raise Http404("This is not the key of a run.") from None


@study_page(Role.VIEWER)
@require_safe
def results(request: HttpRequest, study: Study) -> HttpResponse:
    """Show key figures and agreement."""
    return _page(request, study)


@study_page(Role.EDITOR)
@require_POST
def analyse(request: HttpRequest, study: Study) -> HttpResponse:
    """Start an analysis, and go and see how it gets on."""
    form = AnalysisForm(request.POST)
    if not form.is_valid():
        return _page(request, study, refused=form)
    try:
        run = services.start(
            study=study,
            by=request.user,  # type: ignore[arg-type]
            seed=form.seed_given(),
            parameters=form.parameters(),
        )
    except BadParameterError as error:
        form.add_error(None, str(error))
        return _page(request, study, refused=form)
    except services.NothingToAnalyseError as error:
        messages.error(request, str(error))
        return redirect("results", slug=study.slug)
    return redirect("run", slug=study.slug, key=run.key)


def _page(request: HttpRequest, study: Study, refused: AnalysisForm | None = None) -> HttpResponse:
    """The first page of results; with the form that was refused, what was typed and why, where there is one."""
    state = state_of(request, study, live=True)
    context = page_context(request, state, "results") | agreement_queries.overview(study, state)
    if refused is not None:
        context["form"] = refused
        if state.run is None:  # the form stands beside results
            messages.error(request, " ".join(str(error) for errors in refused.errors.values() for error in errors))
    return render(request, "analysis/overview.html", context, status=200 if refused is None else 422)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def participants(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how far each participant can be trusted."""
    state = state_of(request, study, live=True)
    found = competence_queries.participants(
        study,
        state,
        text=request.GET.get("text", "").strip(),
        sort=request.GET.get("sort", "-mean"),
        page=request.GET.get("page"),
    )
    return render(request, "analysis/competence.html", page_context(request, state, "competence") | found)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.ANSWERS)
def participant(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show what one participant answered."""
    person = get_object_or_404(Participant, study=study, pk=pk)
    audit_subject(request, person)
    state = state_of(request, study, live=True)
    context = page_context(request, state, "competence") | {"person": person}
    return render(request, "analysis/participant.html", context | competence_queries.participant(study, state, person))


@study_page(Role.VIEWER)
@require_safe
def pairs(request: HttpRequest, study: Study) -> HttpResponse:
    """List labels of pairs."""
    state = state_of(request, study, live=True)
    asked = {name: request.GET.get(name, "") for name in ("topic", "dimension", "label", "sort")}
    found = pairs_queries.pairs(study, state, page=request.GET.get("page"), **asked)
    return render(request, "analysis/pairs.html", page_context(request, state, "pairs") | found)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.RESPONSE)
def pair(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show the two responses of a pair and the votes behind its labels."""
    pairs = Pair.objects.select_related("a__topic", *Response.label_needs("a", "b"))
    found = get_object_or_404(pairs, study=study, pk=pk)
    audit_subject(request, None, found.pk)
    state = state_of(request, study, live=True)
    context = page_context(request, state, "pairs") | {"pair": found}
    return render(request, "analysis/pair.html", context | pairs_queries.pair(study, state, found))


@study_page(Role.VIEWER)
@require_safe
def grades(request: HttpRequest, study: Study) -> HttpResponse:
    """Show mean grades by style and origin, and the grades of each topic's responses."""
    state = state_of(request, study, live=True)
    found = grades_queries.grades(study, state, topic=request.GET.get("topic", ""), page=request.GET.get("page"))
    return render(request, "analysis/grades.html", page_context(request, state, "grades") | found)


@study_page(Role.VIEWER)
@require_safe
def leaderboard(request: HttpRequest, study: Study) -> HttpResponse:
    """Show who is ranked where on a dimension, with intervals, and who differs from whom."""
    state = state_of(request, study)
    found = leaderboard_queries.leaderboard(
        study, state, dimension=request.GET.get("dimension", ""), page=request.GET.get("page")
    )
    return render(request, "analysis/leaderboard.html", page_context(request, state, "leaderboard") | found)


@study_page(Role.VIEWER)
@require_safe
def writing(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how long responses are, what they cite, how easy they read, and how they came about."""
    state = state_of(request, study)
    found = writing_queries.writing(study, state, page=request.GET.get("page"))
    return render(request, "analysis/writing.html", page_context(request, state, "writing_results") | found)


@study_page(Role.VIEWER)
@require_safe
def order_effects(request: HttpRequest, study: Study) -> HttpResponse:
    """Show agreement by order, the preference for a side, and the correlation between dimensions."""
    state = state_of(request, study)
    found = order_effects_queries.order_effects(study, state)
    return render(request, "analysis/order_effects.html", page_context(request, state, "order_results") | found)


@study_page(Role.VIEWER)
@require_safe
def reference_metrics(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how well metrics rank responses as their grades do."""
    state = state_of(request, study)
    found = metrics_queries.metrics(study, state)
    return render(request, "analysis/metrics.html", page_context(request, state, "reference_metrics") | found)


@study_page(Role.EDITOR)
@require_POST
def start(request: HttpRequest, study: Study) -> HttpResponse:
    """Start a run that computes what is missing, and go and see how it gets on."""
    try:
        run = bertscore_runs.start(study=study, model=request.POST.get("model", ""), by=request.user)  # type: ignore[arg-type]
    except (BadParameterError, bertscore_runs.NothingToCompareError) as error:
        messages.error(request, str(error))
        return redirect("reference_metrics", slug=study.slug)
    return redirect("run", slug=study.slug, key=run.key)


@study_page(Role.VIEWER)
@require_safe
def model_judges(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how consistent models judge, how close to people, and what they make of their own responses."""
    state = state_of(request, study)
    found = model_judges_queries.model_judges(study, state, page=request.GET.get("page"))
    return render(request, "analysis/model_judges.html", page_context(request, state, "model_judge_results") | found)


@study_page(Role.VIEWER)
@require_safe
def report(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a report."""
    state = state_of(request, study)
    context = page_context(request, state, "report")
    if state.run is not None:
        context |= reports_queries.report(state.run)
    return render(request, "analysis/report.html", context)


@study_page(Role.VIEWER)
@require_safe
def report_file(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Send a report as one file, or what belongs to it."""
    run, _is_named = done_run(request, study)
    if name not in exports.WRITERS:
        raise Http404("A report has no such file.")
    write, media_type = exports.WRITERS[name]
    response = HttpResponse(write(builder.report(run)), content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{str(run.key)[:8]}-{name}"'
    patch_cache_control(response, private=True, no_cache=True)
    return response


@study_page(Role.VIEWER)
@require_POST
def pack(request: HttpRequest, study: Study) -> HttpResponse:
    """Start packing everything of a report, and go and see how it gets on."""
    run, _is_named = done_run(request, study)
    made = reports_services.start(run=run, by=request.user)  # type: ignore[arg-type]
    return redirect("run", slug=study.slug, key=made.key)


@study_page(Role.VIEWER)
@require_safe
def analyses(request: HttpRequest, study: Study) -> HttpResponse:
    """List the finished analyses."""
    state = state_of(request, study)
    found = reports_queries.analyses(study, page=request.GET.get("page"))
    return render(request, "analysis/analyses.html", page_context(request, state, "analyses") | found)


@study_page(Role.VIEWER)
@require_safe
def compare(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what differs between two analyses."""
    state = state_of(request, study)
    old, new = (_asked(request, study, name) for name in ("a", "b"))
    context = page_context(request, state, "analyses") | {"old": old, "new": new}
    if old and new:
        context["comparison"] = comparison.compare(old, new)
    context["choices"] = reports_queries.choices(study)
    return render(request, "analysis/compare.html", context)


def _asked(request: HttpRequest, study: Study, name: str) -> Run | None:
    """The analysis asked for under this name, if one is."""
    given = request.GET.get(name)
    if not given:
        return None
    try:
        key = uuid.UUID(given)
    except ValueError:
        raise Http404("This is not the key of a run.") from None
    runs = Run.objects.filter(study=study, kind=analyses_services.KIND, state=RunState.DONE).select_related("study")
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
    """Send a chart of a run. A run's results never change: once seen, a browser need not ask again."""
    run, is_named = done_run(request, study)
    theme, size = request.GET.get("theme", "light"), request.GET.get("size", "paper")
    if not charts.is_known(name, theme, form, size):
        raise Http404("There is no such chart.")
    since = run.stale_at.timestamp() if run.stale_at else ""  # rows may have been erased then
    version = f"{run.key}-{name}-{theme}-{size}-{form}-{charts.DRAWING}-{since}"
    etag = f'"{version}"'
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        return HttpResponse(status=304, headers={"ETag": etag})
    try:
        drawn = cache.get_or_set(f"chart-{version}", lambda: charts.chart(study, run, name, theme, form, size), 3600)
    except charts.EmptyChartError as error:
        raise Http404(str(error)) from None
    response = HttpResponse(drawn, content_type=renderer.MEDIA_TYPES[form], headers={"ETag": etag})
    patch_cache_control(response, private=True, max_age=YEAR if is_named else 0)
    if is_named:
        patch_cache_control(response, immutable=True)
    return response
