"""What each judge of a campaign did, how long it took, what they earned, and how far their judgments can be trusted."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...enums import AssignmentState
from ...models import LiveCompetence
from . import working
from .rows import Row

S = AssignmentState
HANDED_IN = (S.SUBMITTED, S.ACCEPTED, S.REJECTED, S.SURPLUS)


@dataclass(frozen=True)
class Trust:
    """Somebody's competence on one dimension, 1 less the spam probability, with its interval."""

    dimension: int
    competence: float
    low: float | None
    high: float | None
    judgments: int


@dataclass
class Judge:
    """Somebody who was given a questionnaire. Money in minor units; `trust` is by dimension."""

    pk: int
    pseudonym: str
    rows: list[Row] = field(default_factory=list)
    trust: dict[int, Trust] = field(default_factory=dict)

    @property
    def handed_in(self) -> int:
        """How many questionnaires they handed in."""
        return sum(row.state in HANDED_IN for row in self.rows)

    def count(self, state: str) -> int:
        """Return how many of theirs are in this state."""
        return sum(row.state == state for row in self.rows)

    @property
    def accepted(self) -> int:
        """How many of theirs were accepted."""
        return self.count(S.ACCEPTED)

    @property
    def rejected(self) -> int:
        """How many of theirs were rejected."""
        return self.count(S.REJECTED)

    @property
    def earned(self) -> int:
        """What they are owed or were paid."""
        return sum(row.paid for row in self.rows)

    @property
    def active(self) -> float | None:
        """The median active time of the questionnaires that stand, in seconds."""
        return working.middle(row.active_seconds for row in working.stands(self.rows))

    @property
    def wage(self) -> float | None:
        """The median wage an hour of active time."""
        return working.middle(working.wage(row, row.active_seconds) for row in working.stands(self.rows))

    @property
    def judgments(self) -> int:
        """How many judgments their competence rests on, all dimensions together."""
        return sum(each.judgments for each in self.trust.values())

    @property
    def mean(self) -> float | None:
        """Their mean competence over dimensions: by it they are ordered."""
        known = [each.competence for each in self.trust.values()]
        return sum(known) / len(known) if known else None


def judges(rows: Iterable[Row], competence: Iterable[LiveCompetence]) -> list[Judge]:
    """Return everybody who was given a questionnaire: the least trusted first, those of whom nothing is known last."""
    people: dict[int, Judge] = {}
    for row in rows:
        people.setdefault(row.participant_id, Judge(row.participant_id, row.participant)).rows.append(row)
    for each in competence:
        if each.participant_id in people:
            people[each.participant_id].trust[each.dimension_id] = trust(each)
    return sorted(people.values(), key=lambda judge: (judge.mean is None, judge.mean or 0.0, judge.pseudonym))


def trust(found: LiveCompetence) -> Trust:
    """Turn a spam probability into competence."""
    return Trust(
        dimension=found.dimension_id,
        competence=1.0 - found.spam_probability,
        low=None if found.high is None else 1.0 - found.high,
        high=None if found.low is None else 1.0 - found.low,
        judgments=found.judgments,
    )
