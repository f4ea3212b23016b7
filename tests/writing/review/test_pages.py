"""Review: who gets which response from the queue, what its page shows, and that each form decides."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crowdrag.studies.enums import Role
from crowdrag.studies.models import User
from tests.factories import MembershipFactory, StudyFactory, StyleFactory, UserFactory
from tests.submitted_responses import pasted, submitted, typed
from writing.enums import TaskState
from writing.models import Response, TaskTransition, WritingTask
from writing.review import queue, signal_display

pytestmark = pytest.mark.django_db
S = TaskState
HOSTILE = '<script>alert("x")</script> <img src=x onerror=alert(1)>'


@pytest.fixture
def member() -> Any:
    return MembershipFactory(role=Role.REVIEWER)


@pytest.fixture
def client(member: Any) -> Client:
    client = Client()
    client.force_login(member.user)
    return client


@pytest.fixture
def at(member: Any) -> Callable[..., str]:
    """Return the address of a page of review."""

    def address(task: WritingTask | None = None, page: str = "") -> str:
        return f"/studies/{member.study.slug}/review/{f'{task.external_id}/' if task else ''}{page}"

    return address


def another(member: Any) -> User:
    return MembershipFactory(study=member.study, role=Role.REVIEWER).user


def take(member: Any, user: User | None = None, **more: Any) -> WritingTask | None:
    return queue.take_next(**({"study": member.study, "by": user or member.user, "now": timezone.now()} | more))


def test_the_queue_lists_the_oldest_first_and_filters_narrow_it(member: Any, client: Client, at: Any) -> None:
    cache.clear()
    news = StyleFactory(study=member.study, name="news")
    plain = submitted(member.study, minutes=50, events=typed("All of this was typed by hand, letter by letter."))
    foreign = pasted("A long text from who knows where that no passage of this topic holds at all.", ms=5, at=0)
    flagged = submitted(member.study, minutes=5, style=news, is_trial=True, events=foreign)
    submitted(StudyFactory())
    assert [row[0] for row in client.get(at()).context["rows"]] == [plain, flagged]
    for query in ("style=news", "trial=on", f"writer={flagged.participant.external_id}"):
        assert [row[0] for row in client.get(f"{at()}?{query}").context["rows"]] == [flagged], query
    [(task, signals, _held)] = client.get(f"{at()}?signals=on").context["rows"]
    assert (task, len(signals)) == (flagged, 1)
    assert client.get(f"{at()}?writer=nobody").context["rows"] == []
    assert take(member, filters=queue.QueueFilter(signals=True)) == flagged
    client.post(at(plain, "decide/"), {"decision": "accept"})
    assert [row[0] for row in client.get(f"{at()}?list=accepted").context["rows"]] == [plain]
    assert client.get(at()).context["counts"] == queue.QueueCounts(
        waiting=1, open=1, accepted=1, rejected=0, revision=0
    )


def test_what_was_erased_while_it_waited_has_a_list_of_its_own(member: Any) -> None:
    task, now = submitted(member.study), timezone.now()
    Response.objects.filter(task=task).update(erased_at=now, text="", words=0, is_included=False)
    lists = {name: list(queue.list_tasks(member.study, name, queue.QueueFilter())) for name in ("waiting", "erased")}
    assert lists == {"waiting": [], "erased": [task]}
    counted = queue.counts(member.study, now)
    assert (counted.waiting, counted.erased, take(member)) == (0, 1, None)


@pytest.mark.extended
def test_queries_do_not_grow_with_the_number_of_responses(member: Any, client: Client, at: Any) -> None:
    def queries(address: str) -> int:
        cache.clear()
        with CaptureQueriesContext(connection) as asked:
            assert client.get(address).status_code == 200
        return len(asked)

    task = submitted(member.study)
    few = queries(at()), queries(at(task))
    for number in range(3):
        submitted(member.study, minutes=number, participant=task.participant)
    assert (queries(at()), queries(at(task))) == few


def test_reviewers_get_different_responses_until_a_hold_runs_out(member: Any) -> None:
    one, other = submitted(member.study, minutes=9), submitted(member.study, minutes=5)
    colleague = another(member)
    assert [take(member), take(member)] == [one, one]  # who asks again goes on with what they have open
    assert take(member, colleague) == other
    assert take(member, another(member)) is None
    assert not queue.hold(task=one, by=colleague, now=timezone.now())
    later = timezone.now() + queue.HOLD + timedelta(seconds=1)
    third = another(member)
    assert take(member, third, now=later) == one
    assert not queue.hold(task=one, by=member.user, now=later)


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_many_reviewers_at_once_never_get_the_same() -> None:
    study = StudyFactory()
    for number in range(8):
        submitted(study, minutes=number)

    def ask(user: User) -> int | None:
        try:
            task = queue.take_next(study=study, by=user, now=timezone.now())
            return task.pk if task else None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(12) as pool:
        given = [pk for pk in pool.map(ask, [UserFactory() for _ in range(12)]) if pk is not None]
    assert len(given) == len(set(given)) == 8


@pytest.mark.extended
def test_what_another_has_open_is_taken_over_on_purpose_with_what_one_typed(
    member: Any, client: Client, at: Any
) -> None:
    task, colleague = submitted(member.study), another(member)
    assert take(member, colleague) == task
    page = client.get(at(task))
    assert page.context["held_by"] == colleague
    assert "accept-form" not in page.content.decode()
    refused = client.post(at(task, "decide/"), {"decision": "send_back", "note": "My own words."})
    assert (refused.status_code, WritingTask.objects.get(pk=task.pk).state) == (409, S.SUBMITTED)
    assert [words for _label, words in refused.context["typed"]] == ["My own words."]
    assert client.post(at(task, "lock/")).context["lost"]
    mine = client.post(at(task, "lock/"), {"over": "yes", **dict(refused.context["resent"])})
    assert mine.context["decisions"]["send_back"]["note"].value() == "My own words."
    assert WritingTask.objects.get(pk=task.pk).reviewer == member.user


def test_whoever_looks_at_a_free_one_holds_it_as_long_as_they_look(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    page = client.get(at(task)).content.decode()
    assert page.count('form="accept-form"') == 2  # the words of an acceptance, and their button
    assert f'hx-post="{at(task, "lock/")}"' in page
    assert WritingTask.objects.get(pk=task.pk).reviewer is None  # looking alone changes nothing
    held = client.post(at(task, "lock/")).content.decode()
    assert ("load," in held, 'hx-trigger="every 20s"' in held) == (False, True)
    assert WritingTask.objects.get(pk=task.pk).reviewer == member.user


def test_putting_aside_frees_it_and_leads_to_the_next_and_round(member: Any, client: Client, at: Any) -> None:
    one, other = submitted(member.study, minutes=9), submitted(member.study, minutes=5)
    assert client.post(at(page="next/")).url == at(one)
    assert client.post(at(one, "skip/")).url == at(other)
    assert WritingTask.objects.get(pk=one.pk).reviewer is None
    assert client.post(at(other, "skip/")).url == at(one)


def test_after_a_decision_comes_the_next_within_the_filter(member: Any, client: Client, at: Any) -> None:
    news = StyleFactory(study=member.study, name="news")
    one = submitted(member.study, minutes=9, style=news)
    submitted(member.study, minutes=7)
    other = submitted(member.study, minutes=5, style=news)
    answer = client.post(f"{at(one, 'decide/')}?style=news", {"decision": "accept", "note": "Well done."})
    assert answer.url == f"{at(other)}?style=news"
    assert TaskTransition.objects.get(task=one, after=S.ACCEPTED).note == "Well done."
    last = client.post(f"{at(other, 'decide/')}?style=news", {"decision": "accept"})
    assert last.url == f"{at()}?style=news"


@pytest.mark.parametrize(("pay", "amount", "owed"), [("none", "", 0), ("part", "1.00", 100), ("all", "", 250)])
def test_a_rejection_pays_nothing_a_part_or_all(
    member: Any, client: Client, at: Any, pay: str, amount: str, owed: int
) -> None:
    task = submitted(member.study)
    given = {"decision": "reject", "reason": "No citation fits.", "pay": pay, "amount": amount}
    assert client.post(at(task, "decide/"), given).status_code == 302
    task.refresh_from_db()
    assert (task.state, sum(payment.amount for payment in task.payments.all())) == (S.REJECTED, owed)


def test_forms_that_lack_something_are_refused_and_nothing_is_decided(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    cases: list[tuple[str, dict[str, str]]] = [
        ("decide/", {"decision": "reject", "reason": "", "pay": "none"}),
        ("decide/", {"decision": "reject", "reason": "So.", "pay": "part", "amount": ""}),
        ("decide/", {"decision": "reject", "reason": "So.", "pay": "part", "amount": "2.51"}),
        ("decide/", {"decision": "reject", "reason": "So.", "pay": "part", "amount": "1.001"}),
        ("decide/", {"decision": "send_back", "note": "  "}),
        ("decide/", {"decision": "other"}),
        ("decide/", {}),
        ("include/", {"inclusion": "include", "why": ""}),
        ("reverse/", {"note": ""}),
        ("pay/", {"amount": "0.005", "reason": "Sorry"}),
    ]
    assert [client.post(at(task, page), given).status_code for page, given in cases] == [422] * len(cases)
    task.refresh_from_db()
    assert (task.state, task.payments.count(), task.response.decisions.count()) == (S.SUBMITTED, 0, 0)


def test_a_response_is_left_out_rejected_reversed_paid_beside_and_included(
    member: Any, client: Client, at: Any
) -> None:
    task = submitted(member.study)
    for page, given, state, owed, is_included in (
        ("include/", {"inclusion": "exclude", "why": "Written by a friend."}, S.SUBMITTED, 0, False),
        ("decide/", {"decision": "reject", "reason": "No.", "pay": "part", "amount": "1"}, S.REJECTED, 100, False),
        ("reverse/", {"note": "We were wrong."}, S.ACCEPTED, 250, False),
        ("pay/", {"amount": "0.50", "reason": "Sorry"}, S.ACCEPTED, 300, False),
        ("include/", {"inclusion": "include", "why": "It was not."}, S.ACCEPTED, 300, True),
    ):
        assert client.post(at(task, page), given).status_code == 302, page
        task = WritingTask.objects.get(pk=task.pk)
        paid = sum(payment.amount for payment in task.payments.all())
        assert (task.state, paid, task.response.is_included) == (state, owed, is_included), page
    assert client.post(at(task, "decide/"), {"decision": "send_back", "note": "x"}).status_code == 409


def test_a_revision_shows_what_changed_and_the_note(member: Any, client: Client, at: Any) -> None:
    first = submitted(member.study)
    client.post(at(first, "decide/"), {"decision": "send_back", "note": "Cite every claim."})
    WritingTask.objects.get(revises=first).delete()
    again = submitted(
        member.study, topic=first.topic, style=first.style, participant=first.participant, revises=first,
        events=typed("Tides differ [0]. Nobody knows why [2]."),
    )  # fmt: skip
    page = client.get(at(again)).content.decode()
    assert [each in page for each in ("Cite every claim.", "<ins>", "<del>")] == [True] * 3


@pytest.mark.extended
def test_what_was_erased_is_paid_and_never_counts_again(member: Any, client: Client, at: Any) -> None:
    accepted, rejected = submitted(member.study), submitted(member.study, slot=0)
    client.post(at(rejected, "decide/"), {"decision": "reject", "reason": "No.", "pay": "none"})
    Response.objects.update(erased_at=timezone.now(), text="", words=0, is_included=False)
    page = client.get(at(accepted)).content.decode()
    assert [f'data-review-panel="{key}"' in page for key in "evx"] == [False] * 3
    for name, given in (
        ("include/", {"inclusion": "include", "why": "I liked it."}),
        ("decide/", {"decision": "reject", "reason": "No.", "pay": "none"}),
        ("decide/", {"decision": "send_back", "note": "More."}),
    ):
        assert client.post(at(accepted, name), given).status_code == 409
    client.post(at(accepted, "decide/"), {"decision": "accept"})
    client.post(at(rejected, "reverse/"), {"note": "We were wrong."})
    for task in WritingTask.objects.filter(pk__in=[accepted.pk, rejected.pk]):
        assert (task.state, task.payments.get().amount, task.response.is_included) == (S.ACCEPTED, 250, False)


@pytest.mark.extended
def test_a_response_and_its_revision_count_once(member: Any, client: Client, at: Any) -> None:
    first = submitted(member.study)
    again = submitted(member.study, participant=first.participant, revises=first)
    other = submitted(member.study, participant=first.participant)
    for task, state in ((first, S.REVISION), (again, S.ACCEPTED), (other, S.REJECTED)):
        WritingTask.objects.filter(pk=task.pk).update(state=state)
    for task, others in ((again, [other]), (first, [other, again]), (other, [again])):
        record = client.get(at(task)).context["dossier"].record
        assert (record.written, record.accepted, record.rejected, record.revision) == (2, 1, 1, 0)
        assert {each.pk for each in record.others} == {each.pk for each in others}


def test_a_task_of_another_study_or_without_a_response_is_not_there(member: Any, client: Client, at: Any) -> None:
    assert client.get(at(submitted(StudyFactory()))).status_code == 404
    assert client.get(at(page="no-such/")).status_code == 404


@pytest.mark.parametrize(
    ("after", "cause", "detail"),
    [
        (S.SUBMITTED, "submitted", ""),
        (S.CLAIMED, "claimed", ""),
        (S.CLAIMED, "claimed for the trial", "trial"),
        (S.REJECTED, "undone", "decision undone"),
        (S.ACCEPTED, "rejection reversed", "rejection reversed"),
    ],
)
def test_the_history_gives_a_cause_only_if_it_says_more_than_the_state(after: str, cause: str, detail: str) -> None:
    assert TaskTransition(after=after, cause=cause).detail == detail


def test_hostile_texts_are_shown_and_not_run(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study, events=typed(HOSTILE, every=1))
    TaskTransition.objects.create(task=task, after=S.SUBMITTED, cause=HOSTILE, note=HOSTILE, at=timezone.now())
    page = client.get(at(task)).content.decode()
    assert [each in page for each in ("&lt;script&gt;", "<script>alert", "<img src=x")] == [True, False, False]


def test_signals_come_with_their_moments_and_innocent_causes(member: Any, client: Client, at: Any) -> None:
    page = client.get(at(submitted(member.study)))
    signals = {signal.name: signal for signal in page.context["signals"]}
    assert signals["away_before_paste"].stands_out
    assert all(signal.explanation and signal.innocent and signal.figure for signal in signals.values())
    (moment,) = signals["paste_from_elsewhere"].moments
    assert f'data-replay-at="{moment.ms}"' in page.content.decode()


def test_signals_are_computed_once(member: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    task = submitted(member.study)
    first = signal_display.flag_titles([task])
    assert first[task.pk]
    monkeypatch.setattr(signal_display, "_signals", lambda *_: pytest.fail("computed again"))
    assert signal_display.flag_titles([task]) == first
