"""Import pages: choose an importer, upload files, follow the run."""

import uuid
from dataclasses import replace

from django.contrib import messages
from django.core.files.base import ContentFile
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect

from crowdrag.jobs import kinds, run_files
from crowdrag.jobs.models import Run, Upload
from crowdrag.jobs.views import redirect_to_started
from crowdrag.request_limits import MAX_IMPORT_BYTES
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study, User

from . import csv_citations, csv_files, importers, removal, response_files
from .forms import ColumnsForm, ImportForm, PasteForm
from .importers import COLUMN_OPTIONS, COLUMNS, FROM_ONE, PASSAGE_LINES, Importer
from .problems import BadInput, Problems


@study_page(Role.EDITOR)
def imports(request: HttpRequest, study: Study) -> HttpResponse:
    """List the importers, and the imports that can be deleted."""
    runs = [{"run": run, "title": kinds.title(run.kind)} for run in removal.deletable(study)]
    context = {"importers": importers.all_importers(), "runs": runs}
    return render(request, "writing/corpus/imports/list.html", context)


@study_page(Role.EDITOR)
@require_POST
def import_delete(request: HttpRequest, study: Study, key: uuid.UUID) -> HttpResponse:
    """Delete the rows of an import."""
    imported = get_object_or_404(Run, study=study, key=key)
    try:
        run = removal.start(run=imported, by=request.user)  # type: ignore[arg-type] # study_page requires sign-in
    except removal.NotDeletableError as error:
        messages.error(request, str(error))
        return redirect("import", slug=study.slug)
    return redirect_to_started(request, run)


@study_page(Role.EDITOR, max_bytes=MAX_IMPORT_BYTES)
def import_form(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Show the form, or start a run with the uploaded files."""
    importer = _importer(name)
    if request.method != "POST":
        return _show(request, ImportForm(importer, has_column_options=False))
    form = ImportForm(importer, request.POST, request.FILES, has_column_options=False)
    if not form.is_valid():
        return _show(request, form, status=422)
    by: User = request.user  # type: ignore[assignment] # study_page requires sign-in
    if importer.has_columns:
        [file] = form.files_by_role["file"]
        upload = run_files.store_upload(study=study, source=file, name=file.name, by=by)
        query = QueryDict(mutable=True)
        query.update(form.options)
        address = f"{reverse('import_columns', args=[study.slug, name, upload.pk])}?{query.urlencode()}"
    else:
        run = importers.start(study=study, importer=importer, files=form.files_by_role, options=form.options, by=by)
        return redirect_to_started(request, run)
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)  # type: ignore[attr-defined]


@study_page(Role.EDITOR)
def import_paste(request: HttpRequest, study: Study) -> HttpResponse:
    """Import pasted questions, one per line."""
    form = PasteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        files = {"file": [ContentFile(form.content, name="Pasted queries.txt")]}
        importer = importers.get("questions")
        run = importers.start(study=study, importer=importer, files=files, by=request.user)  # type: ignore[arg-type]
        return redirect_to_started(request, run)
    context = {"form": form, "section": "import"}
    return render(request, "writing/corpus/imports/paste.html", context, status=422 if form.errors else 200)


@study_page(Role.EDITOR)
def import_columns(request: HttpRequest, study: Study, name: str, key: int) -> HttpResponse:
    """Show the first rows of an uploaded file, let the user choose the columns' roles, and start the import."""
    importer = _importer(name)
    upload = get_object_or_404(Upload, study=study, pk=key)
    if not importer.has_columns:
        raise Http404("This import asks for no columns.")
    member = importers.member_of(upload)
    context = {"importer": importer, "upload": upload, "section": "import"}
    try:
        preview = csv_files.preview(member, Problems())
    except BadInput as error:
        context["problems"] = error.problems
        return render(request, "writing/corpus/imports/columns.html", context, status=422)
    style = request.GET.get("style") or response_files.DEFAULT_STYLE
    form = ColumnsForm(preview, request.POST or None)
    is_valid = form.is_valid()
    if request.method == "POST" and is_valid and not request.htmx:  # type: ignore[attr-defined]
        chosen = {name: form.cleaned_data[name] for name in COLUMN_OPTIONS}
        options = {COLUMNS: form.roles, "style": style} | chosen
        run = importers.start(study=study, importer=importer, files={"file": upload}, options=options, by=request.user)  # type: ignore[arg-type]
        return redirect_to_started(request, run)
    if request.method == "POST":
        rules = form.rules(style) if is_valid else None
        check = rules and csv_citations.check(study=study, member=member, roles=form.roles, rules=rules)
    elif check := csv_citations.check(
        study=study, member=member, roles=preview.roles, rules=csv_files.CellRules(style)
    ):
        best = check.best
        form.initial = {FROM_ONE: best.from_one, PASSAGE_LINES: best.passage_lines}
        check = replace(check, chosen=best)
    context |= {"form": form, "preview": preview, "check": check}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "writing/corpus/imports/columns.html#citations", context)
    return render(request, "writing/corpus/imports/columns.html", context, status=422 if form.errors else 200)


def _importer(name: str) -> Importer:
    try:
        return importers.get(name)
    except importers.UnknownImporter as error:
        raise Http404(str(error)) from error


def _show(request: HttpRequest, form: ImportForm, *, status: int = 200) -> HttpResponse:
    template = "writing/corpus/imports/import.html#form" if request.htmx else "writing/corpus/imports/import.html"  # type: ignore[attr-defined]
    context = {"form": form, "importer": form.importer}
    return render(request, template, context, status=status)
