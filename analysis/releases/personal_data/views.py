"""Review of possible personal data in people's texts."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ...enums import PersonalVerdict
from .. import queries as releases_queries
from . import services


class VerdictForm(forms.Form):
    """The decision on the selected findings."""

    finding = forms.TypedMultipleChoiceField(coerce=int, choices=())
    verdict = forms.ChoiceField(label="What to do", choices=PersonalVerdict.choices)
    reason = forms.CharField(label="Reason", max_length=500, required=False)

    def __init__(self, data: object) -> None:
        super().__init__(data)  # type: ignore[arg-type] # what a request holds
        keys = data.getlist("finding") if hasattr(data, "getlist") else []
        # Accept any key here; the service only uses findings of this study.
        self.fields["finding"].choices = [(key, key) for key in keys if key.isdecimal()]  # type: ignore[attr-defined]


@study_page(Role.REVIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def findings(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the undecided findings, or all."""
    only_open = request.GET.get("show") != "all"
    context = releases_queries.findings(study, page=request.GET.get("page"), only_open=only_open)
    return render(
        request,
        "analysis/releases/personal_data.html",
        context | {"section": "releases", "verdicts": PersonalVerdict.choices},
    )


@study_page(Role.REVIEWER)
@require_POST
def decide(request: HttpRequest, study: Study) -> HttpResponse:
    """Decide on the selected findings."""
    form = VerdictForm(request.POST)
    shown = "all" if request.POST.get("show") == "all" else "open"
    back = f"{reverse('personal_data_findings', args=[study.slug])}?show={shown}"
    if not form.is_valid():
        messages.error(request, "Select at least one finding and a decision.")
        return redirect(back)
    try:
        done = services.decide(
            study=study,
            findings=form.cleaned_data["finding"],
            verdict=PersonalVerdict(form.cleaned_data["verdict"]),
            reason=form.cleaned_data["reason"],
            by=request.user,  # type: ignore[arg-type]
        )
    except services.VerdictError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, ("%d decision saved." if done == 1 else "%d decisions saved.") % done)
    return redirect(back)
