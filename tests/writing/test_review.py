"""Review: who gets what, what is shown, and what is decided."""

import html
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.core.cache import cache
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from crowdrag.studies.enums import Role
from crowdrag.studies.models import User
from tests.factories import MembershipFactory, StudyFactory, StyleFactory, UserFactory
from tests.submitted import pasted, submitted, typed
from writing.domain.reviewing import evidence, queue, text_difference
from writing.domain.tasks import reviewing
from writing.enums import TaskState
from writing.models import Response, TaskTransition, WritingTask

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
        rest = f"{task.external_id}/{page}" if task else page
        return f"/studies/{member.study.slug}/review/{rest}"

    return address


def another(member: Any) -> User:
    return MembershipFactory(study=member.study, role=Role.REVIEWER).user


def take(member: Any, user: User | None = None, **more: Any) -> WritingTask | None:
    return queue.take_next(study=member.study, by=user or member.user, now=timezone.now(), **more)


# The queue


def test_the_oldest_comes_first_and_filters_narrow(member: Any, client: Client, at: Any) -> None:
    news = StyleFactory(study=member.study, name="news")
    old, new = submitted(member.study, minutes=50), submitted(member.study, minutes=5, style=news, is_trial=True)
    submitted(StudyFactory())
    assert [row[0] for row in client.get(at()).context["rows"]] == [old, new]
    for query in ("style=news", "trial=on", f"writer={new.participant.external_id}"):
        assert [row[0] for row in client.get(f"{at()}?{query}").context["rows"]] == [new]
    assert "No response fits this filter" in client.get(f"{at()}?writer=nobody").content.decode()


def test_responses_with_signals_are_found(member: Any, client: Client, at: Any) -> None:
    cache.clear()
    plain = submitted(member.study, minutes=9, events=typed("All of this was typed by hand, letter by letter."))
    foreign = pasted("A long text from who knows where that no passage of this topic holds at all.", ms=5, at=0)
    flagged = submitted(member.study, events=foreign)
    rows = client.get(f"{at()}?signals=on").context["rows"]
    assert [(task, signals) for task, signals, _ in rows] == [(flagged, ["Paste from elsewhere"])]
    assert take(member, wanted=queue.Wanted(signals=True)) == flagged
    assert take(member, another(member)) == plain


@pytest.mark.parametrize("count", [1, 4])
def test_the_queue_takes_the_same_queries_for_one_and_four(
    member: Any, client: Client, at: Any, count: int, django_assert_num_queries: Any
) -> None:
    cache.clear()
    for number in range(count):
        submitted(member.study, minutes=number)
    with django_assert_num_queries(12):
        assert len(client.get(at()).context["rows"]) == count


def test_a_page_of_one_response_takes_as_many_queries_whatever_else_there_is(
    member: Any, client: Client, at: Any
) -> None:
    def queries(task: WritingTask) -> int:
        from django.test.utils import CaptureQueriesContext

        with CaptureQueriesContext(connection) as seen:
            assert client.get(at(task)).status_code == 200
        return len(seen)

    task = submitted(member.study)
    alone = queries(task)
    for number in range(3):
        submitted(member.study, minutes=number, participant=task.participant)
    assert queries(task) == alone


def test_decided_ones_are_looked_up(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    client.post(at(task, "decide/"), {"decision": "accept"})
    assert [row[0] for row in client.get(f"{at()}?list=accepted").context["rows"]] == [task]
    assert client.get(f"{at()}?list=rejected").context["rows"] == []
    assert client.get(at()).context["counts"] == queue.Counts(waiting=0, open=0, accepted=1, rejected=0, revision=0)


# Holding


def test_two_reviewers_get_two_responses_and_the_third_gets_none(member: Any) -> None:
    one, other = submitted(member.study, minutes=9), submitted(member.study, minutes=5)
    assert take(member) == one
    assert take(member) == one  # who asks again goes on with what they have open
    assert take(member, another(member)) == other
    assert take(member, another(member)) is None


def test_a_hold_that_ran_out_is_free_again(member: Any) -> None:
    task = submitted(member.study)
    assert take(member) == task
    later = timezone.now() + queue.HOLD + timedelta(seconds=1)
    colleague = another(member)
    assert not queue.hold(task=task, by=colleague, now=timezone.now())
    assert queue.take_next(study=member.study, by=colleague, now=later) == task
    assert not queue.hold(task=task, by=member.user, now=later)


@pytest.mark.django_db(transaction=True)
def test_many_reviewers_at_once_never_get_the_same() -> None:
    study = StudyFactory()
    for number in range(8):
        submitted(study, minutes=number)
    users = [UserFactory() for _ in range(12)]

    def ask(user: User) -> int | None:
        try:
            task = queue.take_next(study=study, by=user, now=timezone.now())
            return task.pk if task else None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(12) as pool:
        got = list(pool.map(ask, users))
    taken = [pk for pk in got if pk is not None]
    assert len(taken) == len(set(taken))
    assert len(taken) == 8


def test_what_another_has_open_is_said_and_taken_over_by_a_clear_word(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    colleague = another(member)
    assert take(member, colleague) == task
    page = client.get(at(task)).content.decode()
    assert f"{colleague} has this response open until" in page
    assert "Accept, pay" not in page
    refused = client.post(at(task, "decide/"), {"decision": "accept"})
    assert refused.status_code == 409
    assert WritingTask.objects.get(pk=task.pk).state == S.SUBMITTED
    assert f"{colleague} has this response open now" in client.post(at(task, "hold/")).content.decode()
    refused = client.post(at(task, "decide/"), {"decision": "send_back", "note": "My own words."})
    assert [words for _label, words in refused.context["typed"]] == ["My own words."]
    mine = client.post(at(task, "hold/"), {"over": "yes", **dict(refused.context["resent"])})
    assert mine.context["decisions"]["send_back"]["note"].value() == "My own words."
    assert WritingTask.objects.get(pk=task.pk).reviewer == member.user


def test_whoever_looks_at_a_free_one_holds_it_as_long_as_they_look(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    page = client.get(at(task)).content.decode()
    assert page.count('form="accept-form"') == 2  # the words of an acceptance, and their button
    assert f'hx-post="{at(task, "hold/")}"' in page
    assert "Load the page again" not in page
    assert WritingTask.objects.get(pk=task.pk).reviewer is None  # looking alone changes nothing
    held = client.post(at(task, "hold/")).content.decode()
    assert "load," not in held
    assert 'hx-trigger="every 20s"' in held
    assert WritingTask.objects.get(pk=task.pk).reviewer == member.user


def test_putting_aside_frees_it_and_leads_to_the_next_and_round(member: Any, client: Client, at: Any) -> None:
    one, other = submitted(member.study, minutes=9), submitted(member.study, minutes=5)
    assert client.post(at(page="next/")).url == at(one)
    assert client.post(at(one, "skip/")).url == at(other)
    assert WritingTask.objects.get(pk=one.pk).reviewer is None
    assert client.post(at(other, "skip/")).url == at(one)


# Deciding


def test_after_a_decision_comes_the_next_within_the_filter(member: Any, client: Client, at: Any) -> None:
    news = StyleFactory(study=member.study, name="news")
    one = submitted(member.study, minutes=9, style=news)
    submitted(member.study, minutes=7)
    other = submitted(member.study, minutes=5, style=news)
    answer = client.post(f"{at(one, 'decide/')}?style=news", {"decision": "accept", "note": "Well done."})
    assert answer.url == f"{at(other)}?style=news"
    one.refresh_from_db()
    assert (one.state, one.payments.get().amount) == (S.ACCEPTED, 250)
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


def test_what_is_missing_is_said_and_nothing_is_decided(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    cases: list[dict[str, str]] = [
        {"decision": "reject", "reason": "", "pay": "none"},
        {"decision": "reject", "reason": "So.", "pay": "part", "amount": ""},
        {"decision": "reject", "reason": "So.", "pay": "part", "amount": "2.51"},
        {"decision": "reject", "reason": "So.", "pay": "part", "amount": "1.001"},
        {"decision": "send_back", "note": "  "},
        {"decision": "other"},
        {},
    ]
    assert [client.post(at(task, "decide/"), given).status_code for given in cases] == [422] * len(cases)
    task.refresh_from_db()
    assert task.state == S.SUBMITTED


def test_a_revision_shows_what_changed_and_what_was_said(member: Any, client: Client, at: Any) -> None:
    first = submitted(member.study)
    client.post(at(first, "decide/"), {"decision": "send_back", "note": "Cite every claim."})
    fresh = WritingTask.objects.get(revises=first)
    fresh.delete()
    again = submitted(
        member.study, topic=first.topic, style=first.style, participant=first.participant, revises=first,
        events=typed("Tides differ [0]. Nobody knows why [2]."),
    )  # fmt: skip
    page = client.get(at(again)).content.decode()
    assert "Cite every claim." in page
    assert "<ins>" in page
    assert "<del>" in page


def test_paying_and_including_are_two_decisions(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    client.post(at(task, "include/"), {"inclusion": "exclude", "why": "Written by a friend."})
    client.post(at(task, "decide/"), {"decision": "accept"})
    task.response.refresh_from_db()
    assert not task.response.is_included
    assert task.payments.get().amount == 250
    client.post(at(task, "include/"), {"inclusion": "include", "why": "It was not."})
    task.response.refresh_from_db()
    assert task.response.is_included
    assert client.post(at(task, "include/"), {"inclusion": "include", "why": ""}).status_code == 422


def test_a_rejection_is_reversed_and_something_is_paid_beside(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    client.post(at(task, "decide/"), {"decision": "reject", "reason": "No.", "pay": "part", "amount": "1"})
    assert "Accept after all" in client.get(at(task)).content.decode()
    assert client.post(at(task, "reverse/"), {"note": ""}).status_code == 422
    client.post(at(task, "reverse/"), {"note": "We were wrong."})
    assert client.post(at(task, "pay/"), {"amount": "0.005", "reason": "Sorry"}).status_code == 422
    client.post(at(task, "pay/"), {"amount": "0.50", "reason": "Sorry"})
    task.refresh_from_db()
    assert task.state == S.ACCEPTED
    assert sum(payment.amount for payment in task.payments.all()) == 300
    assert client.post(at(task, "decide/"), {"decision": "send_back", "note": "x"}).status_code == 409


def said(answer: Any) -> str:
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))


def test_what_was_erased_is_paid_and_never_counts_again(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    Response.objects.filter(task=task).update(erased_at=timezone.now(), text="", words=0, is_included=False)
    page = client.get(at(task)).content.decode()
    assert "was erased at its writer's wish" in html.unescape(page)
    assert [f'data-review-panel="{key}"' in page for key in "evx"] == [False] * 3
    refused = client.post(at(task, "include/"), {"inclusion": "include", "why": "I liked it."})
    assert (refused.status_code, "erased at its writer" in said(refused)) == (409, True)
    for given in ({"decision": "reject", "reason": "No.", "pay": "none"}, {"decision": "send_back", "note": "More."}):
        assert client.post(at(task, "decide/"), given).status_code == 409
    accepted = client.post(at(task, "decide/"), {"decision": "accept"})
    assert "stays left out" in said(accepted)
    task.refresh_from_db()
    assert (task.state, task.payments.get().amount, task.response.is_included) == (S.ACCEPTED, 250, False)


def test_a_rejection_of_what_was_erased_is_reversed_for_the_pay_alone(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    client.post(at(task, "decide/"), {"decision": "reject", "reason": "No.", "pay": "none"})
    Response.objects.filter(task=task).update(erased_at=timezone.now(), text="", words=0)
    client.post(at(task, "reverse/"), {"note": "We were wrong."})
    task.refresh_from_db()
    assert (task.state, task.payments.get().amount, task.response.is_included) == (S.ACCEPTED, 250, False)


def test_what_an_acceptance_leads_to_is_said(member: Any, client: Client, at: Any) -> None:
    plain, trial = submitted(member.study), submitted(member.study, is_trial=True)
    reviewing.exclude(response=trial.response, reason="A trial.", by=member.user, now=timezone.now())
    page = client.get(at(trial)).content.decode()
    assert "Include, though a trial" in page
    assert "kept apart from the analysis" in page
    assert "counts in the analysis." in said(client.post(at(plain, "decide/"), {"decision": "accept"}))
    assert "does not count in the analysis" in said(client.post(at(trial, "decide/"), {"decision": "accept"}))


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


# Pages


def test_viewers_and_strangers_do_not_review(member: Any, at: Any) -> None:
    task = submitted(member.study)
    pages = [at(), at(page="next/"), *(at(task, page) for page in ("", "decide/", "hold/", "include/"))]
    for user, status in [
        (MembershipFactory(study=member.study, role=Role.VIEWER).user, 403),
        (MembershipFactory(role=Role.OWNER).user, 404),
    ]:
        client = Client()
        client.force_login(user)
        found = [(client.post(page).status_code, client.get(page).status_code) for page in pages]
        assert found == [(status, status)] * len(pages)


def test_a_task_of_another_study_or_without_a_response_is_not_there(member: Any, client: Client, at: Any) -> None:
    assert client.get(at(submitted(StudyFactory()))).status_code == 404
    assert client.get(at(page="no-such/")).status_code == 404


def test_hostile_texts_are_shown_and_not_run(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study, events=typed(HOSTILE, every=1))
    TaskTransition.objects.create(task=task, after=S.SUBMITTED, cause=HOSTILE, note=HOSTILE, at=timezone.now())
    page = client.get(at(task)).content.decode()
    assert "&lt;script&gt;" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_signals_say_what_they_mean_and_what_innocent_causes_there_are(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    signals = {signal.name: signal for signal in client.get(at(task)).context["signals"]}
    assert signals["away_before_paste"].stands_out
    assert all(signal.explanation and signal.innocent and signal.figure for signal in signals.values())
    (moment,) = signals["paste_from_elsewhere"].moments
    assert "found in no passage" in moment.label
    page = client.get(at(task)).content.decode()
    assert f'data-replay-at="{moment.ms}"' in page
    assert "never a verdict" in page


def test_signals_are_computed_once(member: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    task = submitted(member.study)
    first = evidence.flagged([task])
    assert first[task.pk]
    monkeypatch.setattr(evidence, "_signals", lambda *_: pytest.fail("computed again"))
    assert evidence.flagged([task]) == first


def test_differences_put_together_give_both_texts() -> None:
    before, after = "Leaves fall [0]. Snow melts.", "All leaves fall [0, 1]. Snow melts!"
    parts = text_difference.difference(before, after)
    assert "".join(part.text for part in parts if part.kind != "new") == before
    assert "".join(part.text for part in parts if part.kind != "gone") == after
