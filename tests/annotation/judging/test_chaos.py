"""Everything at the same time and in any order, connections that die included: k are accepted, and nothing is lost."""

import threading
from collections import Counter
from datetime import datetime
from random import Random

import pytest
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import Count

from annotation.enums import AssignmentState as S
from annotation.judging import decisions, leases, platform_status, submission
from annotation.models import Assignment, Judgment
from crowdrag.assignments.problems import NothingLeft, WorkProblem
from crowdrag.studies import invariants
from crowdrag.studies.models import Participant, User
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import HOUR, MINUTE, answer_all, claim, hand_in, sheets
from tests.annotation.open_campaign import World
from tests.concurrency import together
from tests.factories import NOW

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
DONE = [S.SUBMITTED, S.ACCEPTED, S.REJECTED, S.SURPLUS]


class Clock:
    """The time that all go by."""

    def __init__(self) -> None:
        self.now, self.lock = NOW, threading.Lock()

    def go_on(self) -> datetime:
        with self.lock:
            self.now += 10 * MINUTE
            return self.now


class Chaos:
    """People who claim, answer, hand in, give back and come late; a sweep, a platform and a reviewer beside them."""

    def __init__(self, here: World, people: list[Participant], reviewer: User) -> None:
        self.here, self.people, self.reviewer, self.clock = here, people, reviewer, Clock()
        self.acknowledged: set[int] = set()
        self.died = 0

    def work(self, seed: int, steps: int) -> None:
        rng = Random(seed)
        doings = [self.claim] * 5 + [self.finish] * 4 + [
            self.give_back, self.answer, self.sweep, self.hear, self.accept, self.accept, self.reject, self.take_up
        ]  # fmt: skip
        for _ in range(steps):
            doing = rng.choice(doings)
            try:
                one = self.answered(rng) if doing == self.finish else None
                with transaction.atomic():
                    done = doing(rng) if one is None else self.finish(one)
                    if rng.random() < 0.05:
                        self.die()
            except WorkProblem:
                continue
            except (DatabaseError, InterfaceError) as error:
                if "deadlock" in str(error):
                    raise
                self.died += 1
                connection.close()
                continue
            if doing == self.finish and done is not None:
                self.acknowledged.add(done)

    def die(self) -> None:
        """End the connection before the commit, from the database's side."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    def any_of(self, rng: Random, *states: S) -> Assignment:
        found = list(Assignment.objects.filter(state__in=states).values_list("pk", flat=True))
        if not found:
            raise NothingLeft(Assignment)
        return Assignment.objects.get(pk=rng.choice(found))

    def claim(self, rng: Random) -> None:
        person = rng.choice(self.people)
        claim(self.here, person, self.clock.now, session=f"{person.pk}-{rng.randrange(3)}")

    def answered(self, rng: Random) -> Assignment:
        one = self.any_of(rng, S.ASSIGNED, S.TIMED_OUT, S.RETURNED)
        answer_all(one, self.clock.now)
        return one

    def answer(self, rng: Random) -> None:
        self.answered(rng)

    def finish(self, one: Assignment) -> int:
        return submission.submit(assignment=one, now=self.clock.now).pk

    def give_back(self, rng: Random) -> None:
        leases.give_back(assignment=self.any_of(rng, S.ASSIGNED), now=self.clock.now)

    def sweep(self, _rng: Random) -> None:
        leases.expire(now=self.clock.go_on())

    def hear(self, rng: Random) -> None:
        session = self.any_of(rng, *S).session
        status = rng.choice(["RETURNED", "TIMED-OUT", "AWAITING REVIEW", "RETURNED"])
        platform_status.release_visit(session=session, status=status, at=self.clock.now, now=self.clock.now)

    def accept(self, rng: Random) -> None:
        one = self.any_of(rng, S.SUBMITTED, S.REJECTED)
        decisions.accept(assignment=one, by=self.reviewer, now=self.clock.now, note="Yes.")

    def reject(self, rng: Random) -> None:
        one = self.any_of(rng, S.SUBMITTED, S.ACCEPTED)
        decisions.reject(assignment=one, reason="No.", by=self.reviewer, now=self.clock.now)

    def take_up(self, rng: Random) -> None:
        decisions.take_up(assignment=self.any_of(rng, S.SURPLUS), by=self.reviewer, now=self.clock.now)

    def settle(self) -> None:
        """One lease later nobody holds a place who does not come back; others judge what is left."""
        later = self.clock.now + HOUR + MINUTE
        leases.expire(now=later)
        assert not Assignment.objects.filter(state=S.ASSIGNED).exists(), "stuck"
        crew = 0
        while True:
            for one in Assignment.objects.filter(state=S.SUBMITTED):
                decisions.accept(assignment=one, by=self.reviewer, now=later)
            try:
                hand_in(claim(self.here, self.here.judge(), later), later)
            except NothingLeft:
                return
            crew += 1
            assert crew <= len(self.here.questionnaires) * self.here.campaign.k


def check(chaos: Chaos) -> None:
    k = chaos.here.campaign.k
    accepted = Counter(Assignment.objects.filter(state=S.ACCEPTED).values_list("questionnaire", flat=True))
    assert accepted == {one.pk: k for one in chaos.here.questionnaires}
    kept = set(Assignment.objects.filter(state__in=DONE).values_list("pk", flat=True))
    assert chaos.acknowledged <= kept, "what was acknowledged is there"
    answers = Judgment.objects.filter(assignment__in=kept).values("assignment").annotate(n=Count("pk"))
    assert {row["n"] for row in answers} == {len(chaos.here.dimensions)}
    assert answers.count() == len(kept)
    assert [(each.name, tally.examples) for each, tally in invariants.check() if tally.broken] == []


def run(*, questionnaires: int, k: int, people: int, connections: int, steps: int, seed: int) -> Chaos:
    here = sheets(questionnaires, k=k, questionnaires_per_person=2)
    chaos = Chaos(here, here.judges(people), here.member())
    together([lambda n=n: chaos.work(seed * 1000 + n, steps) for n in range(connections)])
    chaos.settle()
    check(chaos)
    return chaos


@pytest.mark.extended
def test_any_order_with_connections_that_die_ends_with_k_accepted() -> None:
    chaos = run(questionnaires=6, k=3, people=30, connections=8, steps=40, seed=1)
    assert chaos.died
    assert chaos.acknowledged
    assert Assignment.objects.filter(state=S.SURPLUS).exists()


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(20))
def test_any_order_with_connections_that_die_ends_with_k_accepted_for_long(seed: int) -> None:
    run(questionnaires=40, k=5, people=400, connections=50, steps=200, seed=seed)


@pytest.mark.extended
def test_those_who_leave_in_the_middle_make_room_for_others() -> None:
    here = sheets(4, k=2)
    chaos = Chaos(here, here.judges(24), here.member())
    goers = chaos.people[:8]
    works = [lambda n=n: chaos.work(n, 25) for n in range(5)]
    works += [lambda one=one: withdrawal.erase(participant=one, now=chaos.clock.now) for one in goers]
    together(works)
    chaos.settle()
    kept = set(Assignment.objects.filter(state=S.ACCEPTED).values_list("participant", flat=True))
    assert kept.isdisjoint(one.pk for one in goers)
    chaos.acknowledged &= set(Assignment.objects.exclude(participant__in=goers).values_list("pk", flat=True))
    check(chaos)
