"""My studies, and a new one."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from ..access import public, signed_in, study_page
from ..domain import studies as making
from ..enums import Role
from ..forms import AboutForm, StudyForm
from ..models import Study


@public
def index(request: HttpRequest) -> HttpResponse:
    """Lead to my studies, by way of the login where needed."""
    return redirect("studies")


@signed_in
def mine(request: HttpRequest) -> HttpResponse:
    """List the studies that I am a member of."""
    studies = Study.objects.for_user(request.user).with_role(request.user).with_counts().order_by("-created_at", "id")
    return render(request, "studies/mine.html", {"studies": studies})


@signed_in
def new(request: HttpRequest) -> HttpResponse:
    """Make a study."""
    form = StudyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        study = making.create(by=request.user, **form.cleaned_data)  # type: ignore[arg-type]
        return redirect("study", slug=study.slug)
    return render(request, "studies/new.html", {"form": form}, status=422 if form.errors else 200)


@study_page(Role.OWNER)
def about(request: HttpRequest, study: Study) -> HttpResponse:
    """Say who asks, whom to turn to, how people are paid and how long it is kept."""
    form = AboutForm(request.POST or None, instance=Study.objects.get(pk=study.pk))
    if request.method == "POST" and form.is_valid():
        making.describe(study=study, **form.cleaned_data)
        return redirect("study", slug=study.slug)
    context = {"form": form, "section": "study"}
    return render(request, "studies/about.html", context, status=422 if form.errors else 200)
