"""The page of all components, the documentation site, and the error pages.

The error pages do not need the database.
"""

import datetime as dt
from dataclasses import dataclass

from django import forms
from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.gzip import gzip_page
from django.views.static import serve

from crowdrag.studies.access import ArchivedStudyError, OperatorsOnlyError, public, public_to_read

from . import documentation


@dataclass(frozen=True)
class SampleRow:
    """A line of the sample table."""

    dimension: str
    alpha: float | None
    low: float | None
    high: float | None
    items: int
    a: int
    n: int
    b: int


SAMPLE_ROWS = [
    SampleRow("correctness_topical", 0.412, 0.351, 0.468, 1352, 3, 1, 1),
    SampleRow("coherence_logical", -0.052, -0.131, 0.024, 1352, 1, 3, 1),
    SampleRow("coherence_stylistic", 0.238, 0.170, 0.301, 1287, 2, 2, 1),
    SampleRow("coverage_broad", 0.077, 0.012, 0.139, 640, 0, 1, 4),
    SampleRow("coverage_deep", None, None, None, 0, 0, 0, 0),
]


class SampleForm(forms.Form):
    """One field of each kind."""

    title = forms.CharField(label="Title", max_length=80, help_text="As shown to workers.")
    resamples = forms.IntegerField(label="Bootstrap resamples", min_value=100, initial=1000)
    split = forms.ChoiceField(label="Split", choices=[("complete", "complete"), ("minimal", "minimal")])
    style = forms.ChoiceField(
        label="Style",
        widget=forms.RadioSelect,
        choices=[("bullet", "Bullet points"), ("essay", "Essay"), ("news", "News")],
    )
    instructions = forms.CharField(label="Instructions", widget=forms.Textarea, required=False, help_text="Markdown.")
    topics = forms.FileField(label="Topics", required=False, help_text="JSON lines, plain or gzipped.")
    keep = forms.BooleanField(label="Keep the writing logs", required=False)


@public
def components(request: HttpRequest) -> HttpResponse:
    """Show every component in each of its states; `?errors` shows the form with errors."""
    now = timezone.now()
    bound = {"title": "", "resamples": "7", "split": "all", "style": "essay"}
    context = {
        "form": SampleForm(bound) if "errors" in request.GET else SampleForm(initial={"style": "essay"}),
        "rows": SAMPLE_ROWS,
        "page": Paginator(range(4731), 50).page(3),
        "minutes_ago": now - dt.timedelta(minutes=5),
    }
    return render(request, "ui/components.html", context)


@public_to_read
@gzip_page
def documentation_site(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Show a file of the documentation site, or how to build it."""
    if not documentation.is_built():
        return render(request, "ui/documentation_missing.html", status=404)
    file = documentation.site_file(path)
    if file is None:
        raise Http404
    if file.name == "index.html" and path and not path.endswith(("/", "index.html")):
        return redirect("documentation", path=f"{path}/")
    response = serve(request, str(file.relative_to(documentation.root())), document_root=str(settings.DOCS_ROOT))
    # File names stay when their contents change: browsers must check each time.
    patch_cache_control(response, no_cache=True)
    return response


# Where people work who have no account. Error pages do not know who asks, only for which address.
_PARTICIPANTS_PAGES = ("/work/", "/join/", "/withdraw/")


def _is_for_participants(request: HttpRequest) -> bool:
    return request.path_info.startswith(_PARTICIPANTS_PAGES)


@public
def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400."""
    return render(request, "errors/400.html", status=400)


@public
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403, with the reason if there is one, and whom to ask."""
    is_administration = request.resolver_match is not None and request.resolver_match.app_name == "admin"
    error = OperatorsOnlyError() if is_administration else exception
    context = {
        "reason": str(error or ""),
        "needs_operator": isinstance(error, OperatorsOnlyError),
        "needs_role": not isinstance(error, OperatorsOnlyError | ArchivedStudyError),
    }
    return render(request, "errors/403.html", context, status=403)


@public
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404."""
    context = {"is_for_participants": _is_for_participants(request)}
    return render(request, "errors/404.html", context, status=404)


@public
def server_error(request: HttpRequest) -> HttpResponse:
    """500."""
    context = {"is_for_participants": _is_for_participants(request)}
    return render(request, "errors/500.html", context, status=500)
