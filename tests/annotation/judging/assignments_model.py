"""What must come of each call in the life of assignments, said by plain dicts."""

from dataclasses import dataclass, field
from datetime import datetime

from annotation.enums import AssignmentState as S
from annotation.enums import CampaignState as C
from annotation.judging import problems
from crowdrag.assignments.problems import LeftStudy, NeedsReason, NotAllowed, NothingLeft

MOST, QUESTIONS = 2, 2
HOLDING = {S.ASSIGNED, S.SUBMITTED, S.ACCEPTED}
LOST = {S.RETURNED, S.TIMED_OUT}
DONE = {S.SUBMITTED, S.ACCEPTED, S.REJECTED, S.SURPLUS}


@dataclass
class Known:
    """What the model knows of an assignment."""

    pk: int
    questionnaire: int
    person: int
    session: str
    at: datetime
    lease: datetime | None
    state: S = S.ASSIGNED
    was_rejected: bool = False
    paid: int = 0
    answers: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)


@dataclass
class Model:
    """A campaign as dicts: the items of its questionnaires, who wrote what, who left, and all assignments."""

    items: dict[int, set[int]]
    wrote: dict[int, set[int]]
    k: int = 1
    state: C = C.OPEN
    left: set[int] = field(default_factory=set)
    erased: set[int] = field(default_factory=set)
    # Items that hold a response whose writer had it erased: nothing is asked of them any more.
    gone: set[int] = field(default_factory=set)
    known: dict[int, Known] = field(default_factory=dict)

    def free(self, questionnaire: int) -> int:
        held = [one for one in self.known.values() if one.questionnaire == questionnaire and one.state in HOLDING]
        return self.k - len(held)

    def mine(self, person: int, *states: S) -> list[Known]:
        found = [one for one in self.known.values() if one.person == person and (not states or one.state in states)]
        return sorted(found, key=lambda one: (one.at, one.pk))

    def judged(self, person: int) -> list[Known]:
        return [one for one in self.mine(person) if one.state not in LOST]

    def refusal(self, person: int, session: str) -> type[Exception] | None:
        if person in self.left:
            return LeftStudy
        if self.state != C.OPEN:
            return problems.CampaignNotOpen
        judged = self.judged(person)
        used = session and any(one.session == session for one in judged)
        return problems.EnoughJudged if used or len(judged) >= MOST else None

    def next_of(self, person: int) -> int | None:
        had: set[int] = set()
        for one in self.mine(person):
            had |= self.items[one.questionnaire]
        for questionnaire in self.items:
            barred = had & self.items[questionnaire] or questionnaire in self.wrote.get(person, ())
            if not barred and self.free(questionnaire):
                return questionnaire
        return None

    def claimed(self, person: int, session: str) -> type[Exception] | Known | int:
        """Say what a claim must come to: a problem, an assignment there is, or a new one to this questionnaire."""
        if person in self.left:
            return LeftStudy
        if held := self.mine(person, S.ASSIGNED):
            return held[0]
        if (refusal := self.refusal(person, session)) is not None:
            return refusal
        for one in self.mine(person, S.TIMED_OUT):
            if self.free(one.questionnaire):
                return one
            if session and one.session == session:
                return problems.TooLate
        if (found := self.next_of(person)) is not None:
            return found
        back = [one for one in self.mine(person, S.RETURNED) if self.free(one.questionnaire)]
        return back[0] if back else NothingLeft

    def answered(
        self, one: Known, before: tuple[int, int] | None, value: int, revision: int
    ) -> tuple[type[Exception] | None, tuple[int, int]]:
        if one.state not in LOST | {S.ASSIGNED}:
            return problems.HandedIn, (0, 0)
        if one.person in self.left:
            return LeftStudy, (0, 0)
        if before is None:
            return None, (value, 1)
        if before[0] == value and revision <= before[1]:
            return None, before
        return (None, (value, revision)) if revision == before[1] + 1 else (problems.OtherAnswer, before)

    def submitted(self, one: Known) -> tuple[type[Exception] | None, S]:
        if one.state in DONE:
            return None, one.state
        if one.state == S.WITHDRAWN:
            return problems.HandedIn, one.state
        if one.person in self.left:
            return LeftStudy, one.state
        asked = self.items[one.questionnaire] - self.gone
        if sum(item in asked for item, _dimension in one.answers) < len(asked) * QUESTIONS:
            return problems.Incomplete, one.state
        if one.state == S.ASSIGNED:
            return None, S.SUBMITTED
        counts = self.state != C.CLOSED and len(self.judged(one.person)) < MOST and self.free(one.questionnaire)
        return None, S.SUBMITTED if counts else S.SURPLUS

    def accepted(self, one: Known, note: str) -> tuple[type[Exception] | None, S]:
        if one.state == S.REJECTED and note:
            return None, S.ACCEPTED if self.free(one.questionnaire) and one.person not in self.erased else S.SURPLUS
        if one.state == S.REJECTED:
            return NeedsReason, one.state
        if one.state == S.SURPLUS:
            return None if one.was_rejected else NotAllowed, one.state
        return None, S.ACCEPTED
