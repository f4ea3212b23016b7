"""Charts, drawn on the server."""

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from django.utils.http import parse_etags
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import charts
from . import shared

YEAR = 365 * 24 * 3600


@study_page(Role.VIEWER)
@require_safe
def chart(request: HttpRequest, study: Study, name: str, form: str) -> HttpResponse:
    """Send a chart of a run. A run's results never change: once seen, a browser need not ask again."""
    run, is_named = shared.done_run(request, study)
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
    response = HttpResponse(drawn, content_type=charts.MEDIA_TYPES[form], headers={"ETag": etag})
    patch_cache_control(response, private=True, max_age=YEAR if is_named else 0)
    if is_named:
        patch_cache_control(response, immutable=True)
    return response
