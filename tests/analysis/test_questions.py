"""What questions of surveys and their answers are called."""

import pytest

from analysis.domain.pages.questions import Question, Questions
from tests import factories
from tests.factories import NOW
from writing.domain import surveys
from writing.enums import SurveyKind
from writing.models import Survey


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
    found = Questions.of(study)
    assert found.text(row("exit", "done")) == "All done? (after)"
    assert [found.answer(row("exit", "done", value)) for value in (-1.0, 1.0, 2.0)] == ["no", "certainly", "2"]


def test_questions_of_the_published_corpus_are_known_without_a_survey(study, django_assert_num_queries):
    with django_assert_num_queries(1):
        found = Questions.of(study)
    assert found.text(row("exit", "references_omission")) == "Did you leave out information of the passages? (after)"
    assert found.answer(row("exit", "references_omission", 0.0)) == "maybe"
    assert found.answer(row("entry", "worker_knowledge", 5.0)) == "5 (a great deal)"
    assert found.answer(row("entry", "worker_knowledge", 3.0)) == "3"


def test_a_question_without_a_text_goes_by_its_name(study):
    surveys.ensure(study=study, kind=SurveyKind.ENTRY, now=NOW)
    found = Questions.of(study)
    assert found.text(row("entry", "some_thing")) == "Some thing (before)"
    assert found.answer(row("entry", "some_thing", 2.0)) == "2"
    assert found.answer(row("entry", "some_thing")) == ""


def test_two_questions_are_said_with_when_each_was_asked():
    found = Questions({("entry", "a"): Question("Before?"), ("exit", "b"): Question("After?")})
    assert found.text(row("entry, exit", "a, b")) == "Before? (before) / After? (after)"
    assert found.text(row("entry", "a, c")) == "Before? / C (before)"
