"""What the platform must do: approve, reject, screen out, pay a bonus, open places. Requested here, sent by the outbox.

It is checked before it is written down, written down once under its key, in the caller's own transaction. Nothing here
locks anything that a listener may hold (docs/guides/prolific.md, "Order of locks"): the caller may hold its own rows.
Reviews request actions without asking what is possible: what they decide waits until the person hands in there. A
person at a page sees the state, so nothing is offered that the platform would refuse, and nothing is paid that nobody
meant. With `due_at` an action waits until that moment, and can be cancelled until then.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import CharField, Value
from django.db.models.functions import Cast, Concat

from crowdrag.studies.models import Arrival, Participant, Study, User

from .completion_codes import SCREENED_OUT
from .enums import ActionKind, ActionState, RejectionCategory, SubmissionStatus
from .models import PlatformAction, PlatformStudy, Submission

LEAST_MESSAGE = 100
MOST_MESSAGE = 2000


class ActionError(ValueError):
    """Something that the platform is not told; the message says why."""


class NotFromPlatformError(ActionError):
    """The visit is none of a platform's study of this way."""

    def __init__(self) -> None:
        super().__init__("This person did not come from a platform study created in CrowdRAG.")


class AlreadyRequestedError(ActionError):
    """The same key stands for another action."""

    def __init__(self) -> None:
        super().__init__("A different action already exists under this name. Nothing was changed.")


class ShortMessageError(ActionError):
    """The platform wants a rejection explained at length."""

    def __init__(self, length: int) -> None:
        super().__init__(
            f"Prolific requires at least {LEAST_MESSAGE} characters to explain a rejection. You entered {length}."
        )


class LongMessageError(ActionError):
    """More than anybody reads."""

    def __init__(self) -> None:
        super().__init__(f"The message must have at most {MOST_MESSAGE} characters.")


class BadCategoryError(ActionError):
    """The platform does not sort rejections so."""

    def __init__(self) -> None:
        super().__init__("Choose one of the platform's reasons for a rejection.")


class BadAmountError(ActionError):
    """No amount that can be paid."""

    def __init__(self) -> None:
        super().__init__("The bonus must be more than 0 and not too large to store.")


class BadPlacesError(ActionError):
    """Places go up only."""

    def __init__(self, places: int) -> None:
        super().__init__(f"There are already {places} places. You cannot reduce the number on the platform.")


class NoScreenOutError(ActionError):
    """The study was made without a code for it."""

    def __init__(self) -> None:
        super().__init__("This study has no screen-out payment. Pay a bonus instead.")


class NotPossibleError(ActionError):
    """The visit's state does not allow it."""

    def __init__(self, submission: Submission, kind: ActionKind) -> None:
        status = submission.get_status_display() if submission.status else "not known yet"
        super().__init__(
            f"“{kind.label}” was not sent. The submission is {status} on Prolific, or the action already exists."
        )


class NothingToRetryError(ActionError):
    """Only what failed is sent again."""

    def __init__(self) -> None:
        super().__init__("This action does not need your attention.")


_Status = SubmissionStatus
#: Work that ended may be paid a bonus, whatever was decided, and so may the time of who returned a place.
_ENDED: Final = frozenset({ActionKind.BONUS})
BY_STATUS: Final[Mapping[str, frozenset[ActionKind]]] = {
    _Status.AWAITING_REVIEW: frozenset(
        {ActionKind.APPROVE, ActionKind.SCREEN_OUT, ActionKind.BONUS, ActionKind.REJECT}
    ),
    _Status.TIMED_OUT: frozenset({ActionKind.APPROVE, ActionKind.BONUS}),
    _Status.RETURNED: _ENDED,
    _Status.APPROVED: _ENDED,
    _Status.PARTIALLY_APPROVED: _ENDED,
    _Status.SCREENED_OUT: _ENDED,
    _Status.REJECTED: _ENDED,
}
_DECISIONS: Final = frozenset({ActionKind.APPROVE, ActionKind.SCREEN_OUT, ActionKind.REJECT})
_UNDER_WAY: Final = (ActionState.WAITING, ActionState.SENDING, ActionState.UNKNOWN, ActionState.DONE)


def possible_actions(submission: Submission) -> frozenset[ActionKind]:
    """Return the actions that are possible on a visit now: none while it goes on, or before the platform reports it."""
    kinds = BY_STATUS.get(submission.status, frozenset())
    if submission.platform_study.screen_out_reward is None:
        kinds -= {ActionKind.SCREEN_OUT}
    requested = PlatformAction.objects.filter(submission=submission, kind__in=_DECISIONS, state__in=_UNDER_WAY)
    return kinds - frozenset(ActionKind(kind) for kind in requested.values_list("kind", flat=True))


def check_possible(submission: Submission, kind: ActionKind) -> None:
    """Raise `NotPossibleError` for an action that is not possible on a visit now."""
    if kind not in possible_actions(submission):
        raise NotPossibleError(submission, kind)


LARGEST_AMOUNT: Final = 10_000_000
LONGEST_KEY: Final = 200


def approve(
    *,
    study: Study,
    purpose: str,
    session: str,
    key: str,
    now: datetime,
    by: User | None = None,
    participant: Participant | None = None,
    due_at: datetime | None = None,
) -> PlatformAction:
    """Have somebody paid the reward."""
    submission = _submission(study, purpose, session, now)
    return _decide(submission, ActionKind.APPROVE, {}, key, now, by, participant, due_at)


def reject(
    *,
    study: Study,
    purpose: str,
    session: str,
    category: str,
    message: str,
    key: str,
    now: datetime,
    by: User | None = None,
    participant: Participant | None = None,
    due_at: datetime | None = None,
) -> PlatformAction:
    """Have somebody paid nothing, with the reason that they are told. There is no way back on the platform."""
    message = message.replace("\x00", "").strip()
    if category not in RejectionCategory.values:
        raise BadCategoryError
    if len(message) < LEAST_MESSAGE:
        raise ShortMessageError(len(message))
    if len(message) > MOST_MESSAGE:
        raise LongMessageError
    submission = _submission(study, purpose, session, now)
    details = {"category": category, "message": message}
    return _decide(submission, ActionKind.REJECT, details, key, now, by, participant, due_at)


def screen_out(
    *,
    study: Study,
    purpose: str,
    session: str,
    key: str,
    now: datetime,
    by: User | None = None,
    participant: Participant | None = None,
) -> PlatformAction:
    """Have somebody paid the fixed part for being screened out."""
    submission = _submission(study, purpose, session, now)
    if SCREENED_OUT not in submission.platform_study.codes:
        raise NoScreenOutError
    return _decide(submission, ActionKind.SCREEN_OUT, {}, key, now, by, participant)


def grant_bonus(
    *,
    study: Study,
    purpose: str,
    session: str,
    amount: int,
    reason: str,
    key: str,
    now: datetime,
    by: User | None = None,
    participant: Participant | None = None,
    due_at: datetime | None = None,
) -> PlatformAction:
    """Have somebody paid more, in minor units of the study's currency; once for a key, whatever is lost on the way."""
    if not 0 < amount <= LARGEST_AMOUNT:
        raise BadAmountError
    submission = _submission(study, purpose, session, now)
    details = {"amount": amount, "reason": reason.replace("\x00", "").strip()[:300]}
    platform_study = submission.platform_study
    return _request_action(platform_study, submission, ActionKind.BONUS, details, key, now, by, participant, due_at)


def increase_places(
    *, study: Study, purpose: str, to: int, key: str, now: datetime, by: User | None = None
) -> PlatformAction:
    """Have the newest study of a way let in more people: `to` so many in all. Places only ever go up."""
    platform_study = current_platform_study(study, purpose)
    if platform_study is None:
        raise NotFromPlatformError
    known = PlatformAction.objects.filter(platform_study=platform_study, key=key[:LONGEST_KEY]).exists()
    if not known and not platform_study.places < to <= LARGEST_AMOUNT:
        raise BadPlacesError(platform_study.places)
    return _request_action(platform_study, None, ActionKind.PLACES, {"to": to}, key, now, by, None)


def retry(*, action: PlatformAction, now: datetime) -> PlatformAction:
    """Send a failed action again, after a person looked at what is wrong.

    Of a bonus of unknown outcome this says: it was looked up, and it was not paid.
    """
    rows = PlatformAction.objects.filter(pk=action.pk, state=ActionState.FAILED)
    progress = {name: value for name, value in action.progress.items() if name != "paying"}
    if not rows.update(state=ActionState.WAITING, due_at=now, tries=0, error="", progress=progress):
        raise NothingToRetryError
    action.refresh_from_db()
    return action


def drop(*, action: PlatformAction, now: datetime) -> PlatformAction:
    """Give up an action that was not sent, or that a person settled on the platform."""
    rows = PlatformAction.objects.filter(pk=action.pk, state__in=[ActionState.WAITING, ActionState.FAILED])
    if not rows.update(state=ActionState.DROPPED, done_at=now):
        raise NothingToRetryError
    action.refresh_from_db()
    return action


def cancel(*, study: Study, keys: Collection[str], due_at: datetime, now: datetime) -> bool:
    """Give up actions that were requested for a later moment, before it comes; say whether none was begun.

    Only those of these keys that are due at this very moment are meant: the same key may have been requested before.
    Their keys are free again, so that the same thing can be requested in other words.
    """
    rows = PlatformAction.objects.filter(platform_study__study=study, key__in=keys, due_at=due_at)
    free = Concat(Value("cancelled-"), Cast("pk", CharField()))
    rows.filter(state=ActionState.WAITING).update(state=ActionState.DROPPED, done_at=now, key=free)
    return not rows.exclude(state=ActionState.DROPPED).exists()


def current_platform_study(study: Study, purpose: str) -> PlatformStudy | None:
    """Return the newest study on the platform of a way."""
    rows = PlatformStudy.objects.filter(study=study, purpose=purpose)
    return rows.select_related("study", "link").order_by("-created_at", "-pk").first()


def is_platform_visit(*, study: Study, purpose: str, session: str) -> bool:
    """Return whether a visit came by a platform study that was made here, so that actions on it can be requested."""
    return bool(session) and _platform_study(study, purpose, session) is not None


def latest_visit(*, participant: Participant, purpose: str) -> tuple[PlatformStudy, str] | None:
    """Return somebody's latest visit to a way by a study that was made here: the study, and the session."""
    arrivals = Arrival.objects.filter(participant=participant, link__platform_study__purpose=purpose)
    came = arrivals.exclude(session="").order_by("-last_at", "-pk").first()
    studies = PlatformStudy.objects.select_related("study", "link")
    if came is not None:
        return studies.get(link=came.link_id), came.session
    # Of whoever had everything erased the arrivals are gone; what is still to be paid is kept.
    known = Submission.objects.filter(participant=participant, platform_study__purpose=purpose).order_by("-pk").first()
    return (studies.get(pk=known.platform_study_id), known.external_id) if known else None


def _platform_study(study: Study, purpose: str, session: str) -> PlatformStudy | None:
    rows = PlatformStudy.objects.filter(study=study, purpose=purpose).select_related("study", "link")
    known = rows.filter(submissions__external_id=session).order_by("-pk").first()
    if known is not None:
        return known
    arrival = Arrival.objects.filter(link__platform_study__in=rows, session=session).order_by("-pk").first()
    return rows.get(link=arrival.link_id) if arrival else None


def _submission(study: Study, purpose: str, session: str, now: datetime) -> Submission:
    platform_study = _platform_study(study, purpose, session) if session else None
    if platform_study is None:
        raise NotFromPlatformError
    # Whose it is, the platform says when it is heard of. To refer to the participant here would lock their row, which
    # must not be asked for by whoever holds an assignment.
    submission, _new = Submission.objects.select_related("platform_study").get_or_create(
        platform_study=platform_study, external_id=session, defaults={"first_heard_at": now}
    )
    return submission


def _decide(
    submission: Submission,
    kind: ActionKind,
    details: dict[str, Any],
    key: str,
    now: datetime,
    by: User | None,
    participant: Participant | None,
    due_at: datetime | None = None,
) -> PlatformAction:
    """Request a decision; an earlier one that was not sent yet is dropped. The last one holds."""
    with transaction.atomic():
        platform_study = submission.platform_study
        action = _request_action(platform_study, submission, kind, details, key, now, by, participant, due_at)
        if action.state == ActionState.DROPPED:
            # Decided so, then otherwise, now so again.
            PlatformAction.objects.filter(pk=action.pk, state=ActionState.DROPPED).update(
                state=ActionState.WAITING, due_at=due_at or now, done_at=None, tries=0, error=""
            )
            action.refresh_from_db()
        if action.state == ActionState.WAITING:
            others = PlatformAction.objects.filter(
                submission=submission,
                kind__in=[ActionKind.APPROVE, ActionKind.REJECT, ActionKind.SCREEN_OUT],
                state__in=[ActionState.WAITING, ActionState.FAILED],
            )
            others.exclude(pk=action.pk).update(state=ActionState.DROPPED, done_at=now)
    return action


def _request_action(
    platform_study: PlatformStudy,
    submission: Submission | None,
    kind: ActionKind,
    details: dict[str, Any],
    key: str,
    now: datetime,
    by: User | None,
    participant: Participant | None,
    due_at: datetime | None = None,
) -> PlatformAction:
    if participant is not None:
        details = details | {"participant": participant.pk}
    action, is_new = PlatformAction.objects.get_or_create(
        platform_study=platform_study,
        key=key[:LONGEST_KEY],
        defaults={
            "submission": submission,
            "kind": kind,
            "details": details,
            "due_at": due_at or now,
            "created_at": now,
            "created_by": by,
        },
    )
    same = (action.kind, action.submission_id, action.details) == (kind, submission and submission.pk, details)
    if not is_new and not same:
        raise AlreadyRequestedError
    return action
