"""Surveys before and after writing: validation of questions and answers."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from crowdrag.studies.models import Study
from crowdrag.studies.page_language import in_study_language

from ..corpus import versions
from ..enums import SurveyKind
from ..models import Survey, SurveyAnswers, WritingPlan, WritingTask

NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
MOST_QUESTIONS: Final = 50
MOST_OPTIONS: Final = 20
LONGEST_LABEL: Final = 1000
LONGEST_ANSWER: Final = 5000
FIELDS: Final = frozenset({"name", "text", "kind", "options", "required", "low", "high"})

_YES_MAYBE_NO = [
    {"value": 1, "label": gettext_noop("yes")},
    {"value": 0, "label": gettext_noop("maybe")},
    {"value": -1, "label": gettext_noop("no")},
]
_ONE_TO_FIVE = [{"value": n, "label": str(n)} for n in range(1, 6)]


def _choice(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "text": text, "kind": "choice", "options": _YES_MAYBE_NO, "required": True}


def _scale(name: str, text: str, low: str, high: str) -> dict[str, Any]:
    question = {"name": name, "text": text, "kind": "scale", "options": _ONE_TO_FIVE, "required": True}
    return question | {"low": low, "high": high}


# Names and values are those of the published corpus (crowdrag25, 3.1.4), so that answers can be compared.
DEFAULTS: Final = {
    SurveyKind.ENTRY: (
        _choice("query_answerable", gettext_noop("Can the question be answered?")),
        _choice("query_controversial", gettext_noop("Is the topic controversial?")),
        _scale(
            "worker_knowledge",
            gettext_noop("How much do you know about the topic?"),
            gettext_noop("nothing"),
            gettext_noop("a great deal"),
        ),
        _scale(
            "worker_expertise",
            gettext_noop("How would you rate your expertise on the topic?"),
            gettext_noop("no expertise"),
            gettext_noop("expert"),
        ),
    ),
    SurveyKind.EXIT: (
        _choice("worker_satisfaction", gettext_noop("Are you satisfied with your response?")),
        _scale(
            "references_quality",
            gettext_noop("How good were the passages as sources?"),
            gettext_noop("very bad"),
            gettext_noop("very good"),
        ),
        _scale(
            "references_extra",
            gettext_noop("How much of your own knowledge did you use?"),
            gettext_noop("none"),
            gettext_noop("a great deal"),
        ),
        _choice("references_omission", gettext_noop("Did you leave out information from the passages?")),
    ),
}


class BadSurvey(ValueError):  # noqa: N818 -- describes the survey
    """The questions are invalid; `problems` lists places and reasons in order."""

    def __init__(self, problems: list[str]):
        self.problems = problems
        super().__init__(" ".join(problems))


class BadAnswers(ValueError):  # noqa: N818 -- describes the answers
    """Answers are invalid; `problems` maps the name of a question to a message."""

    def __init__(self, problems: dict[str, str]):
        self.problems = problems
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))


@dataclass
class _Reader:
    """A reader of questions that collects their problems."""

    problems: list[str]
    where: str = ""

    def wrong(self, text: str) -> None:
        self.problems.append(f"{self.where}: {text}")

    def text(self, fields: Mapping[str, Any], field: str, *, required: bool) -> str:
        value = fields.get(field, "")
        if not isinstance(value, str) or value != _storable(value) or len(value) > LONGEST_LABEL:
            self.wrong(f"“{field}” must be text with at most {LONGEST_LABEL} characters.")
            return ""
        if required and not value.strip():
            self.wrong(f"“{field}” is missing.")
        return value.strip()

    def options(self, source: Any, kind: str) -> list[dict[str, Any]]:
        if kind == "text":
            if source:
                self.wrong("a question of kind text cannot have options.")
            return []
        if not isinstance(source, list) or not 2 <= len(source) <= MOST_OPTIONS:
            self.wrong(f"“options” must be a list of 2 to {MOST_OPTIONS} options.")
            return []
        options = [self._option(option) for option in source]
        values = [option["value"] for option in options]
        if len(set(map(str, values))) != len(values):
            self.wrong("two options have the same value.")
        if kind == "scale" and not all(isinstance(value, int) for value in values):
            self.wrong("the values of a scale must be whole numbers.")
        return options

    def _option(self, source: Any) -> dict[str, Any]:
        if not isinstance(source, Mapping) or set(source) != {"value", "label"}:
            self.wrong("each option must have a value and a label, and nothing else.")
            return {"value": "", "label": ""}
        value = source["value"]
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            self.wrong("an option's value must be a whole number or a word.")
        elif isinstance(value, str) and (value != _storable(value) or len(value) > LONGEST_LABEL):
            self.wrong("the value of an option is too long or contains characters that cannot be stored.")
            value = ""
        return {"value": value, "label": self.text(source, "label", required=True)}


def parse(source: str | list[Any]) -> list[dict[str, Any]]:
    """Convert questions from a list or JSON to their stored form.

    A question has `name` (the name of the answer in exports), `text`, `kind` (scale, choice or text), `options` (each
    with a value and a label) and `required`; a scale may label its ends in `low` and `high`.

    Raises
    ------
    BadSurvey
        With all problems and the question of each.
    """
    if isinstance(source, str):
        try:
            source = json.loads(source)
        except json.JSONDecodeError as error:
            message = "This is not valid JSON: line %(line)s, column %(column)s: %(what)s."
            raise BadSurvey([message % {"line": error.lineno, "column": error.colno, "what": error.msg}]) from error
        except RecursionError as error:
            raise BadSurvey(["This is nested too deeply."]) from error
    if not isinstance(source, list) or len(source) > MOST_QUESTIONS:
        raise BadSurvey([f"A survey must be a list of at most {MOST_QUESTIONS} questions."])
    reader = _Reader([])
    questions = []
    for number, fields in enumerate(source, start=1):
        reader.where = f"Question {number}"
        if isinstance(fields, Mapping):
            questions.append(_question(fields, reader))
        else:
            reader.wrong("it must be an object with name, text and kind.")
    names = [question["name"] for question in questions]
    reader.problems += [
        f"Two questions are called “{name}”." for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if reader.problems:
        raise BadSurvey(reader.problems)
    return questions


def _question(fields: Mapping[str, Any], reader: _Reader) -> dict[str, Any]:
    if unknown := sorted(str(field) for field in fields if field not in FIELDS):
        reader.wrong(f"unknown fields: {', '.join(unknown)}.")
    name = reader.text(fields, "name", required=True)
    if name and not NAME.fullmatch(name):
        reader.wrong("“name” must use only lower-case letters, digits and underscores, and start with a letter.")
    kind = fields.get("kind", "choice")
    if kind not in ("scale", "choice", "text"):  # a tuple because the value may be unhashable
        reader.wrong("“kind” must be scale, choice or text.")
        kind = "text"
    required = fields.get("required", True)
    if not isinstance(required, bool):
        reader.wrong("“required” must be true or false.")
    question = {"name": name, "text": reader.text(fields, "text", required=True), "kind": kind}
    question |= {"options": reader.options(fields.get("options", []), str(kind)), "required": required}
    ends = {end: reader.text(fields, end, required=False) for end in ("low", "high") if end in fields}
    if ends and kind != "scale":
        reader.wrong("only a scale can have labels in “low” and “high”.")
    return question | ends


def defaults(study: Study, kind: SurveyKind) -> list[dict[str, Any]]:
    """Return the default questions in the study's language."""
    with in_study_language(study):
        return [_translated(question) for question in DEFAULTS[kind]]


def _translated(question: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: _(question[name]) for name in ("text", "low", "high") if name in question}
    options = [{**option, "label": _(option["label"])} for option in question["options"]]
    return {**question, **texts, "options": options}


def ensure(
    *, study: Study, kind: SurveyKind, questions: str | list[Any] | None = None, name: str = "", now: datetime
) -> Survey:
    """Return the study's survey with these questions (by default, the default questions), as a version."""
    questions_asked = defaults(study, kind) if questions is None else parse(questions)
    survey, _made = versions.ensure(
        Survey, study=study, name=name or kind.value.lower(), now=now, kind=kind, questions=questions_asked
    )
    return survey


def check(questions: list[dict[str, Any]], answers_given: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the submitted answers of a form to their stored form, without unanswered questions.

    Raises
    ------
    BadAnswers
        With the problem of each invalid answer.
    """
    answers: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for question in questions:
        name, value = question["name"], answers_given.get(question["name"])
        value = value.strip() if isinstance(value, str) else value
        if value is None or value == "":
            if question.get("required", True):
                wrong[name] = _("Choose an answer.") if question["options"] else _("Please answer.")
        elif question["options"]:
            # A form sends text; the value is stored with its own type.
            known = {str(option["value"]): option["value"] for option in question["options"]}
            if str(value) in known:
                answers[name] = known[str(value)]
            else:
                wrong[name] = _("Choose one of the answers.")
        elif not isinstance(value, str) or len(value) > LONGEST_ANSWER:
            wrong[name] = _("Your answer is too long. It can have at most %(n)s characters.") % {"n": LONGEST_ANSWER}
        else:
            answers[name] = _storable(value)
    if wrong:
        raise BadAnswers(wrong)
    return answers


def current_survey(task: WritingTask, kind: SurveyKind) -> Survey | None:
    """Return the current survey of a task's study; None if it has none."""
    plan = WritingPlan.objects.filter(study=task.study_id).select_related("entry_survey", "exit_survey").first()
    if plan is None:
        return None
    return plan.entry_survey if kind == SurveyKind.ENTRY else plan.exit_survey


def is_answered(task: WritingTask, kind: SurveyKind) -> bool:
    """Return whether a task's survey of this kind was answered, in any version."""
    return SurveyAnswers.objects.filter(task=task, survey__kind=kind).exists()


def answer(*, task: WritingTask, kind: SurveyKind, answers: Mapping[str, Any] | None, now: datetime) -> None:
    """Store checked answers; repeating this has no effect. The caller must have locked the task."""
    survey = current_survey(task, kind)
    if answers is None or survey is None or is_answered(task, kind):
        return
    SurveyAnswers.objects.create(task=task, survey=survey, answers=dict(answers), answered_at=now)


def carry_over(before: WritingTask, after: WritingTask, kind: SurveyKind) -> None:
    """Copy the answers of one task to another, so that writers who revise a response are not asked again."""
    for answers in SurveyAnswers.objects.filter(task=before, survey__kind=kind):
        SurveyAnswers.objects.create(
            task=after, survey=answers.survey, answers=answers.answers, answered_at=answers.answered_at
        )


def _storable(text: str) -> str:
    """Replace characters that the database cannot store: U+0000 and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
