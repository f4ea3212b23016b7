"""What judging asks of the server again and again is little, and comes to the same as the long way."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from annotation.campaign_types.shown_items import ShownItem, Side
from annotation.judging import answers, problems, questionnaire_content
from annotation.models import Assignment, Judgment
from annotation.templatetags import judging
from tests.annotation.judge_actions import claim, sheets
from tests.annotation.judging.judging_page import JudgingPage
from tests.annotation.open_campaign import world
from tests.factories import NOW

pytestmark = pytest.mark.django_db
OPTIONS = (questionnaire_content.Option(-1, "A", "1"), questionnaire_content.Option(1, "B", "2"))
QUESTION = questionnaire_content.Question(
    pk=5, label="Clarity", text="Which is <clearer>?", description="", options=OPTIONS
)


def statements(sheet: JudgingPage, name: str, body: object) -> list[str]:
    with CaptureQueriesContext(connection) as asked:
        assert sheet.post(name, body).status_code == 200
    return [each["sql"] for each in asked.captured_queries]


def test_an_answer_and_a_report_of_times_are_a_few_statements() -> None:
    sheet = JudgingPage()
    # Session, person with assignment, and what was sent; once the session is known, one statement.
    assert len(statements(sheet, "answer", sheet.answer())) == 3
    assert len(statements(sheet, "answer", sheet.answer(value=-1, revision=2))) == 1
    assert len(statements(sheet, "time", sheet.times())) == 1


@pytest.mark.parametrize("long_way", [False, True])
def test_both_ways_of_storing_an_answer_come_to_the_same(long_way: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if long_way:
        monkeypatch.setattr(answers, "_store", lambda *_args: None)
    here = world(topics=1, responses=3)
    mine = claim(here, here.judge())
    item, dimension = next(here.questions(mine))

    def give(value: int, revision: int, why: str = "") -> tuple[int, int, str]:
        asked = {"assignment": mine, "item": item.pk, "dimension": dimension.pk}
        try:
            stored = answers.answer(**asked, value=value, justification=why, revision=revision, now=NOW)
        except problems.OtherAnswer as problem:
            stored = problem.current
        assert stored.assignment_id == mine.pk
        row = Judgment.objects.get()
        assert (row.pk, row.value, row.revision, row.justification, row.judged_at, row.repeat, row.external_id) == (
            stored.pk, stored.value, stored.revision, stored.justification, NOW, 0, "",
        )  # fmt: skip
        return row.value, row.revision, row.justification

    assert give(1, 1) == (1, 1, "")
    assert give(1, 1) == (1, 1, "")
    assert give(-1, 2, "so") == (-1, 2, "so")
    assert give(1, 2) == (-1, 2, "so")
    assert give(1, 4) == (-1, 2, "so")
    assert give(-1, 3, "so") == (-1, 3, "so")
    with pytest.raises(problems.BadAnswer):
        give(7, 4)


def test_what_was_read_before_an_erasure_is_answered_no_more() -> None:
    here = sheets(1, k=1)
    mine = claim(here, here.judge())
    item, dimension = next(here.questions(mine))
    # As an erasure leaves it, in its own row alone: that is what an answer that waited for the lock looks at.
    Assignment.objects.filter(pk=mine.pk).update(external_id="")
    asked = {"item": item.pk, "dimension": dimension.pk, "value": 1, "justification": "", "revision": 1, "now": NOW}
    assert answers._store(answers.HELD, answers.held_parameters(mine), *asked.values()) is None


def test_a_question_is_rendered_once_for_all_and_what_somebody_wrote_is_not_kept() -> None:
    judging._question.cache_clear()
    plain = judging.question_field(QUESTION, "1-1", "en")
    assert "Which is &lt;clearer&gt;?" in plain
    assert judging.question_field(QUESTION, "1-1", "en") is plain
    assert judging.question_field(QUESTION, "1-2", "en") != plain
    assert judging._question.cache_info().currsize == 2
    answered = replace(QUESTION, answer=questionnaire_content.Answer(1, "", 1))
    assert "checked" in judging.question_field(answered, "1-1", "en")
    explained = replace(QUESTION, asks_justification=True, answer=questionnaire_content.Answer(1, "mine <alone>", 1))
    kept = judging._question.cache_info().currsize
    assert "mine &lt;alone&gt;" in judging.question_field(explained, "1-1", "en")
    assert judging._question.cache_info().currsize == kept
    with translation.override("de"):
        judging.question_field(QUESTION, "1-1", "en")
    assert judging._question.cache_info().currsize == kept + 1


def test_a_response_is_laid_out_once_and_escaped() -> None:
    judging._response.cache_clear()
    first = judging.response_text("- one <b>\n- two [0]")
    assert "<li>one &lt;b&gt;</li>" in first
    assert judging.response_text("- one <b>\n- two [0]") is first
    assert judging.response_text("another") != first


def test_what_stands_around_the_questions_is_rendered_once_for_all() -> None:
    shown = ShownItem(7, "Why <b>?", "", (Side("A", "One [0]."),))
    texts = judging.item_texts(2, shown, 15, "PAIRWISE", "en")
    assert "Why &lt;b&gt;?" in texts
    assert judging.item_texts(2, shown, 15, "PAIRWISE", "en") is texts
    gone = replace(shown, sides=(Side("A", ""),), is_gone=True)
    assert "One [" not in judging.item_texts(2, gone, 15, "PAIRWISE", "en")
    sure, unsure = (questionnaire_content.Confidence(is_unsure, 1) for is_unsure in (False, True))
    controls = [judging.item_controls(7, said, False, None) for said in (sure, unsure)]
    assert ["checked" in each for each in controls] == [False, True]
    assert judging.item_controls(7, sure, False, None) is controls[0]
    assert "data-reports" in judging.item_controls(7, sure, False, object())
    assert "data-reports" not in controls[0]
    with translation.override("de"):
        assert judging.item_controls(7, sure, False, None) != controls[0]
