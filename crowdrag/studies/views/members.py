"""Who may do what in a study."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from ..access import study_page
from ..domain import members as membership
from ..enums import Role
from ..forms import MemberForm
from ..models import Study, User


@study_page(Role.VIEWER)
def members(request: HttpRequest, study: Study) -> HttpResponse:
    """List the members; owners add one or change a role."""
    if request.method == "POST":
        return handle_post(request, study)
    return show(request, study, MemberForm())


def handle_post(request: HttpRequest, study: Study) -> HttpResponse:
    """Give somebody a role."""
    if request.study_role < Role.OWNER:  # type: ignore[attr-defined]
        raise PermissionDenied(_("Only owners change who is a member."))
    form = MemberForm(request.POST)
    if not form.is_valid():
        return show(request, study, form, status=422)
    try:
        membership.set_role(study=study, user=form.user, role=form.cleaned_data["role"], by=request.user)  # type: ignore[arg-type]
    except membership.LastOwnerError as error:
        form.add_error(None, str(error))
        return show(request, study, form, status=422)
    messages.success(
        request, _("%(user)s is now %(role)s.") % {"user": form.user, "role": form.cleaned_data["role"].label}
    )
    return redirect("members", slug=study.slug)


@study_page(Role.OWNER)
@require_POST
def remove(request: HttpRequest, study: Study, user_id: int) -> HttpResponse:
    """Take somebody out of the study."""
    user = get_object_or_404(User, pk=user_id, memberships__study=study)
    try:
        membership.remove(study=study, user=user)
    except membership.LastOwnerError as error:
        messages.error(request, str(error))
    return redirect("members", slug=study.slug)


def show(request: HttpRequest, study: Study, form: MemberForm, status: int = 200) -> HttpResponse:
    """Render the page."""
    found = study.memberships.select_related("user").order_by("-role", "user__email", "id")
    context = {"memberships": found, "form": form, "section": "members", "may_change": request.study_role >= Role.OWNER}  # type: ignore[attr-defined]
    return render(request, "studies/members.html", context, status=status)
