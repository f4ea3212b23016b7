"""Questionnaires as JSON: a new version only when something changed."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotation.campaign_types import default_dimensions
from annotation.imports import questionnaire_files
from annotation.models import Dimension, Instructions
from crowdrag.studies.models import Study
from tests.factories import StudyFactory
from writing.corpus.imports import sources
from writing.corpus.imports.problems import BadInput, Problems

pytestmark = pytest.mark.django_db

SAMPLE: dict[str, Any] = json.loads((Path(__file__).parents[2] / "data/imports/questionnaire.json").read_text())
NOW = datetime(2026, 2, 3, tzinfo=UTC)
QUESTION = {"name": "depth", "text": "How deep?"}


def read(given: Any, tmp_path: Path) -> questionnaire_files.QuestionnaireInput:
    path = tmp_path / "questionnaire.json"
    path.write_text(given if isinstance(given, str) else json.dumps(given, indent=1))
    return questionnaire_files.read(sources.of_path(path), Problems())


def bring_in(study: Study, given: Any, tmp_path: Path) -> questionnaire_files.Stored:
    return questionnaire_files.store(study=study, questionnaire=read(given, tmp_path), now=NOW)


def test_it_becomes_instructions_and_dimensions(tmp_path: Path) -> None:
    stored = bring_in(StudyFactory(), SAMPLE, tmp_path)

    assert (stored.instructions.name, stored.instructions.text) == ("utility", "# Compare\n\nRead both.")
    first, second = stored.dimensions
    assert (first.name, first.question, first.description) == (
        "correctness_topical",
        "Which answers better?",
        "On the query.",
    )
    assert (first.asks_justification, second.asks_justification) == (True, False)
    assert first.options == default_dimensions.CHOICE
    assert second.options == [{"value": -1, "label": "Left"}, {"value": 1, "label": "Right"}]
    assert (first.label, second.label) == ("Topical correctness", "Overall quality")
    assert stored.made == {"instructions": 1, "dimensions": 2}


def test_the_same_again_makes_no_version(tmp_path: Path) -> None:
    study = StudyFactory()
    first = bring_in(study, SAMPLE, tmp_path)

    again = bring_in(study, SAMPLE, tmp_path)

    assert again.made == {"instructions": 0, "dimensions": 0}
    assert (again.instructions, again.dimensions) == (first.instructions, first.dimensions)


def test_what_changed_is_a_new_version_and_what_did_not_is_not(tmp_path: Path) -> None:
    study = StudyFactory()
    bring_in(study, SAMPLE, tmp_path)
    changed = json.loads(json.dumps(SAMPLE))
    changed["questions"][0]["text"] = "Which one answers better?"

    stored = bring_in(study, changed, tmp_path)

    assert stored.made == {"instructions": 0, "dimensions": 1}
    assert [dimension.version for dimension in stored.dimensions] == [2, 1]
    assert bring_in(study, SAMPLE, tmp_path).dimensions[0].version == 1
    assert (Dimension.objects.filter(study=study).count(), Instructions.objects.filter(study=study).count()) == (3, 1)


BASE = {"name": "q", "type": "pairwise", "instructions": "Read.", "questions": [QUESTION]}


def options(values: list[int]) -> list[dict[str, Any]]:
    return [{"value": value, "label": f"option {number}"} for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("given", "field", "datum"),
    [
        (BASE | {"type": "triple"}, "type", "triple"),
        (BASE | {"instructions": ""}, "instructions", ""),
        (BASE | {"questions": []}, "questions", "0"),
        (BASE | {"questions": [{"name": "x"}]}, "questions[0].text", ""),
        (BASE | {"questions": [QUESTION, QUESTION]}, "questions[1].name", "depth"),
        (BASE | {"questions": [QUESTION | {"options": options([1])}]}, "questions[0].options", ""),
        (BASE | {"questions": [QUESTION | {"options": options([1, 5])}]}, "questions[0].options", "[1, 5]"),
        (BASE | {"questions": [QUESTION | {"options": options([1, 1])}]}, "questions[0].options", "[1, 1]"),
        (BASE | {"questions": [QUESTION | {"options": list("wxyz")}]}, "questions[0].options[0]", ""),
        (BASE | {"questions": [QUESTION | {"justification": "yes"}]}, "questions[0].justification", "yes"),
        ([BASE], "", ""),
        ("", "", ""),
        ('{\n\n "name": "q",\n "type"\n}', "", ""),
    ],
)
def test_what_is_wrong_is_named(given: Any, field: str, datum: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        read(given, tmp_path)
    problem = refused.value.problems[0]
    assert problem.field == field
    assert datum in problem.message
    assert problem.line == (5 if isinstance(given, str) and given else problem.line)


def test_the_default_dimensions_are_those_of_the_paper() -> None:
    study = StudyFactory()
    pairwise = default_dimensions.ensure_pairwise(study=study, now=NOW)
    assert [dimension.name for dimension in pairwise] == list(default_dimensions.NAMES)
    assert [dimension.values for dimension in pairwise] == [[-1, 0, 1]] * 6 + [[-1, 1]]
    assert [d.values for d in default_dimensions.ensure_pointwise(study=study, now=NOW)] == [[-3, -1, 1, 3]] * 7
    assert default_dimensions.ensure_pairwise(study=study, now=NOW) == pairwise
    models = default_dimensions.ensure_pairwise(study=study, now=NOW, always_neither=True)
    assert models[:6] == pairwise[:6]
    assert models[6].values == [-1, 0, 1]


@pytest.mark.parametrize(
    ("type_", "words", "values"),
    [
        ("pairwise", ["B", "A"], [-1, 1]),
        ("pairwise", ["A", "N", "B"], [-1, 0, 1]),
        ("pairwise", ["left", "neither", "right"], [-1, 0, 1]),
        ("pairwise", ["left", "right"], [-1, 1]),
        ("pointwise", ["basic", "rather basic", "rather detailed", "detailed"], [1, 2, 3, 4]),
        ("pointwise", None, [1, 2, 3, 4, 5]),
    ],
)
def test_options_may_be_plain_words(type_: str, words: list[str] | None, values: list[int], tmp_path: Path) -> None:
    question = QUESTION | ({"options": words} if words else {})
    found = read({"type": type_, "instructions": "Read.", "questions": [question]}, tmp_path)
    assert found.name == type_
    given = found.questions[0].content["options"]
    assert [option["value"] for option in given] == values
    assert not words or sorted(option["label"] for option in given) == sorted(words)
