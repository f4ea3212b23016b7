"""A study's home: its state at a glance."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ..access import study_page
from ..enums import Role
from ..models import Study
from ..nav import cards


@study_page(Role.VIEWER)
def home(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what each app says of the study."""
    may_describe = request.study_role >= Role.OWNER  # type: ignore[attr-defined]
    context = {"cards": cards(study), "section": "study", "may_describe": may_describe}
    return render(request, "studies/home.html", context)
