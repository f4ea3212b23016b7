"""The researchers' overview of an activity's study on the platform: both sides, and where they differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings

from crowdrag.studies.models import Arrival, Study

from . import listeners, platform_studies, submission_sync
from .enums import ActionKind, ActionState, LocalStatus, SubmissionStatus
from .models import PlatformAction, PlatformStudy, Submission
from .prolific import endpoints
from .prolific.account import get_account
from .prolific.client import Client
from .prolific.errors import PlatformError
from .submission_sync import NO_CODE

# More are shown page by page, but at most this many are compared.
MOST_COMPARED = 5000
_DECIDES = (ActionKind.APPROVE, ActionKind.REJECT, ActionKind.SCREEN_OUT)
_OPEN = (ActionState.WAITING, ActionState.SENDING, ActionState.UNKNOWN)


@dataclass(frozen=True)
class VisitRow:
    """A submission with its state there and here, and their discrepancies."""

    submission: Submission
    here: LocalStatus | None
    disagrees: str


@dataclass(frozen=True)
class Connection:
    """Whether the platform responds, and its account data."""

    problem: str = ""
    hint: str = ""
    balance: int | None = None
    currency: str = ""
    is_other_currency: bool = False
    cost: int | None = None
    is_estimate: bool = False

    @property
    def is_short(self) -> bool:
        """Whether the balance is less than the cost of publishing."""
        return self.balance is not None and self.cost is not None and self.balance < self.cost


def rows(platform_study: PlatformStudy) -> list[VisitRow]:
    """Return the submissions of a study, newest first, each with its discrepancies."""
    submissions = Submission.objects.filter(platform_study=platform_study).select_related("participant")
    return _rows(platform_study, list(submissions.order_by("-first_heard_at", "-pk")[:MOST_COMPARED]))


def row(submission: Submission) -> VisitRow:
    """Return one submission with its discrepancies."""
    return _rows(submission.platform_study, [submission])[0]


def _rows(platform_study: PlatformStudy, submissions: list[Submission]) -> list[VisitRow]:
    here = _local_statuses(platform_study, submissions)
    requested = PlatformAction.objects.filter(platform_study=platform_study, kind__in=_DECIDES, state__in=_OPEN)
    deciding = set(requested.values_list("submission_id", flat=True))
    people = Submission.objects.filter(platform_study=platform_study).exclude(participant=None)
    twice = Counter(people.values_list("participant_id", flat=True))
    arrivals = Arrival.objects.filter(link=platform_study.link_id).exclude(session="")
    shared = Counter(arrivals.values_list("session", flat=True))
    listed = []
    for submission in submissions:
        stands = here.get(submission.external_id)
        words = _disagreement(submission, stands, is_requested=submission.pk in deciding)
        if submission.participant_id and twice[submission.participant_id] > 1:
            words = words or "this person has more than one submission on Prolific"
        if shared[submission.external_id] > 1:
            words = words or "several people arrived with this submission"
        listed.append(VisitRow(submission, stands, words))
    return listed


def _local_statuses(platform_study: PlatformStudy, submissions: Sequence[Submission]) -> Mapping[str, LocalStatus]:
    listener = listeners.listener_for(platform_study.purpose)
    visits = [(row.external_id, row.participant_id) for row in submissions if row.participant_id]
    return listener.local_status(platform_study.study, platform_study.purpose, visits) if listener and visits else {}


def _disagreement(row: Submission, here: LocalStatus | None, *, is_requested: bool) -> str:
    """Return the discrepancy of a submission in words; empty if there is none, or none to act on yet."""
    if not row.status or is_requested:
        return ""
    if row.participant_id is None:
        return (
            ""
            if row.status in submission_sync.UNDER_WAY + submission_sync.RELEASED
            else "nobody arrived with this submission"
        )
    for applies, words in _RULES:
        if applies(row, here):
            return str(words)
    if here == LocalStatus.ACCEPTED and row.status == SubmissionStatus.AWAITING_REVIEW:
        return "accepted in CrowdRAG, not approved on Prolific"
    return ""


def _both_hold(
    statuses: Sequence[str], local_statuses: Sequence[LocalStatus | None], row: Submission, stands: LocalStatus | None
) -> bool:
    return row.status in statuses and stands in local_statuses


def _without_code(here: Sequence[LocalStatus | None], row: Submission, stands: LocalStatus | None) -> bool:
    return row.code == NO_CODE and row.status == SubmissionStatus.AWAITING_REVIEW and stands in here


_WORK_MISSING = (LocalStatus.NOTHING, LocalStatus.WORKING, LocalStatus.GONE)
_WORK_DONE = (LocalStatus.HANDED_IN, LocalStatus.ACCEPTED)
_RULES = (
    (partial(_without_code, _WORK_DONE), "no code on Prolific, but submitted in CrowdRAG"),
    (partial(_without_code, _WORK_MISSING), "no code on Prolific, nothing submitted in CrowdRAG"),
    (
        partial(_both_hold, (SubmissionStatus.AWAITING_REVIEW,), _WORK_MISSING),
        "submitted on Prolific, not in CrowdRAG",
    ),
    (
        partial(_both_hold, submission_sync.RELEASED, _WORK_DONE),
        "returned on Prolific, submitted in CrowdRAG",
    ),
    (
        partial(_both_hold, submission_sync.PAID, (LocalStatus.REJECTED,)),
        "rejected in CrowdRAG, paid on Prolific",
    ),
    (
        partial(_both_hold, (SubmissionStatus.AWAITING_REVIEW,), (LocalStatus.REJECTED,)),
        "rejected in CrowdRAG, open on Prolific",
    ),
    (
        partial(_both_hold, (SubmissionStatus.REJECTED,), (LocalStatus.ACCEPTED,)),
        "accepted in CrowdRAG, rejected on Prolific",
    ),
    (
        partial(_both_hold, (SubmissionStatus.APPROVED,), (LocalStatus.HANDED_IN,)),
        "paid on Prolific before review",
    ),
)


def summary(platform_study: PlatformStudy) -> dict[str, Any]:
    """Return the numbers of a study: places there and wanted, submissions by status, actions by state."""
    counted = Counter(Submission.objects.filter(platform_study=platform_study).values_list("status", flat=True))
    requested = Counter(PlatformAction.objects.filter(platform_study=platform_study).values_list("state", flat=True))
    listener = listeners.listener_for(platform_study.purpose)
    needs = listener.needs(platform_study.study, platform_study.purpose) if listener else None
    places = platform_studies.places_needed(platform_study, still=needs.places) if needs else None
    by_status = [(SubmissionStatus(name).label if name else "no status yet", n) for name, n in counted.most_common()]
    return {
        "by_status": by_status,
        "submissions": sum(counted.values()),
        "waiting": sum(requested[state] for state in _OPEN),
        "failed": requested[ActionState.FAILED],
        "still": needs.places - needs.at_work if needs else None,
        "at_work": needs.at_work if needs else 0,
        "wanted": places,
        "more": max(places - platform_study.places, 0) if places else 0,
    }


def connection(study: Study, platform_study: PlatformStudy | None) -> Connection:
    """Check the token, balance and cost of the study with the platform. One try each, since a page is waiting."""
    try:
        with Client(get_account(study), tries=1) as client:
            endpoints.me(client)
            balance = endpoints.balance(client, client.account.workspace) if client.account.workspace else {}
            cost, is_estimate = _cost(client, platform_study)
    except PlatformError as error:
        return Connection(problem=str(error))
    currency = str(balance.get("currency_code") or "")[:3]
    available = balance.get("available_balance")
    return Connection(
        hint="" if client.account.workspace else "CROWDRAG_PROLIFIC_WORKSPACE is not set, so the balance is unknown.",
        balance=available if isinstance(available, int) else None,
        currency=currency,
        is_other_currency=bool(currency) and currency != study.currency,
        cost=cost,
        is_estimate=is_estimate,
    )


def _cost(client: Client, platform_study: PlatformStudy | None) -> tuple[int | None, bool]:
    if platform_study is None:
        return None, False
    total = platform_study.reward * platform_study.places
    try:
        return endpoints.cost(client, reward=platform_study.reward, places=platform_study.places), False
    except (PlatformError, KeyError, TypeError, ValueError):
        fee = platform_studies.fee(total, settings.PROLIFIC_FEE_PERCENT)
        return (None if fee is None else total + fee), True
