"""Pages of a study's exports and clones."""

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Artifact
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from . import clones, services

PAGE = 25


class FormatForm(forms.Form):
    """Format of an export."""

    format = forms.ChoiceField(choices=[(name, name) for name in services.WRITERS])


@study_page(Role.VIEWER)
def exports(request: HttpRequest, study: Study) -> HttpResponse:
    """List the finished exports, those being written, and the formats."""
    page = Paginator(services.finished(study), PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": [
            {"artifact": artifact, "format": kinds.title(artifact.run.kind), "left_out": _left_out(artifact)}
            for artifact in page
        ],
        "at_work": [{"run": run, "title": kinds.title(run.kind)} for run in services.at_work(study)],
        "answer_formats": services.ANSWER_FORMATS,
        "may_export": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
    }
    return render(request, "analysis/archive/export.html", context)


def _left_out(artifact: Artifact) -> dict[str, int] | None:
    """Return what an export leaves out; None if its format holds everything."""
    omitted: dict[str, int] | None = artifact.run.summary.get(services.LEFT_OUT)
    return omitted


@study_page(Role.EDITOR, is_open_when_archived=True)
@require_POST
def start(request: HttpRequest, study: Study) -> HttpResponse:
    """Start an export and show its progress."""
    form = FormatForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Unknown format. Choose one of the formats below.")
        return redirect("exports", slug=study.slug)
    run = services.start(study=study, format_=form.cleaned_data["format"], by=request.user)  # type: ignore[arg-type]
    return redirect("run", slug=study.slug, key=run.key)


class CloneForm(forms.ModelForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """Name of the clone, and whether to copy responses."""

    with_responses = forms.BooleanField(
        label="With imported responses",
        required=False,
        help_text="Responses of systems and models that were imported. What people wrote is never copied.",
    )

    class Meta:
        model = Study
        fields = ["title", "slug"]
        error_messages = {
            "slug": {
                "invalid": "Use only the letters a to z, digits, hyphens and underscores.",
                "unique": "Another study has this short name. Choose another one.",
            }
        }


@study_page(Role.EDITOR, is_open_when_archived=True)
def clone_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form for a clone, and start cloning."""
    initial = {"title": f"{study.title} (copy)"[:200], "slug": f"{study.slug[:75]}-copy"}
    form = CloneForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        run = clones.start(source=study, by=request.user, **form.cleaned_data)  # type: ignore[arg-type]
        return redirect("run", slug=run.study.slug, key=run.key)
    context = {"form": form, "section": "manage"}
    return render(request, "analysis/archive/clone.html", context, status=422 if form.errors else 200)
