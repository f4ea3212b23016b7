"""Access control of views: each view has one of these decorators. A test walks the URLs and fails on a view without.

Researchers' pages: `study_page(role)`, `signed_in`, `operator_page`. Participants' pages:

- `participant_page`: everybody who entered by a link, with or without consent (dashboard, consent page, messages,
  withdrawal).
- `consented_page("writing")`: participants who also consented to the text of this activity (`activities.Activity`) and
  have not withdrawn. **Every view that records something or shows the work itself uses this one.** It is a
  `participant_page` and calls the view with the participant in place of the slug. If an activity is open by link only,
  participants who did not enter by a link for it learn only that it is not theirs. Participants who have not consented
  to the current version are redirected to the consent page, and from there to the start of the activity. Participants
  who withdrew are redirected to their dashboard. A JSON request is not redirected: it gets 403 with
  `{"problem": "consent" | "withdrawn", "next": address}`. For it, consent to an earlier version of the text is enough,
  so that nobody loses unsaved work when a researcher changes the text.

`public_to_read` is for pages that anybody may open and that accept no data, `public` for the rest.

A page that shows data of participants has `audited(what)` below its `study_page`: each access is recorded by the
registered audit sinks (the audit log is one). The view names the participant with `audit_subject`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_safe

from crowdrag import prepared_statements, request_limits, sessions

from . import activities, page_language
from .enums import AuditedContent, ParticipantKind, Role
from .models import Participant, Study
from .navigation import inbox
from .participants import consents

View = Callable[..., HttpResponseBase]
Row = prepared_statements.Row


@dataclass(frozen=True)
class OwnRow:
    """A row that belongs to a participant and is read along with them: `join` joins it to the table `person`.

    The first of its `columns` is its key. `parameters` returns those of the join from the arguments of the URL.
    """

    columns: str
    join: str
    parameters: Callable[..., dict[str, Any]]


# Responds to a request by one statement with these parameters, or returns None.
AtOnce = Callable[[HttpRequest, dict[str, Any]], HttpResponseBase | None]
# Called for each access with `by`, `study`, `what`, `page`, and the keys of `participant` and `thing` (or None).
AuditSink = Callable[..., object]
# Responses that show no data: redirects, or no content.
UNAUDITED_STATUSES = {204, 301, 302, 303}
_audit_sinks: list[AuditSink] = []
# Session entry: study's key (as a string, since sessions are JSON) -> participant's key.
SESSION_PARTICIPANTS = "participants"
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_PARTICIPANT_COLUMNS, _STUDY_COLUMNS = len(Participant._meta.concrete_fields), len(Study._meta.concrete_fields)


def _participant_sql(columns: str = "", join: str = "") -> str:
    """Return the statement that every request of every participant starts with."""
    theirs = f"{prepared_statements.columns(Participant, 'person')}, {prepared_statements.columns(Study, 'study')}"
    return f"""
        SELECT {theirs}{columns}
        FROM studies_participant person JOIN studies_study study ON study.id = person.study_id {join}
        WHERE person.id = ANY(%(keys)s::bigint[]) AND study.slug = %(slug)s AND person.erased_at IS NULL
        AND study.deletion_requested_at IS NULL
        ORDER BY person.id LIMIT 1
    """  # noqa: S608 -- names of columns


_PARTICIPANT_SQL = _participant_sql()

# The participant of a session, for a statement that does all that a request needs. It finds nobody if the session has
# ended or changed since this process read it, or if `_participant_sql` or `withdrawn_at` would keep them out.
VISITOR = """
    visitor AS (
        SELECT person.id FROM studies_participant person JOIN studies_study study ON study.id = person.study_id
        WHERE person.id = ANY(%(keys)s::bigint[]) AND study.slug = %(slug)s
            AND person.erased_at IS NULL AND person.withdrawn_at IS NULL AND study.deletion_requested_at IS NULL
            AND EXISTS (
                SELECT FROM django_session session
                WHERE session.session_key = %(session)s AND session.session_data = %(stored_session)s
                    AND session.expire_date > %(now)s
            )
        ORDER BY person.id LIMIT 1
    )"""

ARCHIVED = "This study is archived, so it cannot be changed. An owner can restore it."


class OperatorsOnlyError(PermissionDenied):
    """Only operators may open the page."""

    def __init__(self) -> None:
        super().__init__("This page is for operators, who run this CrowdRAG server. Your account is not an operator's.")


class ArchivedStudyError(PermissionDenied):
    """The study is archived, so nobody may change it."""

    def __init__(self) -> None:
        super().__init__(ARCHIVED)


def study_page(role: Role, *, max_bytes: int = 0, is_open_when_archived: bool = False) -> Callable[[View], View]:
    """Let in members with at least this role; the view gets the study in place of its slug.

    Non-members get 404, as for a study that does not exist, so that they learn nothing. Members with a lower role get
    403. A page that accepts files gives the maximum size of a request (`max_bytes`). The check of the CSRF token reads
    the whole request, so such a page checks the user first, then the size, and then the token.

    In an archived study, pages can only be read, except pages that are explicitly open.
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
                raise ArchivedStudyError
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
    """Let everybody in."""

    @wraps(view)
    def marked(*args: Any, **kwargs: Any) -> HttpResponseBase:
        return view(*args, **kwargs)

    marked.access = "public"  # type: ignore[attr-defined]
    return marked


def public_to_read(view: View) -> View:
    """Let everybody read. A request that sends data gets 405, instead of an error about a missing CSRF token.

    Only these pages need no CSRF token: a form on another site could do nothing here.
    """
    return csrf_exempt(public(require_safe(view)))


def operator_page(view: View) -> View:
    """Let operators (staff) in."""

    @login_required
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_staff:
            raise OperatorsOnlyError
        return view(request, *args, **kwargs)

    checked.access = "operator"  # type: ignore[attr-defined]
    return checked


def participant_page(view: View) -> View:
    """Let in participants of the study `<slug:taking_part>`; the view gets the participant in place of the slug.

    Participants have no accounts: their link put them into the session (`remember_participant`). Visitors without a
    session get 403 and are asked to open their link again, as does everybody for a study that does not exist. The page
    is in the study's language.
    """

    @wraps(view)
    def checked(request: HttpRequest, taking_part: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
        participant = _session_participant(request, taking_part)
        return _let_in(request, participant) or view(request, participant, *args, **kwargs)

    checked.access = "participant"  # type: ignore[attr-defined]
    return checked


def own_row_page(own: OwnRow, at_once: AtOnce | None = None) -> Callable[[View], View]:
    """Let in participants like `participant_page`, and read a row of theirs in the same statement.

    The view gets the participant, and the row in place of the arguments of the URL. Without such a row, it is 404.

    `at_once` may respond to a POST in place of the view by one statement that begins with `VISITOR`, and so checks the
    session and the participant itself. It gets the statement's parameters so far, with those of the row. If it returns
    None, nothing was decided, and the page is handled as usual.
    """
    statement = _participant_sql(f", {own.columns}", own.join)

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, taking_part: str, **kwargs: Any) -> HttpResponseBase:
            visitor = _visitor_parameters(request, taking_part) if at_once and request.method == "POST" else None
            if at_once and visitor and (response := at_once(request, visitor | own.parameters(**kwargs))):
                return response
            row = _session_row(request, statement, {"slug": taking_part} | own.parameters(**kwargs)) or ()
            participant, own_row = _read_participant(row), row[_PARTICIPANT_COLUMNS + _STUDY_COLUMNS :]
            if refused := _let_in(request, participant):
                return refused
            if own_row[0] is None:
                raise Http404
            return view(request, participant, own_row)

        checked.access = "participant"  # type: ignore[attr-defined]
        return checked

    return decorate


def _let_in(request: HttpRequest, participant: Participant | None) -> HttpResponseBase | None:
    """Set up a request for its participant; return the refusal of a visitor who is none."""
    if participant is None:
        page_language.activate_browser_language(request)
        return render(request, "studies/entry/open_link_again.html", status=403)
    request.participant = participant  # type: ignore[attr-defined]
    page_language.activate_study_language(participant.study)
    return None


def consented_page(activity: str) -> Callable[[View], View]:
    """Let in participants who consented to the text of this activity; the view gets the participant, as above.

    `activity` may name arguments of the URL in braces: `judging-{campaign_id}`.
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
    """Add a sink that records every access to participants' data; called once from an app's `ready`."""
    _audit_sinks.append(sink)


def audited(what: AuditedContent) -> Callable[[View], View]:
    """Record who opens a study page that shows participants' data; placed below `study_page`.

    The view's first argument is the study, or an object that belongs to it.
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
    """Set the participant, and the key of the piece of work, that the current page is about."""
    request.concerns = (participant, work_key)  # type: ignore[attr-defined]


def record_access(request: HttpRequest, study: Study | None, what: AuditedContent) -> None:
    """Tell the audit sinks what the user was shown. Data of models and systems need no protection: not recorded."""
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
    """Store the participant in the session; one participant per study."""
    known = request.session.get(SESSION_PARTICIPANTS, {})
    request.session[SESSION_PARTICIPANTS] = known | {str(participant.study_id): participant.pk}


def current_participant(request: HttpRequest, study: Study) -> Participant | None:
    """Return the participant of this browser in a study, if known."""
    return _session_participant(request, study.slug)


def forget_participant(request: HttpRequest, participant: Participant) -> None:
    """Remove the participant from the session."""
    known = request.session.get(SESSION_PARTICIPANTS, {})
    request.session[SESSION_PARTICIPANTS] = {study: key for study, key in known.items() if key != participant.pk}


def _refuse_or_redirect(request: HttpRequest, participant: Participant, name: str) -> HttpResponseBase | None:
    """Return the refusal or redirect for a participant who may not work; None if they may."""
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
    return _read_participant(_session_row(request, _PARTICIPANT_SQL, {"slug": slug}))


def _session_row(request: HttpRequest, statement: str, parameters: dict[str, Any]) -> Row | None:
    keys = request.session.get(SESSION_PARTICIPANTS, {}).values()
    if not keys:
        return None
    return prepared_statements.row(statement, {"keys": prepared_statements.array(list(keys))} | parameters)


def _visitor_parameters(request: HttpRequest, slug: str) -> dict[str, Any] | None:
    """Return the parameters of `VISITOR`; None if this process has not read the session lately."""
    key = request.session.session_key
    session = sessions.remembered(key)
    keys = session.content.get(SESSION_PARTICIPANTS, {}).values() if session else ()
    if session is None or not keys:
        return None
    return {
        "session": key,
        "stored_session": session.stored,
        "keys": prepared_statements.array(list(keys)),
        "slug": slug,
        "now": timezone.now(),
    }


def _read_participant(row: Row | None) -> Participant | None:
    if not row:
        return None
    participant = prepared_statements.instance(Participant, row[:_PARTICIPANT_COLUMNS])
    study_end = _PARTICIPANT_COLUMNS + _STUDY_COLUMNS
    participant.study = prepared_statements.instance(Study, row[_PARTICIPANT_COLUMNS:study_end])
    return participant
