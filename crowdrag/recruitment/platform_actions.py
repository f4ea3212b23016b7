"""Request actions on the platform: approve, reject, screen out, pay a bonus, add places. The outbox sends them.

An action is validated and then stored once under its key, in the caller's own transaction. Nothing here locks rows that
a listener may have locked (docs/guides/prolific.md, "Order of locks"): the caller may have locked its own rows. Reviews
request actions without checking whether they are possible: their decisions wait until the participant submits there. A
page shows the state, so that only possible actions are offered, and nothing is paid by mistake. With `due_at` an action
waits until that time, and can be cancelled until then.
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
    """An action that is not sent; the message says why."""


class NotFromPlatformError(ActionError):
    """The visit does not belong to a platform study of this activity."""

    def __init__(self) -> None:
        super().__init__("This person did not come from a platform study created in CrowdRAG.")


class AlreadyRequestedError(ActionError):
    """The same key was used for another action."""

    def __init__(self) -> None:
        super().__init__("A different action already exists under this name. Nothing was changed.")


class ShortMessageError(ActionError):
    """The platform requires a longer explanation of a rejection."""

    def __init__(self, length: int) -> None:
        super().__init__(
            f"Prolific requires at least {LEAST_MESSAGE} characters to explain a rejection. You entered {length}."
        )


class LongMessageError(ActionError):
    """The message is too long."""

    def __init__(self) -> None:
        super().__init__(f"The message must have at most {MOST_MESSAGE} characters.")


class BadCategoryError(ActionError):
    """The platform has no such category of rejection."""

    def __init__(self) -> None:
        super().__init__("Choose one of the platform's reasons for a rejection.")


class BadAmountError(ActionError):
    """The amount cannot be paid."""

    def __init__(self) -> None:
        super().__init__("The bonus must be more than 0 and not too large to store.")


class BadPlacesError(ActionError):
    """The number of places can only increase."""

    def __init__(self, places: int) -> None:
        super().__init__(f"There are already {places} places. You cannot reduce the number on the platform.")


class NoScreenOutError(ActionError):
    """The study was created without a screen-out code."""

    def __init__(self) -> None:
        super().__init__("This study has no screen-out payment. Pay a bonus instead.")


class NotPossibleError(ActionError):
    """The state of the submission does not allow the action."""

    def __init__(self, submission: Submission, kind: ActionKind) -> None:
        status = submission.get_status_display() if submission.status else "not known yet"
        super().__init__(
            f"“{kind.label}” was not sent. The submission is {status} on Prolific, or the action already exists."
        )


class NothingToRetryError(ActionError):
    """Only failed actions can be sent again."""

    def __init__(self) -> None:
        super().__init__("This action does not need your attention.")


_Status = SubmissionStatus
#: Submissions that have ended may get a bonus, whatever was decided; so may participants who returned a place.
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
    """Return the actions that are currently possible: none while a visit is in progress or not yet reported."""
    kinds = BY_STATUS.get(submission.status, frozenset())
    if submission.platform_study.screen_out_reward is None:
        kinds -= {ActionKind.SCREEN_OUT}
    requested = PlatformAction.objects.filter(submission=submission, kind__in=_DECISIONS, state__in=_UNDER_WAY)
    return kinds - frozenset(ActionKind(kind) for kind in requested.values_list("kind", flat=True))


def check_possible(submission: Submission, kind: ActionKind) -> None:
    """Raise `NotPossibleError` for an action that is currently not possible."""
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
    """Request that the participant is paid the reward."""
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
    """Request that the participant is not paid, with the reason that they are told. Irreversible on the platform."""
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
    """Request that the participant is paid the fixed part for being screened out."""
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
    """Request a bonus, in minor units of the study's currency; paid once per key, even if requests are lost."""
    if not 0 < amount <= LARGEST_AMOUNT:
        raise BadAmountError
    submission = _submission(study, purpose, session, now)
    details = {"amount": amount, "reason": reason.replace("\x00", "").strip()[:300]}
    platform_study = submission.platform_study
    return _request_action(platform_study, submission, ActionKind.BONUS, details, key, now, by, participant, due_at)


def increase_places(
    *, study: Study, purpose: str, to: int, key: str, now: datetime, by: User | None = None
) -> PlatformAction:
    """Request more places in the newest study of an activity: `to` is the new total. It can only increase."""
    platform_study = current_platform_study(study, purpose)
    if platform_study is None:
        raise NotFromPlatformError
    known = PlatformAction.objects.filter(platform_study=platform_study, key=key[:LONGEST_KEY]).exists()
    if not known and not platform_study.places < to <= LARGEST_AMOUNT:
        raise BadPlacesError(platform_study.places)
    return _request_action(platform_study, None, ActionKind.PLACES, {"to": to}, key, now, by, None)


def retry(*, action: PlatformAction, now: datetime) -> PlatformAction:
    """Send a failed action again, after a person has checked the problem.

    For a bonus of unknown outcome this confirms that it was looked up and not paid.
    """
    rows = PlatformAction.objects.filter(pk=action.pk, state=ActionState.FAILED)
    progress = {name: value for name, value in action.progress.items() if name != "paying"}
    if not rows.update(state=ActionState.WAITING, due_at=now, tries=0, error="", progress=progress):
        raise NothingToRetryError
    action.refresh_from_db()
    return action


def drop(*, action: PlatformAction, now: datetime) -> PlatformAction:
    """Give up an action that was not sent, or that a person has settled on the platform."""
    rows = PlatformAction.objects.filter(pk=action.pk, state__in=[ActionState.WAITING, ActionState.FAILED])
    if not rows.update(state=ActionState.DROPPED, done_at=now):
        raise NothingToRetryError
    action.refresh_from_db()
    return action


def cancel(*, study: Study, keys: Collection[str], due_at: datetime, now: datetime) -> bool:
    """Cancel actions that were requested for a later time, before it comes; return whether none was begun.

    Only actions with these keys and exactly this due time are cancelled: the same key may have been requested before.
    Their keys are free again, so that the action can be requested with another message.
    """
    rows = PlatformAction.objects.filter(platform_study__study=study, key__in=keys, due_at=due_at)
    free = Concat(Value("cancelled-"), Cast("pk", CharField()))
    rows.filter(state=ActionState.WAITING).update(state=ActionState.DROPPED, done_at=now, key=free)
    return not rows.exclude(state=ActionState.DROPPED).exists()


def current_platform_study(study: Study, purpose: str) -> PlatformStudy | None:
    """Return the newest study on the platform of an activity."""
    rows = PlatformStudy.objects.filter(study=study, purpose=purpose)
    return rows.select_related("study", "link").order_by("-created_at", "-pk").first()


def is_platform_visit(*, study: Study, purpose: str, session: str) -> bool:
    """Return whether a visit came by a platform study created here, so that actions on it can be requested."""
    return bool(session) and _platform_study(study, purpose, session) is not None


def latest_visit(*, participant: Participant, purpose: str) -> tuple[PlatformStudy, str] | None:
    """Return a participant's latest visit to an activity by a study created here: the study, and the session."""
    arrivals = Arrival.objects.filter(participant=participant, link__platform_study__purpose=purpose)
    came = arrivals.exclude(session="").order_by("-last_at", "-pk").first()
    studies = PlatformStudy.objects.select_related("study", "link")
    if came is not None:
        return studies.get(link=came.link_id), came.session
    # An erased participant has no arrivals any more, but submissions to be paid are kept.
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
    # The platform will report whose it is. A reference to the participant here would lock their row, which a caller
    # that has locked an assignment must not do.
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
    """Request a decision; an earlier one that was not sent yet is dropped. The last one counts."""
    with transaction.atomic():
        platform_study = submission.platform_study
        action = _request_action(platform_study, submission, kind, details, key, now, by, participant, due_at)
        if action.state == ActionState.DROPPED:
            # The decision was changed, and is now changed back.
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
