"""Import pages: choose an importer, upload, follow the run."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from . import importers
from .forms import MAX_IMPORT_BYTES, ImportForm


@study_page(Role.EDITOR)
def imports(request: HttpRequest, study: Study) -> HttpResponse:
    """List what can be imported."""
    return render(request, "writing/corpus/imports/list.html", {"importers": importers.all_importers()})


@study_page(Role.EDITOR, max_bytes=MAX_IMPORT_BYTES)
def import_form(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Import: show the form, or start a run with the files that it brings."""
    try:
        importer = importers.get(name)
    except importers.UnknownImporter as error:
        raise Http404(str(error)) from error
    if request.method != "POST":
        return _show(request, ImportForm(importer))
    form = ImportForm(importer, request.POST, request.FILES)
    if not form.is_valid():
        return _show(request, form, status=422)
    run = importers.start(
        study=study,
        importer=importer,
        files=form.files_by_role,
        options=form.options,
        by=request.user,  # type: ignore[arg-type] # study_page lets nobody else in
    )
    address = reverse("run", args=[study.slug, run.key])
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)  # type: ignore[attr-defined]


def _show(request: HttpRequest, form: ImportForm, *, status: int = 200) -> HttpResponse:
    template = "writing/corpus/imports/import.html#form" if request.htmx else "writing/corpus/imports/import.html"  # type: ignore[attr-defined]
    context = {"form": form, "importer": form.importer}
    return render(request, template, context, status=status)
