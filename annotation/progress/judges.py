"""The funnel of a campaign's judges, and each judge's work, pay and competence."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count

from crowdrag.studies.models import Arrival, Consent, EntryLink
from writing.progress.funnel import Stage, ladder, people_of

from ..enums import AssignmentState
from ..judging import claims
from ..models import Assignment, Campaign, LiveCompetence, TrainingAnswer, TrainingItem
from . import wages
from .queries import AssignmentFacts, load_assignments

S = AssignmentState
HANDED_IN = (S.SUBMITTED, S.ACCEPTED, S.REJECTED, S.SURPLUS)


def funnel(campaign: Campaign) -> list[Stage]:
    """Return the stages. Each except the first counts those who reached at least this stage."""
    purpose = claims.purpose(campaign)
    links = EntryLink.objects.invitations().filter(study=campaign.study_id, purpose=purpose)
    arrived = people_of(Arrival.objects.filter(link__study=campaign.study_id, link__purpose=purpose))
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign)
    steps = [
        ("arrived", "Arrived", arrived),
        ("consented", "Consented", _consented(campaign) & arrived),
        ("trained", "Completed the training", _trained(campaign)),
        ("claimed", "Started a questionnaire", people_of(assignments)),
        ("submitted", "Submitted a questionnaire", people_of(assignments.filter(state__in=HANDED_IN))),
        ("accepted", "Questionnaire accepted", people_of(assignments.filter(state=S.ACCEPTED))),
    ]
    if not TrainingItem.objects.filter(campaign=campaign).exists():
        steps = [step for step in steps if step[0] != "trained"]
    return ladder(people_of(links), steps)


def _consented(campaign: Campaign) -> set[int]:
    """Return the participants who agreed to the consent text, which several campaigns may share."""
    if campaign.consent_text is None:
        return set()
    texts = {"text__study": campaign.study_id, "text__name": campaign.consent_text.name}
    return people_of(Consent.objects.filter(**texts))


def _trained(campaign: Campaign) -> set[int]:
    """Return the participants who answered all training items."""
    item_count = TrainingItem.objects.filter(campaign=campaign).count()
    answers = TrainingAnswer.objects.filter(training_item__campaign=campaign, participant__erased_at__isnull=True)
    people = answers.order_by().values("participant").annotate(n=Count("training_item", distinct=True))
    return set(people.filter(n__gte=item_count).values_list("participant", flat=True))


@dataclass(frozen=True)
class JudgeTrust:
    """A judge's competence on one dimension (1 - spam probability) with its interval."""

    dimension: int
    competence: float
    low: float | None
    high: float | None
    judgments: int


@dataclass
class JudgeSummary:
    """A participant who was assigned a questionnaire. Money in minor units; `trust` is by dimension."""

    pk: int
    pseudonym: str
    rows: list[AssignmentFacts] = field(default_factory=list)
    trust: dict[int, JudgeTrust] = field(default_factory=dict)

    @property
    def handed_in(self) -> int:
        """Number of submitted questionnaires."""
        return sum(row.state in HANDED_IN for row in self.rows)

    def count(self, state: str) -> int:
        """Return the number of questionnaires in this state."""
        return sum(row.state == state for row in self.rows)

    @property
    def accepted(self) -> int:
        """Number of accepted questionnaires."""
        return self.count(S.ACCEPTED)

    @property
    def rejected(self) -> int:
        """Number of rejected questionnaires."""
        return self.count(S.REJECTED)

    @property
    def earned(self) -> int:
        """Amount owed or paid."""
        return sum(row.paid for row in self.rows)

    @property
    def active(self) -> float | None:
        """Median active time of valid questionnaires, in seconds."""
        return wages.known_median(row.active_seconds for row in wages.keep_valid(self.rows))

    @property
    def wage(self) -> float | None:
        """Median pay per hour of active time."""
        return wages.known_median(wages.wage(row, row.active_seconds) for row in wages.keep_valid(self.rows))

    @property
    def judgments(self) -> int:
        """Number of judgments that the competence is based on, over all dimensions."""
        return sum(each.judgments for each in self.trust.values())

    @property
    def mean(self) -> float | None:
        """Mean competence over dimensions, used for sorting."""
        known = [each.competence for each in self.trust.values()]
        return sum(known) / len(known) if known else None


def judges(rows: Iterable[AssignmentFacts], competence: Iterable[LiveCompetence]) -> list[JudgeSummary]:
    """Return everybody who was assigned a questionnaire: lowest competence first, unknown competence last."""
    people: dict[int, JudgeSummary] = {}
    for row in rows:
        people.setdefault(row.participant_id, JudgeSummary(row.participant_id, row.participant)).rows.append(row)
    for each in competence:
        if each.participant_id in people:
            people[each.participant_id].trust[each.dimension_id] = trust(each)
    return sorted(people.values(), key=lambda judge: (judge.mean is None, judge.mean or 0.0, judge.pseudonym))


def judges_of(campaign: Campaign, keys: Sequence[int]) -> list[JudgeSummary]:
    """Return these judges of a campaign, in this order."""
    competence = LiveCompetence.objects.filter(campaign=campaign, participant__in=keys)
    summaries = judges(load_assignments(campaign, participants=keys), competence.order_by("participant", "dimension"))
    rank = {key: position for position, key in enumerate(keys)}
    return sorted(summaries, key=lambda judge: rank[judge.pk])


def trust(competence: LiveCompetence) -> JudgeTrust:
    """Convert a spam probability into competence."""
    return JudgeTrust(
        dimension=competence.dimension_id,
        competence=1.0 - competence.spam_probability,
        low=None if competence.high is None else 1.0 - competence.high,
        high=None if competence.low is None else 1.0 - competence.low,
        judgments=competence.judgments,
    )
