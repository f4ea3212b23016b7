"""Whether a judge is unsure about an item, and problems that they report with one."""

import pytest
from django.utils import timezone

from annotation.judging import answers, erasure, problem_reports, problems, questionnaire_content, submission
from annotation.models import ItemConfidence, Judgment
from crowdrag.assignments.problems import LeftStudy
from crowdrag.studies.models import ParticipantMessage
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import answer_all
from tests.annotation.judging.judging_page import JudgingPage
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def test_what_is_said_of_an_item_goes_with_all_judgments_of_it() -> None:
    sheet = JudgingPage()
    (item, _dimension), other = sheet.questions[0], sheet.questions[-1][0]
    said = {"item": item.pk, "value": 1, "revision": 1}
    for _twice in range(2):
        answer = sheet.post("confidence", said)
        assert (answer.status_code, answer.json()["revision"]) == (200, 1)
    sheet.post("confidence", {**said, "item": other.pk})
    sheet.post("confidence", {**said, "item": other.pk, "value": 0, "revision": 2})
    answer_all(sheet.mine, timezone.now())
    unsure = Judgment.objects.with_confidence().filter(is_unsure=True)
    assert set(unsure.values_list("item", flat=True)) == {item.pk}
    assert unsure.count() == Judgment.objects.filter(item=item).count()
    entries = {entry.shown.item: entry.confidence for entry in questionnaire_content.load_page(sheet.mine).entries}
    assert entries[item.pk] == questionnaire_content.Confidence(is_unsure=True, revision=1)
    assert entries[other.pk] == questionnaire_content.Confidence(is_unsure=False, revision=2)
    source = sheet.client.get(sheet.address("questionnaire")).content.decode()
    assert f'data-unsure="{item.pk}" data-revision="1" checked' in source
    # It changes nothing about how they count, and is said no more once the questionnaire was submitted.
    assert Judgment.objects.with_confidence().count() == Judgment.objects.count()
    submission.submit(assignment=sheet.mine, now=timezone.now())
    assert sheet.post("confidence", {**said, "value": 0, "revision": 2}).status_code == 409


def test_of_two_windows_the_first_is_shown_to_the_other() -> None:
    sheet = JudgingPage()
    item = sheet.questions[0][0].pk
    said = {"assignment": sheet.mine, "item": item, "now": NOW}
    answers.state_confidence(is_unsure=True, revision=1, **said)
    answers.state_confidence(is_unsure=False, revision=2, **said)
    other = sheet.post("confidence", {"item": item, "value": 1, "revision": 1})
    assert (other.status_code, other.json()["value"], other.json()["revision"]) == (409, 0, 2)


@pytest.mark.parametrize("wrong", [{"item": 0}, {"item": 2**62}, {"value": 2}, {"value": True}, {"revision": 0}])
def test_nothing_else_is_stored(wrong: dict[str, int]) -> None:
    sheet = JudgingPage()
    said = {"item": sheet.questions[0][0].pk, "value": 1, "revision": 1}
    assert sheet.post("confidence", {**said, **wrong}).status_code == 400
    assert not ItemConfidence.objects.exists()


def test_an_erasure_leaves_no_time() -> None:
    sheet = JudgingPage()
    answers.state_confidence(
        assignment=sheet.mine, item=sheet.questions[0][0].pk, is_unsure=True, revision=1, now=timezone.now()
    )
    withdrawal.withdraw(participant=sheet.judge, now=timezone.now())
    erasure.erase(sheet.judge, timezone.now())
    assert list(ItemConfidence.objects.values_list("is_unsure", "stated_at")) == [(True, None)]


def test_a_problem_is_a_message_about_the_questionnaire_that_names_the_item() -> None:
    sheet = JudgingPage()
    items = list(sheet.mine.questionnaire.entries.order_by("position").values_list("item", flat=True))
    for _twice in range(2):
        assert sheet.post("problem", {"item": items[1], "text": " Response B is empty. "}).status_code == 200
    message = ParticipantMessage.objects.get()
    assert (message.kind, message.about, message.participant) == ("PROBLEM", sheet.mine.external_id, sheet.judge)
    assert " 2 " in message.text
    assert message.text.endswith("\n\nResponse B is empty.")


def test_a_problem_has_words_and_an_item_of_the_questionnaire() -> None:
    sheet = JudgingPage()
    item = sheet.questions[0][0].pk
    for sent in (
        {"item": item, "text": " "},
        {"item": 0, "text": "x"},
        {"item": item, "text": "x" * 5001},
        {"text": "x"},
    ):
        assert sheet.post("problem", sent).status_code == 400
    with pytest.raises(problems.BadAnswer):
        problem_reports.report(assignment=sheet.mine, item=0, text="x", now=NOW)
    withdrawal.withdraw(participant=sheet.judge, now=timezone.now())
    sheet.mine.participant.refresh_from_db()
    with pytest.raises(LeftStudy):
        problem_reports.report(assignment=sheet.mine, item=item, text="x", now=NOW)
    assert not ParticipantMessage.objects.exists()
