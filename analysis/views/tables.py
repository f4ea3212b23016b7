"""Result tables to download."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ..domain import tables
from ..domain.reports import exporting
from . import shared


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def table(request: HttpRequest, study: Study, name: str, form: str) -> HttpResponse:
    """Send a table of a run as CSV, LaTeX or JSON."""
    run, _is_named = shared.done_run(request, study)
    try:
        content = exporting.table(run, name, form)
    except tables.UnknownTableError as error:
        raise Http404(str(error)) from None
    response = HttpResponse(content, content_type=exporting.TABLE_TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{name}.{form}"'
    return response
