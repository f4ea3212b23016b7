"""Labels of values in tables: dimensions, styles, origins, key figures, questions and answers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Dimension
from crowdrag.studies.models import Study
from writing.enums import Origin
from writing.models import Style, Survey, Topic
from writing.plans.surveys import DEFAULTS

from .display_table import Value
from .rows import Row
from .table import Column, LazyText

FIGURES = {
    "topics": "Topics",
    "responses": "Responses",
    "non_responses": "Non-responses (too short)",
    "words_per_response": "Words per response",
    "words_per_response_human": "Words per response, human",
    "words_per_response_model": "Words per response, model",
    "words_per_response_system": "Words per response, system",
    "writers_human": "Human writers",
    "writers_model": "Model writers",
    "writers_system": "System writers",
    "topics_judged": "Topics judged",
    "responses_judged": "Responses judged",
    "dimensions": "Dimensions",
    "pairs": "Presented pairs",
    "pairs_in_both_orders": "Pairs shown in both orders",
    "differentiable_share": "Differentiable pairs",
    "judges": "Judges",
    "judgments": "Included judgments",
    "judgments_surplus": "Surplus judgments",
    "judgments_per_judge": "Judgments per judge",
    "judgments_expert": "Judgments by experts",
    "judgments_model": "Judgments by models",
    "judgments_pointwise": "Pointwise judgments",
    "minutes_per_questionnaire": "Time per completed questionnaire",
    "responses_per_writer_human": "Responses per writer, human",
    "responses_per_writer_model": "Responses per writer, model",
    "responses_per_writer_system": "Responses per writer, system",
    "minutes_per_response_median": "Minutes from first to last event per response, median",
    "minutes_per_response_mean": "Minutes from first to last event per response, mean",
    "active_minutes_per_response_median": "Active minutes per response, median",
    "active_minutes_per_response_mean": "Active minutes per response, mean",
    "pay_per_response": "Pay per response",
    "cost_per_response": "Cost per response, including fee and tax",
    "hourly_rate_writing": "Hourly pay, writing",
    "questionnaires": "Completed questionnaires",
    "judgments_per_questionnaire": "Judgments per completed questionnaire",
    "minutes_per_judgment": "Time per judgment",
    "pay_per_questionnaire": "Pay per completed questionnaire",
    "cost_per_questionnaire": "Cost per completed questionnaire, including fee and tax",
    "hourly_rate_judging": "Hourly pay, judging",
    "cost_per_judgment": "Cost per judgment, including fee and tax",
    "cost_per_label": "Cost per gold label, including fee and tax",
}
SHARES = {"differentiable_share"}
SURVEY_KINDS = {"entry": "before", "exit": "after"}
ALL = "all"
#: Between the two styles or origins of a comparison.
SEPARATOR = " - "
EVERY_DIMENSION = "All dimensions"


def figure(name: str, styles: Mapping[str, str] | None = None) -> str:
    """Return the label of a key figure; `styles` are the labels of styles by name."""
    if name in FIGURES:
        return str(FIGURES[name])
    if name.startswith("responses_"):
        style, _, origin = name.removeprefix("responses_").rpartition("_")
        return f"Responses: {(styles or {}).get(style, style)}, {origin}" if style else f"Responses: {origin}"
    return name.replace("_", " ").capitalize()


def question(name: str) -> str:
    """Return the label of a survey question without text."""
    return name.strip().replace("_", " ").capitalize()


def question_with_time(text: str, kind: str) -> str:
    """Return a question with the time when it was asked."""
    return f"{text} ({SURVEY_KINDS.get(kind, kind)})"


def dimensions(study: Study) -> dict[str, str]:
    """Return the labels of a study's dimensions by name, from the latest version."""
    labels = Dimension.objects.filter(study=study).order_by("version", "id").values_list("name", "label")
    return {str(name): str(label or name) for name, label in labels}


def topics(study: Study, names: Iterable[str]) -> dict[str, str]:
    """Return the queries of these topics by ID, from the latest version; a topic that is gone has its ID."""
    topic_names = list(names)
    topics = Topic.objects.filter(study=study, external_id__in=topic_names).order_by("version")
    return {name: name for name in topic_names} | dict(topics.values_list("external_id", "query"))


def origin(name: str) -> str:
    """Return the label of an origin."""
    if name == ALL:
        return "all"
    return str(Origin[name.upper()].label) if name.upper() in Origin.names else name


def system(row: dict[str, Any]) -> str:
    """Return the label of a leaderboard row: the name of a system, or the label of an origin."""
    return "People" if row["kind"] == "origin" else str(row["participant"])


def styles(study: Study) -> dict[str, str]:
    """Return the labels of a study's styles by name, from the latest version, and of all styles together."""
    labels = Style.objects.filter(study=study).order_by("version", "id").values_list("name", "label")
    return {str(name): str(label or name) for name, label in labels} | {ALL: "All styles"}


#: A question and when it was asked ("entry", "exit"), as in the table `survey`.
Key = tuple[str, str]


@dataclass(frozen=True)
class Question:
    """The text of a question, and the labels of its answers by value."""

    text: str
    answers: Mapping[float, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Questions:
    """The questions of a study; those without a survey keep their stored names.

    Attributes
    ----------
    known : mapping of (kind, name) to Question
        By the time when it is asked, and the name under which its answers are stored.
    """

    known: Mapping[Key, Question] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study) -> "Questions":
        """Read a study's surveys in one query; the latest version of a question determines its text."""
        known = {
            (kind.value.lower(), question["name"]): _question(question)
            for kind, questions in DEFAULTS.items()
            for question in questions
        }
        surveys = Survey.objects.filter(study=study).order_by("version", "id").values_list("kind", "questions")
        for kind, questions in surveys:
            for question in questions:
                key, latest = (kind.lower(), question.get("name", "")), _question(question)
                before = known.get(key, latest)
                # Answers that only an earlier version offered may exist.
                known[key] = Question(latest.text or before.text, {**before.answers, **latest.answers})
        return cls(known)

    def text(self, row: Row) -> str:
        """Return the question of a row with the time when it was asked; both questions of a row about two."""
        names = [name.strip() for name in row["question"].split(",")]
        kinds = [kind.strip() for kind in row["kind"].split(",")]
        kinds = kinds if len(kinds) == len(names) else kinds[:1] * len(names)
        questions = [self._text(kind, name) for kind, name in zip(kinds, names, strict=True)]
        if len(set(kinds)) == 1:
            return question_with_time(" / ".join(questions), kinds[0])
        return " / ".join(question_with_time(text, kind) for text, kind in zip(questions, kinds, strict=True))

    def answer(self, row: Row) -> str:
        """Return the label of a row's answer: its number if it has no label, "" in rows without an answer."""
        if row["option"] is None:
            return ""
        question = self.known.get((row["kind"], row["question"]))
        return (question.answers.get(row["option"]) if question else None) or f"{row['option']:g}"

    def _text(self, kind: str, name: str) -> str:
        known = self.known.get((kind, name))
        return known.text if known and known.text else question(name)


def _question(definition: Mapping[str, object]) -> Question:
    """Return a question of a survey. The ends of a scale have their meaning next to the number."""
    options = definition.get("options")
    labels = {
        float(option["value"]): str(option["label"])
        for option in (options if isinstance(options, list) else ())
        if isinstance(option["value"], int | float)
    }
    if labels:
        for end, value in (("low", min(labels)), ("high", max(labels))):
            if definition.get(end):
                labels[value] = f"{labels[value]} ({definition[end]})"
    return Question(str(definition.get("text") or ""), labels)


@dataclass(frozen=True)
class ValueLabels:
    """Labels of the values in a study's results."""

    dimensions: Mapping[str, str]
    styles: Mapping[str, str]
    questions: Questions = field(default_factory=Questions)

    @classmethod
    def of(cls, study: Study) -> "ValueLabels":
        """Read the names of a study's dimensions, styles and questions, in three queries."""
        return cls(dimensions(study), styles(study), Questions.of(study))

    def value_in_words(self, column: Column, value: Any, row: Row) -> Value:
        """Return a value of a row for display: names as labels, NaN and infinity as None."""
        if column.words == "question":
            return self.questions.text(row)
        if column.words == "answer":
            return self.questions.answer(row)
        if value is None or (isinstance(value, float) and not -float("inf") < value < float("inf")):
            return None
        if isinstance(value, str):
            return self._words(column.words)(value)
        return value if isinstance(value, int | float | bool) else str(value)

    def _words(self, kind: str | Mapping[str, LazyText]) -> Callable[[str], str]:
        if not isinstance(kind, str):
            return lambda value: str(kind.get(value, value))
        named = {
            "dimension": self._dimension,
            "style": self._style,
            "origin": origin,
            "figure": self._figure,
            "sides": self._sides,
        }
        return named.get(kind, str)

    def _dimension(self, name: str) -> str:
        return self.dimensions.get(name) or (str(EVERY_DIMENSION) if name == ALL else name)

    def _figure(self, name: str) -> str:
        return figure(name, self.styles)

    def _style(self, name: str) -> str:
        return self.styles.get(name, name)

    def _sides(self, names: str) -> str:
        return SEPARATOR.join(self.styles.get(name) or origin(name) for name in names.split(SEPARATOR))
