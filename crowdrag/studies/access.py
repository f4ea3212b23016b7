"""Who may open what. Every view wears one of these; a test walks the URLs and fails on one that does not.

Researchers' pages: `study_page(role)`, `signed_in`, `operator_page`. Pages of people who take part:

- `participant_page`: whoever their link let in, consent or not (own page, consent page, asking, withdrawing).
- `consented_page("writing")`: those who also consented to the text of this activity (`activities.Activity`) and have
  not withdrawn. **Whatever records something, or shows the work itself, wears this one.** It is a `participant_page`
  and calls the view with the participant in place of the slug. For an activity that is open by link only, whoever came
  by no link that is for it learns no more than that it is not theirs. Whoever has not consented to the version that
  holds now is sent to the consent page, and comes from there to the activity's start; whoever withdrew, to their own
  page. A request that carries JSON is not redirected: it gets 403 with
  `{"problem": "consent" | "withdrawn", "next": address}`, and consent to an earlier version of the text is enough for
  it, so that nobody loses what they are in the middle of when a researcher changes the text.

`public_to_read` is for pages that anybody may open and nobody can send anything to, `public` for the rest.

A page that shows what people who take part gave wears `audited(what)` below its `study_page`: whoever opens it is noted
by the audit sinks that are registered (the audit log is one). The view says whom it is about with `audit_subject`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_safe

from crowdrag import prepared_statements, request_limits

from . import activities, page_language
from .enums import AuditedContent, ParticipantKind, Role
from .models import Participant, Study
from .navigation import inbox
from .participants import consents

View = Callable[..., HttpResponseBase]
# Called with `by`, `study`, `what`, `page`, and the keys of `participant` and `thing` (or None), when somebody was
# shown something.
AuditSink = Callable[..., object]
# Answers that show nothing: another page, or none.
UNAUDITED_STATUSES = {204, 301, 302, 303}
_audit_sinks: list[AuditSink] = []
# In the session: study's key (as a string, since sessions are JSON) -> participant's key.
SESSION_PARTICIPANTS = "participants"
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
ARCHIVED = "This study is archived, so it cannot be changed. An owner can restore it."
# Asked for with every answer of everybody who takes part.
_PARTICIPANT_SQL = f"""
    SELECT {prepared_statements.columns(Participant, "person")}, {prepared_statements.columns(Study, "study")}
    FROM studies_participant person JOIN studies_study study ON study.id = person.study_id
    WHERE person.id = ANY(%(keys)s::bigint[]) AND study.slug = %(slug)s AND person.erased_at IS NULL
    AND study.deletion_requested_at IS NULL
    ORDER BY person.id LIMIT 1
"""  # noqa: S608 -- names of columns
_PARTICIPANT_COLUMNS = len(Participant._meta.concrete_fields)


def study_page(role: Role, *, max_bytes: int = 0, is_open_when_archived: bool = False) -> Callable[[View], View]:
    """Let members of at least this role in; the view gets the study in place of its slug.

    Whoever is no member learns nothing: 404, as for a study that is not there. A member whose role is too low: 403.
    A page that takes files says how large a request may be (`max_bytes`). Looking for a form's token reads the whole
    request, so such a page asks who somebody is first, then for the size, and then for the token.

    In an archived study pages are read, and nothing is sent, except where a page is open nevertheless.
    """

    def decorate(view: View) -> View:
        answer = csrf_protect(view) if max_bytes else view

        @login_required
        @wraps(view)
        def checked(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
            study = get_object_or_404(Study.objects.for_user(request.user).with_role(request.user), slug=slug)
            held = Role.OWNER if request.user.is_superuser else study.role  # type: ignore[attr-defined]
            if held < role:
                raise PermissionDenied(f"This page is for members who are {role.label} or more.")
            request.study, request.study_role = study, held  # type: ignore[attr-defined]
            request.inbox = SimpleLazyObject(lambda: inbox(study, request.user))  # type: ignore[attr-defined,arg-type]
            if study.is_archived and request.method not in SAFE_METHODS and not is_open_when_archived:
                raise PermissionDenied(ARCHIVED)
            refused = request_limits.refusal(request, max_bytes) if max_bytes else None
            return refused or answer(request, study, *args, **kwargs)

        checked.access = role  # type: ignore[attr-defined]
        checked.checks_body = max_bytes > 0  # type: ignore[attr-defined]
        return csrf_exempt(checked) if max_bytes else checked

    return decorate


def signed_in(view: View) -> View:
    """Let any signed-in user in."""
    checked = login_required(view)
    checked.access = "signed in"  # type: ignore[attr-defined]
    return checked


def public(view: View) -> View:
    """Let anybody in."""

    @wraps(view)
    def marked(*args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(*args, **kwargs)

    marked.access = "public"  # type: ignore[attr-defined]
    return marked


def public_to_read(view: View) -> View:
    """Let anybody in who reads. Whoever sends something learns that this cannot be (405), and not that a token lacks.

    Only here may nobody be asked for a form's token: there is nothing that another site's form could do.
    """
    return csrf_exempt(public(require_safe(view)))


def operator_page(view: View) -> View:
    """Let operators (staff) in."""

    @login_required
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_staff:
            raise PermissionDenied("This page is for operators.")
        return view(request, *args, **kwargs)

    checked.access = "operator"  # type: ignore[attr-defined]
    return checked


def participant_page(view: View) -> View:
    """Let in who takes part in the study `<slug:taking_part>`; the view gets the participant in place of the slug.

    Participants have no accounts: their link put them into the session (`remember_participant`). Whoever comes without
    is told to open their link again, with 403; so is everybody for a study that is not there. The page is in the
    study's language.
    """

    @wraps(view)
    def checked(request: HttpRequest, taking_part: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
        participant = _session_participant(request, taking_part)
        if participant is None:
            page_language.activate_browser_language(request)
            return render(request, "studies/entry/open_link_again.html", status=403)
        request.participant = participant  # type: ignore[attr-defined]
        page_language.activate_study_language(participant.study)
        return view(request, participant, *args, **kwargs)

    checked.access = "participant"  # type: ignore[attr-defined]
    return checked


def consented_page(activity: str) -> Callable[[View], View]:
    """Let in who takes part and consented to the text of this activity; the view gets the participant, as above.

    `activity` may name arguments of the address in braces: `judging-{campaign_id}`.
    """

    def decorate(view: View) -> View:
        @participant_page
        @wraps(view)
        def checked(request: HttpRequest, participant: Participant, *args: Any, **kwargs: Any) -> HttpResponseBase:
            name = activity.format(**kwargs)
            return _refuse_or_redirect(request, participant, name) or view(request, participant, *args, **kwargs)

        return checked

    return decorate


def register_audit_sink(sink: AuditSink) -> None:
    """Have everything noted that somebody is shown of people who take part; called once from an app's `ready`."""
    _audit_sinks.append(sink)


def audited(what: AuditedContent) -> Callable[[View], View]:
    """Note who opens a page of a study that shows what people gave; stands below `study_page`.

    The view's first argument is the study, or something of it.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def noted(request: HttpRequest, of: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            response = view(request, of, *args, **kwargs)
            if response.status_code not in UNAUDITED_STATUSES:
                record_access(request, of if isinstance(of, Study) else of.study, what)
            return response

        noted.shows = what  # type: ignore[attr-defined]
        return noted

    return decorate


def audit_subject(request: HttpRequest, participant: Participant | None, work_key: int | None = None) -> None:
    """Say whom the page is about that is being answered, and by its key which piece of their work."""
    request.concerns = (participant, work_key)  # type: ignore[attr-defined]


def record_access(request: HttpRequest, study: Study | None, what: AuditedContent) -> None:
    """Tell the audit sinks what the user was shown. What models and systems gave is nobody's to protect."""
    participant, work_key = getattr(request, "concerns", (None, None))
    if participant is not None and participant.kind in {ParticipantKind.MODEL, ParticipantKind.SYSTEM}:
        return
    page = request.resolver_match.view_name if request.resolver_match else ""
    for sink in _audit_sinks:
        sink(
            by=request.user,
            study=study,
            content=what,
            page=page,
            participant=participant.pk if participant else None,
            work_key=work_key,
        )


def remember_participant(request: HttpRequest, participant: Participant) -> None:
    """Keep in the session that this browser is this participant's; one participant a study."""
    known = request.session.get(SESSION_PARTICIPANTS, {})
    request.session[SESSION_PARTICIPANTS] = known | {str(participant.study_id): participant.pk}


def current_participant(request: HttpRequest, study: Study) -> Participant | None:
    """Return who this browser is in a study, if it knows."""
    return _session_participant(request, study.slug)


def forget_participant(request: HttpRequest, participant: Participant) -> None:
    """Take the participant out of the session."""
    known = request.session.get(SESSION_PARTICIPANTS, {})
    request.session[SESSION_PARTICIPANTS] = {study: key for study, key in known.items() if key != participant.pk}


def _refuse_or_redirect(request: HttpRequest, participant: Participant, name: str) -> HttpResponseBase | None:
    """Return where somebody goes who may not work on yet, or no longer; None for whoever may."""
    slug, as_json = participant.study.slug, request.content_type == "application/json"
    activity = activities.get_for(participant, name)
    offer = activity.offer(participant.study) if activity else None
    if participant.withdrawn_at or offer is None:
        problem, target = "withdrawn", reverse("participant_dashboard", args=[slug])
    else:
        suffices = consents.is_given_to_any_version if as_json else consents.is_given
        if suffices(participant=participant, text=offer.consent_text):
            return None
        problem, target = "consent", f"{reverse('participant_consent', args=[slug])}?way={name}"
    return JsonResponse({"problem": problem, "next": target}, status=403) if as_json else redirect(target)


def _session_participant(request: HttpRequest, slug: str) -> Participant | None:
    keys = request.session.get(SESSION_PARTICIPANTS, {}).values()
    if not keys:
        return None
    row = prepared_statements.row(_PARTICIPANT_SQL, {"keys": prepared_statements.array(list(keys)), "slug": slug})
    if row is None:
        return None
    participant = prepared_statements.instance(Participant, row[:_PARTICIPANT_COLUMNS])
    participant.study = prepared_statements.instance(Study, row[_PARTICIPANT_COLUMNS:])
    return participant
