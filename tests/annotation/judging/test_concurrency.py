"""Many at once, each with a connection of their own: k people hold each questionnaire, and everything happens once."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from annotation.enums import AssignmentState as S
from annotation.judging import answers as judging_answers
from annotation.judging import claims as judging_claims
from annotation.judging import decisions as judging_decisions
from annotation.judging import leases, platform_status, problems, submission
from annotation.judging import slots as judging_slots
from annotation.judging.lifecycle import ASSIGNMENTS
from annotation.models import Assignment, AssignmentDecision, AssignmentPayment, AssignmentTransition, Judgment, Slot
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import HOUR, answer_all, claim, hand_in, holders, sheets
from tests.annotation.judging.concurrent_claims import claim_bare, claim_or_die, facts, flood, free_all
from tests.annotation.open_campaign import World
from tests.concurrency import together
from tests.factories import NOW

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]
COPIES = 10


def check_flood(here: World, answers: dict[str, int], slots: int, claims: int) -> None:
    assert facts(here) == {"free": 0, "held": slots, "twice": 0}
    assert (answers["got one"], answers["none left"]) == (slots, claims - slots)
    assert Assignment.objects.filter(state=S.ASSIGNED).count() == slots
    assert AssignmentTransition.objects.count() == slots


@pytest.mark.extended
def test_a_flood_of_claims_fills_every_place_once() -> None:
    here = sheets(30, k=2)
    answers, _seconds = flood(here, here.judges(600), 12, claim_or_die(Random(1)))
    check_flood(here, answers, 60, 600)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(20))
def test_ten_thousand_claims_on_a_thousand_places_by_a_hundred_connections(seed: int) -> None:
    here = sheets(200, k=5)
    people = here.judges(10_000)
    bare, bare_seconds = flood(here, people, 100, claim_bare)
    assert bare["got one"] == 1000
    free_all(here)
    answers, seconds = flood(here, people, 100)
    check_flood(here, answers, 1000, 10_000)
    assert seconds <= 2 * bare_seconds, f"{10_000 / seconds:.0f} claims a second, bare {10_000 / bare_seconds:.0f}"
    free_all(here)
    AssignmentTransition.objects.all().delete()
    answers, _seconds = flood(here, people, 100, claim_or_die(Random(seed)))
    check_flood(here, answers, 1000, 10_000)


@pytest.mark.parametrize(("questionnaires", "k", "session"), [(10, 2, "visit"), (1, 1, "")])
def test_one_person_who_presses_ten_times_gets_one_questionnaire(questionnaires: int, k: int, session: str) -> None:
    here = sheets(questionnaires, k=k, questionnaires_per_person=None)
    person = here.judge()
    results = together([lambda: claim(here, person, session=session)] * COPIES)
    assert {one.pk for one in results} == {Assignment.objects.get().pk}
    assert AssignmentTransition.objects.count() == 1


def copies_of(here: World, what: str) -> list[Callable[[], Any]]:
    """Return a call on an assignment, to be made by ten at once; each by another reviewer where it takes one."""
    mine = claim(here, here.judge(), session="visit")
    reviewers = [here.member() for _ in range(COPIES)]
    answer_all(mine)
    if what in {"accept", "reject", "include", "pay"}:
        submission.submit(assignment=mine, now=NOW)
    if what in {"take_up", "submit late", "resume"}:
        leases.expire(now=NOW + 2 * HOUR)
    if what == "take_up":
        here.change(state="CLOSED")
        assert submission.submit(assignment=mine, now=NOW).state == S.SURPLUS
    item, dimension = mine.judgments.values_list("item", "dimension").get()
    one = reviewers[0]
    calls: dict[str, Callable[[Any], Any]] = {
        "answer": lambda _by: (
            judging_answers.answer(
                assignment=mine, item=item, dimension=dimension, value=-1, revision=2, now=NOW
            ).revision
        ),
        "submit": lambda _by: submission.submit(assignment=mine, comment="Fine.", now=NOW).state,
        "submit late": lambda _by: submission.submit(assignment=mine, now=NOW).state,
        "give_back": lambda _by: leases.give_back(assignment=mine, now=NOW).state,
        "resume": lambda _by: judging_claims.resume(assignment=mine, now=NOW).state,
        "heard": lambda _by: (
            len(platform_status.release_visit(session="visit", status="RETURNED", at=NOW, now=NOW)) > 1
        ),
        "accept": lambda by: judging_decisions.accept(assignment=mine, by=by, now=NOW).state,
        "reject": lambda by: judging_decisions.reject(assignment=mine, reason="No.", pay_part=9, by=by, now=NOW).state,
        "take_up": lambda by: judging_decisions.take_up(assignment=mine, by=by, now=NOW).state,
        "include": lambda _by: judging_decisions.exclude(assignment=mine, reason="No.", by=one, now=NOW).pk,
        "pay": lambda _by: ASSIGNMENTS.pay(mine, amount=5, reason="Thanks.", by=one, now=NOW).pk,
        "extend": lambda _by: judging_slots.extend(campaign=here.campaign, k=4, now=NOW) > 4,
    }
    return [lambda by=by: calls[what](by) for by in reviewers]


@pytest.mark.parametrize(
    ("what", "moves", "payments", "decisions"),
    [
        ("answer", 0, 0, 0), ("submit", 1, 0, 0), ("accept", 1, 1, 2), ("pay", 0, 1, 0),
        *(
            pytest.param(*each, marks=pytest.mark.extended)
            for each in (
                ("submit late", 1, 0, 0), ("give_back", 1, 0, 0), ("resume", 1, 0, 0), ("heard", 1, 0, 0),
                ("reject", 1, 1, 2), ("take_up", 1, 0, 0), ("include", 0, 0, 1), ("extend", 0, 0, 0),
            )
        ),
    ],
)  # fmt: skip
def test_what_is_sent_ten_times_at_once_has_one_effect_and_one_answer(
    what: str, moves: int, payments: int, decisions: int
) -> None:
    here = sheets(2, k=2)
    works = copies_of(here, what)
    before = AssignmentTransition.objects.count()
    results = together(works)
    assert len(set(map(str, results))) == 1, results
    assert not isinstance(results[0], Exception)
    assert AssignmentTransition.objects.count() == before + moves
    assert AssignmentPayment.objects.count() == payments
    assert AssignmentDecision.objects.count() == decisions
    assert Judgment.objects.get().revision == (2 if what == "answer" else 1)
    assert Slot.objects.count() == (8 if what == "extend" else 4)


def test_of_two_tabs_that_answer_at_once_one_is_told() -> None:
    here = sheets(1)
    mine = claim(here, here.judge())
    item, dimension = next(here.questions(mine))
    works = [
        lambda value=value: judging_answers.answer(
            assignment=mine, item=item.pk, dimension=dimension.pk, value=value, revision=1, now=NOW
        )
        for value in (-1, 1)
    ]
    results = together(works)
    told = [result for result in results if isinstance(result, problems.OtherAnswer)]
    stored = Judgment.objects.get()
    assert len(told) == 1
    assert (told[0].current.value, told[0].current.revision) == (stored.value, 1)


@pytest.mark.parametrize("_again", [0, *(pytest.param(each, marks=pytest.mark.extended) for each in (1, 2))])
def test_accepting_and_rejecting_at_once_is_one_of_them_or_both_in_turn(_again: int) -> None:
    here = sheets(1, k=1)
    reviewer = here.member()
    mine = hand_in(claim(here, here.judge()))
    together(
        [
            lambda: judging_decisions.accept(assignment=mine, by=reviewer, now=NOW),
            lambda: judging_decisions.reject(assignment=mine, reason="No.", by=reviewer, now=NOW),
        ]
    )
    mine.refresh_from_db()
    assert mine.state == S.REJECTED, "who rejects last takes back; who accepts after that has to say why"
    assert holders(here.questionnaires[0]) == set()


@pytest.mark.parametrize("_again", [0, *(pytest.param(each, marks=pytest.mark.extended) for each in (1, 2))])
def test_a_late_owner_and_a_newcomer_at_once_have_one_place_between_them(_again: int) -> None:
    here, later = sheets(1, k=1), NOW + 2 * HOUR
    owner, newcomer = here.judges(2)
    mine = claim(here, owner)
    answer_all(mine)
    leases.expire(now=later)
    submit = lambda: submission.submit(assignment=mine, now=later)  # noqa: E731
    together([submit, lambda: claim(here, newcomer, later), lambda: claim(here, owner, later)])
    assert len(holders(here.questionnaires[0])) == 1
    assert submit().state in {S.SUBMITTED, S.SURPLUS}


def test_several_sweeps_at_once_free_each_place_once() -> None:
    here = sheets(4, k=2)
    for person in here.judges(8):
        claim(here, person)
    together([lambda: leases.expire(now=NOW + 2 * HOUR)] * 4)
    leases.expire(now=NOW + 2 * HOUR)  # what one sweep passed by because another held it
    assert AssignmentTransition.objects.filter(after=S.TIMED_OUT).count() == 8
    assert judging_slots.count_free(here.campaign) == 8


@pytest.mark.parametrize("leaves", [withdrawal.withdraw, withdrawal.erase])
@pytest.mark.parametrize("_again", [0, pytest.param(1, marks=pytest.mark.extended)])
def test_leaving_while_handing_in_and_answering_neither_blocks_nor_breaks(
    leaves: Callable[..., Any], _again: int
) -> None:
    here = sheets(1, k=1, dimensions=2)
    person = here.judge()
    mine = claim(here, person)
    answer_all(mine)
    item, dimension = next(here.questions(mine))
    together(
        [
            lambda: submission.submit(assignment=mine, comment="Mine.", now=NOW),
            lambda: leaves(participant=person, now=NOW),
            lambda: judging_answers.answer(
                assignment=mine, item=item.pk, dimension=dimension.pk, value=-1, justification="Mine.", revision=2,
                now=NOW,
            ),
        ]
    )  # fmt: skip
    mine.refresh_from_db()
    erases = leaves is withdrawal.erase
    assert mine.state in ({S.WITHDRAWN} if erases else {S.SUBMITTED, S.WITHDRAWN})
    assert len(holders(here.questionnaires[0])) == (mine.state == S.SUBMITTED)
    if erases:
        assert mine.comment == ""
        assert set(Judgment.objects.values_list("justification", flat=True)) == {""}


def test_places_are_made_once_while_others_claim() -> None:
    here = sheets(5, k=1)
    people = here.judges(COPIES)
    works: list[Callable[[], Any]] = [lambda: judging_slots.extend(campaign=here.campaign, k=2, now=NOW)] * COPIES
    together([*works, *(lambda p=p: claim(here, p) for p in people)])
    assert Slot.objects.count() == 10
    held = judging_slots.count_taken(here.campaign)
    assert held == Assignment.objects.count() >= 5
