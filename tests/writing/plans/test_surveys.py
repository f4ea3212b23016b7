"""Questions that a study sets, and answers to them."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.crowdrag25 import record_schemas
from tests.factories import NOW, StudyFactory
from writing.assignments.forms import SurveyForm
from writing.enums import SurveyKind
from writing.plans import surveys

YES_NO = [{"value": 1, "label": "yes"}, {"value": 0, "label": "no"}]


def question(**fields: object) -> dict:
    return {"name": "q", "text": "Really?", "kind": "choice", "options": YES_NO, **fields}


@pytest.mark.parametrize(
    ("kind", "names"), [("ENTRY", record_schemas.ENTRY_QUESTIONS), ("EXIT", record_schemas.EXIT_QUESTIONS)]
)
def test_the_defaults_are_the_published_questions_with_their_values(kind: str, names: tuple[str, ...]) -> None:
    asked = surveys.defaults(StudyFactory.build(), SurveyKind(kind))
    assert tuple(each["name"] for each in asked) == names
    for each in asked:
        values = [option["value"] for option in each["options"]]
        assert sorted(values) in ([-1, 0, 1], [1, 2, 3, 4, 5])
        assert (len(values) == 3) == (record_schemas.TASK[each["name"]] is record_schemas._ternary)
    assert surveys.parse(asked) == asked
    assert surveys.parse(json.dumps(asked)) == asked


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("[", "line 1"),
        ("[" * 100_000, ""),
        ("{}", "50"),
        ([question()] * 51, "50"),
        (["x"], "1"),
        ([question(name="Q 1")], "“name”"),
        ([question(name="")], "“name”"),
        ([question(text=" ")], "“text”"),
        ([question(text=7)], "“text”"),
        ([question(text="a\0b")], "“text”"),
        ([question(text="\ud800")], "“text”"),
        ([question(kind="grid")], "kind"),
        ([question(options=YES_NO[:1])], "2 to 20"),
        ([question(options=[*YES_NO, YES_NO[0]])], ""),
        ([question(options=[{"value": 1}, {"value": 2, "label": "b"}])], "label"),
        ([question(options=[{"value": True, "label": "a"}, {"value": 2, "label": "b"}])], ""),
        ([question(kind="scale", options=[{"value": "a", "label": "a"}, *YES_NO])], ""),
        ([question(kind="text")], "options"),
        ([question(required="yes")], "true or false"),
        ([question(low="little")], "scale"),
        ([question(colour="red")], "colour"),
        ([question(), question()], "“q”"),
        ([question(), question(name="B"), 7], "3"),
        ([question(name=""), question(text="", name="b")], "1.*2"),
    ],
)
def test_bad_questions_are_refused_with_what_is_wrong(source: object, named: str) -> None:
    with pytest.raises(surveys.BadSurvey, match=f"(?s){named}"):
        surveys.parse(source)  # type: ignore[arg-type]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(surveys.FIELDS)), inner, max_size=5)
        ),
        max_leaves=12,
    )
)
def test_whatever_comes_is_a_survey_or_refused(source) -> None:
    with suppress(surveys.BadSurvey):
        asked = surveys.parse([source])
        assert surveys.parse(asked) == asked


ASKED = surveys.parse(
    [
        question(),
        question(name="s", kind="scale", low="little", options=[{"value": n, "label": str(n)} for n in (1, 2, 3)]),
        {"name": "t", "text": "Why?", "kind": "text", "required": False},
    ]
)


def test_answers_are_stored_as_what_the_options_are() -> None:
    assert surveys.check(ASKED, {"q": "0", "s": "3", "t": " because "}) == {"q": 0, "s": 3, "t": "because"}
    assert surveys.check(ASKED, {"q": "1", "s": "1", "t": ""}) == {"q": 1, "s": 1}
    assert surveys.check(ASKED, {"q": 1, "s": 1, "t": "a\0b\ud800", "other": "x"})["t"] == "a\ufffdb?"


def test_answers_that_do_not_fit_are_said_by_question() -> None:
    with pytest.raises(surveys.BadAnswers) as bad:
        surveys.check(ASKED, {"q": "2", "t": "x" * 5001})
    assert set(bad.value.problems) == {"q", "s", "t"}


@pytest.mark.django_db
def test_the_form_asks_in_groups_that_are_labelled() -> None:
    survey = surveys.ensure(study=StudyFactory(), kind=SurveyKind.ENTRY, questions=ASKED, now=NOW)
    assert surveys.ensure(study=survey.study, kind=SurveyKind.ENTRY, questions=ASKED, now=NOW) == survey
    form = SurveyForm(survey, {"q": "1", "s": "2", "t": ""})
    assert form.is_valid()
    assert form.answers == {"q": 1, "s": 2}
    assert all(field.field.widget.use_fieldset for field in form if field.name != "t")
    assert form["s"].help_text == "1 = little"
    hostile = surveys.parse([question(kind="scale", low="<b>little</b>")])
    asked = surveys.ensure(study=survey.study, kind=SurveyKind.ENTRY, questions=hostile, now=NOW)
    assert SurveyForm(asked)["q"].help_text == "yes = &lt;b&gt;little&lt;/b&gt;", "help texts are shown as they are"
    wrong = SurveyForm(survey, {"q": "7"})
    assert not wrong.is_valid()
    assert set(wrong.errors) == {"q", "s"}
    assert [len(messages) for messages in wrong.errors.values()] == [1, 1]
    assert SurveyForm(None, {}).is_valid()
