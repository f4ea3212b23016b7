"""Pages of saved replies."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from ..access import study_page
from ..enums import ReplyKind, Role
from ..study.models import Study
from . import services
from .forms import SavedReplyForm
from .models import SavedReply


@study_page(Role.REVIEWER)
@require_safe
def saved_replies(request: HttpRequest, study: Study) -> HttpResponse:
    """List the saved replies of a study."""
    replies = services.by_kind(study)
    rows = [(kind.label, replies[kind]) for kind in ReplyKind if kind in replies]
    return render(request, "studies/saved_replies/list.html", {"rows": rows, "section": "inbox"})


@study_page(Role.REVIEWER)
def edit_saved_reply(request: HttpRequest, study: Study, reply_id: int | None = None) -> HttpResponse:
    """Add a saved reply, or change one."""
    reply = get_object_or_404(SavedReply, study=study, pk=reply_id) if reply_id is not None else None
    initial = {name: getattr(reply, name) for name in ("kind", "title", "text")} if reply else None
    form = SavedReplyForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        kind = ReplyKind(form.cleaned_data["kind"])
        title, text = form.cleaned_data["title"], form.cleaned_data["text"]
        try:
            services.save(
                study=study,
                reply=reply,
                kind=kind,
                title=title,
                text=text,
                by=request.user,  # type: ignore[arg-type]
                now=timezone.now(),
            )
        except services.SavedReplyError as error:
            form.add_error("title", str(error))
        else:
            messages.success(request, "Saved reply stored.")
            return redirect("saved_replies", study.slug)
    context = {"form": form, "reply": reply, "section": "inbox"}
    return render(request, "studies/saved_replies/edit.html", context, status=422 if form.errors else 200)


@study_page(Role.REVIEWER)
@require_POST
def delete_saved_reply(request: HttpRequest, study: Study, reply_id: int) -> HttpResponse:
    """Delete a saved reply."""
    services.delete(reply=get_object_or_404(SavedReply, study=study, pk=reply_id))
    messages.success(request, "Saved reply deleted.")
    return redirect("saved_replies", study.slug)
