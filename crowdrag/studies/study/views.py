"""Pages: my studies, new study, home, description, members."""

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from ..access import public, signed_in, study_page
from ..checklist import checklist
from ..enums import Role
from ..navigation import cards, start_offers
from ..shared_results import sharing_results
from . import invitations, services
from .closure import Closure, StudyInUseError, obstacles
from .forms import AboutForm, DeleteForm, InvitationForm, MemberForm, StudyForm
from .models import Study, User


@public
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to my studies, by way of the login if needed."""
    return redirect("studies")


@signed_in
def my_studies(request: HttpRequest) -> HttpResponse:
    """List the studies that I am a member of: the active or the archived ones."""
    is_archive = "archived" in request.GET
    studies = Study.objects.for_user(request.user).with_role(request.user).with_counts().order_by("-created_at", "id")
    shown = [study for study in studies if study.is_archived == is_archive]
    context = {
        "studies": shown,
        "is_archive": is_archive,
        "archived_count": sum(study.is_archived for study in studies),
    }
    return render(request, "studies/study/list.html", context)


@signed_in
def new_study(request: HttpRequest) -> HttpResponse:
    """Create a study."""
    form = StudyForm(request.POST or None, by=request.user)  # type: ignore[arg-type] # signed_in lets nobody else in
    if request.method == "POST" and form.is_valid():
        study = services.create(by=request.user, **form.cleaned_data)  # type: ignore[arg-type]
        return redirect("study", slug=study.slug)
    return render(request, "studies/study/new.html", {"form": form}, status=422 if form.errors else 200)


@study_page(Role.OWNER)
def about_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Edit the researchers, the contact, how participants are paid and how long data are kept."""
    form = AboutForm(request.POST or None, instance=Study.objects.get(pk=study.pk))
    if request.method == "POST" and form.is_valid():
        services.describe(study=study, **form.cleaned_data)
        return redirect("study", slug=study.slug)
    context = {"form": form, "section": "about"}
    return render(request, "studies/study/about.html", context, status=422 if form.errors else 200)


@study_page(Role.VIEWER)
def study_home(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the checklist of the study and the card of each app."""
    role: int = request.study_role  # type: ignore[attr-defined]
    with sharing_results():
        steps, shown_cards = checklist(study, role, request.inbox), cards(study)  # type: ignore[attr-defined]
    context = {
        "checklist": steps,
        "cards": shown_cards,
        "section": "overview",
        "may_describe": role >= Role.OWNER,
        "start_offers": start_offers(role),
    }
    return render(request, "studies/study/home.html", context)


@study_page(Role.EDITOR)
@require_safe
def manage_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how to clone, archive or delete the study, and the obstacles."""
    return _show_manage(request, study, DeleteForm())


@study_page(Role.OWNER)
@require_POST
def archive_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Archive the study."""
    try:
        services.archive(study=study, by=request.user)  # type: ignore[arg-type] # study_page lets nobody else in
    except StudyInUseError:
        return _show_manage(request, study, DeleteForm(), status=422)
    messages.success(request, "The study is archived.")
    return redirect("study_manage", slug=study.slug)


@study_page(Role.OWNER, is_open_when_archived=True)
@require_POST
def restore_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Restore an archived study."""
    services.restore(study=study)
    messages.success(request, "The study is restored.")
    return redirect("study", slug=study.slug)


@study_page(Role.OWNER, is_open_when_archived=True)
@require_POST
def delete_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Delete the study after its short name was typed."""
    form = DeleteForm(request.POST)
    if form.is_valid():
        confirmation = form.cleaned_data["confirmation"]
        try:
            services.request_deletion(study=study, confirmation=confirmation, by=request.user)  # type: ignore[arg-type]
        except services.NotConfirmedError as error:
            form.add_error("confirmation", str(error))
        except StudyInUseError:
            return _show_manage(request, study, form, status=422)
        else:
            messages.success(request, f"“{study.title}” is being deleted.")
            return redirect("studies")
    return _show_manage(request, study, form, status=422)


def _show_manage(request: HttpRequest, study: Study, form: DeleteForm, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "archive_obstacles": obstacles(study, Closure.ARCHIVE),
        "delete_obstacles": obstacles(study, Closure.DELETE),
        "is_owner": request.study_role >= Role.OWNER,  # type: ignore[attr-defined]
        "section": "manage",
    }
    return render(request, "studies/study/manage.html", context, status=status)


@study_page(Role.REVIEWER)
@require_safe
def inbox_page(request: HttpRequest, _study: Study) -> HttpResponse:
    """Show what awaits a review, a screening or an answer."""
    return render(request, "studies/study/inbox.html", {"section": "inbox"})


@study_page(Role.VIEWER, is_open_when_archived=True)
def members(request: HttpRequest, study: Study) -> HttpResponse:
    """List the members; owners add one or change a role."""
    if request.method == "POST":
        return _set_role(request, study)
    return _show_members(request, study, MemberForm())


def _set_role(request: HttpRequest, study: Study) -> HttpResponse:
    """Set a user's role."""
    if request.study_role < Role.OWNER:  # type: ignore[attr-defined]
        raise PermissionDenied("Only owners can manage members.")
    form = MemberForm(request.POST)
    if not form.is_valid():
        return _show_members(request, study, form, status=422)
    try:
        services.set_role(study=study, user=form.user, role=form.cleaned_data["role"], by=request.user)  # type: ignore[arg-type]
    except services.LastOwnerError as error:
        form.add_error(None, str(error))
        return _show_members(request, study, form, status=422)
    messages.success(request, "{user} is now {role}.".format(user=form.user, role=form.cleaned_data["role"].label))
    return redirect("members", slug=study.slug)


@study_page(Role.OWNER, is_open_when_archived=True)
@require_POST
def remove_member(request: HttpRequest, study: Study, user_id: int) -> HttpResponse:
    """Remove a user from the study."""
    user = get_object_or_404(User, pk=user_id, memberships__study=study)
    try:
        services.remove_member(study=study, user=user)
    except services.LastOwnerError as error:
        messages.error(request, str(error))
    return redirect("members", slug=study.slug)


@study_page(Role.OWNER)
@require_POST
@never_cache
def invite_member(request: HttpRequest, study: Study) -> HttpResponse:
    """Invite a person, and show the link once."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _show_members(request, study, MemberForm(), invitation_form=form, status=422)
    try:
        created = invitations.invite(
            study=study,
            link_of=lambda token: request.build_absolute_uri(reverse("invitation", args=[token])),
            by=request.user,  # type: ignore[arg-type]
            now=timezone.now(),
            **form.order,
        )
    except invitations.InvitationError as error:
        form.add_error(None, str(error))
        return _show_members(request, study, MemberForm(), invitation_form=form, status=422)
    return _show_members(request, study, MemberForm(), created=created)


@study_page(Role.OWNER)
@require_POST
def revoke_invitation(request: HttpRequest, study: Study, invitation: int) -> HttpResponse:
    """Revoke an invitation."""
    if invitations.revoke(study=study, invitation=invitation, by=request.user, now=timezone.now()):  # type: ignore[arg-type]
        messages.success(request, "The invitation is revoked. Its link no longer works.")
    else:
        messages.warning(request, "This invitation is not pending any more.")
    return redirect("members", slug=study.slug)


def _show_members(
    request: HttpRequest,
    study: Study,
    form: MemberForm,
    *,
    invitation_form: InvitationForm | None = None,
    created: invitations.NewInvitation | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the page."""
    memberships = study.memberships.select_related("user").order_by("-role", "user__email", "id")
    context = {
        "memberships": memberships,
        "form": form,
        "invitation_form": invitation_form or InvitationForm(),
        "created": created,
        "pending": study.invitations.pending(timezone.now())
        .select_related("created_by")
        .order_by("-created_at", "-pk"),
        "has_mail_server": settings.HAS_MAIL_SERVER,
        "section": "members",
        "may_change": request.study_role >= Role.OWNER,  # type: ignore[attr-defined]
    }
    return render(request, "studies/study/members.html", context, status=status)
