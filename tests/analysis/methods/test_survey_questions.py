"""What questions of surveys and their answers are called."""

import pytest

from analysis.tables.value_labels import Question, Questions
from tests import factories
from tests.factories import NOW
from writing.enums import SurveyKind
from writing.models import Survey
from writing.plans import surveys


def row(kind, question, option=None):
    return {"kind": kind, "question": question, "option": option}


@pytest.fixture
def study(db):
    return factories.StudyFactory()


def test_the_latest_version_names_a_question_and_earlier_answers_keep_their_label(study):
    first = [{"value": -1, "label": "no"}, {"value": 1, "label": "yes"}]
    later = [{"value": 1, "label": "certainly"}]
    for version, (text, options) in enumerate((("Done?", first), ("All done?", later)), 1):
        asked = [{"name": "done", "text": text, "options": options}]
        Survey.objects.create(
            study=study, name="exit", kind=SurveyKind.EXIT, version=version, questions=asked, created_at=NOW
        )
    questions = Questions.of(study)
    assert questions.text(row("exit", "done")).startswith("All done?")
    assert [questions.answer(row("exit", "done", value)) for value in (-1.0, 1.0, 2.0)] == ["no", "certainly", "2"]


def test_questions_of_the_published_corpus_are_known_and_others_go_by_their_names(study, django_assert_num_queries):
    with django_assert_num_queries(1):
        questions = Questions.of(study)
    assert questions.text(row("exit", "references_omission")) != questions.text(row("exit", "references_extra"))
    answers = {questions.answer(row("entry", "worker_knowledge", value)) for value in (1.0, 3.0, 5.0)}
    assert len(answers) == 3
    assert "3" in answers  # the middle of a scale has a number alone
    surveys.ensure(study=study, kind=SurveyKind.ENTRY, now=NOW)
    questions = Questions.of(study)
    assert questions.text(row("entry", "some_thing")).startswith("Some thing")
    assert [questions.answer(row("entry", "some_thing", value)) for value in (2.0, None)] == ["2", ""]


def test_two_questions_are_named_with_when_each_was_asked():
    questions = Questions({("entry", "a"): Question("Before?"), ("exit", "b"): Question("After?")})
    first, second = questions.text(row("entry, exit", "a, b")).split(" / ")
    assert first.startswith("Before?")
    assert second.startswith("After?")
    assert first.removeprefix("Before?") != second.removeprefix("After?")
    assert questions.text(row("entry", "a, c")).startswith("Before? / C")
