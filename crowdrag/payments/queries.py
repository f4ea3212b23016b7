"""Participants' earnings, payments made, and amounts owed. Money in minor units."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db.models import Q, QuerySet, Sum

from crowdrag.recruitment.enums import ActionKind, ActionState, SubmissionStatus
from crowdrag.recruitment.models import PlatformAction, Submission
from crowdrag.studies.models import Arrival, Participant, Study

from .earnings import earned
from .enums import ListState
from .models import PaymentListLine

PROLIFIC = "prolific"


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """What one participant earned and got.

    Attributes
    ----------
    earned
        decided earnings that can no longer be undone.
    by_platform
        what the platform has paid, or was asked by CrowdRAG to pay.
    paid
        the amount on paid lists.
    listed
        the amount on open lists.
    """

    earned: int
    by_platform: int
    paid: int
    listed: int

    @property
    def owed(self) -> int:
        """The amount that is neither paid nor on a list."""
        return max(self.earned - self.by_platform - self.paid - self.listed, 0)


@dataclass(frozen=True, kw_only=True)
class Balance(Amounts):
    """A participant with their amounts; `is_on_prolific`: Prolific can pay them, since their Prolific ID is known."""

    participant: Participant
    is_on_prolific: bool


@dataclass(frozen=True)
class Totals:
    """The sums of a study."""

    earned: int
    by_platform: int
    paid: int
    listed: int
    owed: int
    people_owed: int


def balances(study: Study, *, now: datetime, only: Collection[int] | None = None) -> list[Balance]:
    """Return the balance of everybody with earnings or payments, by pseudonym."""
    rows = amounts(study, now=now)
    return with_people(study, rows if only is None else {key: rows[key] for key in rows.keys() & set(only)})


def amounts(study: Study, *, now: datetime) -> dict[int, Amounts]:
    """Return the amounts of everybody with earnings or payments, by participant key, in no order."""
    earnings, by_platform = earned(study, now=now), paid_by_platform(study)
    paid, listed = _on_lists(study, ListState.PAID), _on_lists(study, ListState.OPEN)
    keys = earnings.keys() | by_platform.keys() | paid.keys() | listed.keys()
    return {
        key: Amounts(earned=earnings[key], by_platform=by_platform[key], paid=paid[key], listed=listed[key])
        for key in keys
    }


def with_people(study: Study, rows: Mapping[int, Amounts]) -> list[Balance]:
    """Return balances with the participants whose amounts these are, by pseudonym."""
    people = Participant.objects.filter(study=study, pk__in=rows)
    on_prolific = set(payable_on_prolific(people).values_list("pk", flat=True))
    return [
        Balance(**asdict(rows[person.pk]), participant=person, is_on_prolific=person.pk in on_prolific)
        for person in people.order_by("external_id", "pk")
    ]


def totals(rows: Collection[Amounts]) -> Totals:
    """Return the sums of amounts."""
    return Totals(
        earned=sum(row.earned for row in rows),
        by_platform=sum(row.by_platform for row in rows),
        paid=sum(row.paid for row in rows),
        listed=sum(row.listed for row in rows),
        owed=sum(row.owed for row in rows),
        people_owed=sum(row.owed > 0 for row in rows),
    )


def payable_on_prolific(people: QuerySet[Participant]) -> QuerySet[Participant]:
    """Keep participants who came from Prolific and whose Prolific ID is known."""
    came = Arrival.objects.filter(participant__in=people, link__platform__iexact=PROLIFIC)
    return people.filter(identity__isnull=False, pk__in=came.values("participant"))


def paid_by_platform(study: Study) -> Counter[int]:
    """Return what the platform paid each participant or was asked to pay, whichever is more.

    Requested payments count at once, so that nobody is paid a second time by a list.
    """
    paid: Counter[int] = Counter()
    submissions = Submission.objects.filter(platform_study__study=study, participant__isnull=False)
    ordered: dict[int, Counter[str]] = {}
    actions = PlatformAction.objects.filter(submission__in=submissions).exclude(state=ActionState.DROPPED)
    for submission, kind, details in actions.values_list("submission_id", "kind", "details"):
        ordered.setdefault(submission or 0, Counter())[kind] += int(details.get("amount", 1))
    for row in submissions.select_related("platform_study"):
        paid[row.participant_id or 0] += _of_submission(row, ordered.get(row.pk, Counter()))
    return paid


def _of_submission(row: Submission, ordered: Counter[str]) -> int:
    """Return the reward and the bonuses of a submission."""
    amount = max(sum(map(int, row.bonuses)), ordered[ActionKind.BONUS])
    final = {SubmissionStatus.REJECTED, SubmissionStatus.SCREENED_OUT, SubmissionStatus.APPROVED}
    if row.status == SubmissionStatus.APPROVED or (ordered[ActionKind.APPROVE] and row.status not in final):
        amount += row.platform_study.reward
    elif row.status == SubmissionStatus.SCREENED_OUT or (ordered[ActionKind.SCREEN_OUT] and row.status not in final):
        amount += row.platform_study.screen_out_reward or 0
    return amount


def _on_lists(study: Study, state: ListState) -> Counter[int]:
    lines = PaymentListLine.objects.filter(Q(list__study=study, list__state=state))
    return Counter(dict(lines.order_by().values_list("participant").annotate(sum=Sum("amount"))))
