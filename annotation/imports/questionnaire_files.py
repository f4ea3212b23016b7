"""Questionnaires as JSON: instructions in Markdown, and the questions about each item."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.campaign_types import default_dimensions
from annotation.models import Dimension, Instructions
from crowdrag.studies.models import Study
from writing.corpus import versions
from writing.corpus.imports import bulk, json_lines
from writing.corpus.imports.fields import Flag, Identifier, ListOf, Object, OneOf, Optional, Text, Whole
from writing.corpus.imports.problems import Problems
from writing.corpus.imports.sources import Member

PAIRWISE, POINTWISE = "pairwise", "pointwise"
MAX_VALUE = 32_767
LETTERS = {"a": -1, "n": 0, "b": 1}
_VALUES = {PAIRWISE: {-1, 0, 1}, POINTWISE: None}
_LIKERT = [{"value": n, "label": str(n)} for n in range(1, 6)]

SHAPE = {
    "name": Optional(Identifier(100)),
    "type": OneOf((PAIRWISE, POINTWISE)),
    "instructions": Text(),
    "questions": ListOf(
        Object(
            {
                "name": Identifier(100),
                "text": Text(),
                "label": Optional(Text(longest=100)),
                "description": Optional(Text(blank=True)),
                "options": Optional(
                    ListOf(
                        Object({"value": Whole(-MAX_VALUE, MAX_VALUE), "label": Text(longest=200)}), least=2, most=100
                    )
                ),
                "justification": Optional(Flag()),
            }
        ),
        least=1,
        most=100,
    ),
}


@dataclass(frozen=True, slots=True)
class Question:
    """An imported question, with the fields of a dimension."""

    name: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class QuestionnaireInput:
    """Instructions and questions."""

    name: str
    type: str
    instructions: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored questionnaire: a version of the instructions, and of each dimension in order."""

    instructions: Instructions
    dimensions: Sequence[Dimension]
    made: dict[str, int]


def read(member: Member, problems: Problems) -> QuestionnaireInput:
    """Read a questionnaire.

    Raises
    ------
    BadInput
        with all problems found.
    """
    text = json_lines.read_text(member, problems)
    value = json_lines.MISSING if text is None else json_lines.parse_json(text, problems, file=member.name, line=1)
    problems.refuse_any()
    data = json_lines.check_record(_with_values(value), SHAPE, problems, file=member.name, line=1)
    problems.refuse_any()
    assert data is not None  # there was a problem otherwise
    _check_questions(data, member, problems)
    problems.refuse_any()
    questions = tuple(_question(question, data["type"]) for question in data["questions"])
    return QuestionnaireInput(data["name"] or data["type"], data["type"], data["instructions"], questions)


@transaction.atomic
def store(*, study: Study, questionnaire: QuestionnaireInput, now: datetime) -> Stored:
    """Store instructions and dimensions; versions with the same content are reused."""
    bulk.lock_imports(study)
    instructions, created = versions.ensure(
        Instructions, study=study, name=questionnaire.name, now=now, text=questionnaire.instructions
    )
    dimensions = [
        versions.ensure(Dimension, study=study, name=question.name, now=now, **question.content)
        for question in questionnaire.questions
    ]
    counts = {"instructions": int(created), "dimensions": sum(new for _, new in dimensions)}
    return Stored(instructions, [dimension for dimension, _ in dimensions], counts)


def _question(fields: dict[str, Any], type_: str) -> Question:
    content = {
        "question": fields["text"],
        "label": fields["label"] or default_dimensions.label_of(fields["name"]),
        "description": fields["description"] or "",
        "options": sorted(fields["options"] or _default_options(type_), key=lambda option: option["value"]),
        "asks_justification": bool(fields["justification"]),
    }
    return Question(fields["name"], content)


def _with_values(value: Any) -> Any:
    """Replace plain-text options by objects with values. Everything else is left for the schema check."""
    if not isinstance(value, dict) or not isinstance(value.get("questions"), list):
        return value
    questions = [
        question | {"options": _valued(question["options"], value.get("type"))}
        if isinstance(question, dict) and isinstance(question.get("options"), list)
        else question
        for question in value["questions"]
    ]
    return value | {"questions": questions}


def _valued(options: list[Any], type_: Any) -> list[Any]:
    # Letters determine the side. Other labels are in order: left, (neither,) right; or from lowest to highest.
    if not all(isinstance(option, str) for option in options):
        return options
    letters = [LETTERS.get(option.strip().lower()) for option in options]
    if type_ == PAIRWISE:
        ordered = {2: [-1, 1], 3: [-1, 0, 1]}.get(len(options))
        values = letters if None not in letters else ordered
    else:
        values = list(range(1, len(options) + 1))
    if values is None:
        return options
    return [{"value": value, "label": label} for value, label in zip(values, options, strict=True)]


def _default_options(type_: str) -> list[dict[str, Any]]:
    return list(default_dimensions.CHOICE) if type_ == PAIRWISE else list(_LIKERT)


def _check_questions(data: dict[str, Any], member: Member, problems: Problems) -> None:
    def refuse(n: int, field: str, expected: str, message: str) -> None:
        problems.add(file=member.name, line=1, field=f"questions[{n}].{field}", expected=expected, message=message)

    names: set[str] = set()
    allowed = _VALUES[data["type"]]
    for n, question in enumerate(data["questions"]):
        if question["name"] in names:
            refuse(n, "name", "each question once", f"{question['name']} is there already")
        names.add(question["name"])
        values = [option["value"] for option in question["options"] or ()]
        if len(set(values)) < len(values):
            refuse(n, "options", "each value once", f"got {values}")
        if allowed is not None and not set(values) <= allowed:
            refuse(n, "options", "values -1 (the left response), 0 (neither) and 1 (the right one)", f"got {values}")
