"""A study's questions before and after writing, and the answers to choose from, as people were asked them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from crowdrag.studies.models import Study
from writing.models import Survey
from writing.plans.surveys import DEFAULTS

from ..results.schema import Row
from . import words

#: A question and when it was asked ("entry", "exit"), as rows of the table `survey` name them.
Key = tuple[str, str]


@dataclass(frozen=True)
class Question:
    """The text of a question, and the labels of its answers by their value."""

    text: str
    answers: Mapping[float, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Questions:
    """The questions of a study. What no survey describes goes by the names that it is stored under.

    Attributes
    ----------
    known : mapping of (kind, name) to Question
        By when it is asked and the name that its answers are stored under.
    """

    known: Mapping[Key, Question] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study) -> "Questions":
        """Read a study's surveys, in one query; of a question in several versions the latest says how it is called."""
        known = {
            (kind.value.lower(), asked["name"]): _question(asked) for kind, each in DEFAULTS.items() for asked in each
        }
        surveys = Survey.objects.filter(study=study).order_by("version", "id").values_list("kind", "questions")
        for kind, questions in surveys:
            for asked in questions:
                key, latest = (kind.lower(), asked.get("name", "")), _question(asked)
                before = known.get(key, latest)
                # An answer that only an earlier version offered may have been given.
                known[key] = Question(latest.text or before.text, {**before.answers, **latest.answers})
        return cls(known)

    def text(self, row: Row) -> str:
        """The question of a row, with when it was asked; of a row about two, both."""
        names = [name.strip() for name in row["question"].split(",")]
        kinds = [kind.strip() for kind in row["kind"].split(",")]
        kinds = kinds if len(kinds) == len(names) else kinds[:1] * len(names)
        said = [self._text(kind, name) for kind, name in zip(kinds, names, strict=True)]
        if len(set(kinds)) == 1:
            return words.asked(" / ".join(said), kinds[0])
        return " / ".join(words.asked(text, kind) for text, kind in zip(said, kinds, strict=True))

    def answer(self, row: Row) -> str:
        """The label of a row's answer: its number where nobody gave it a label, nothing in rows about none."""
        if row["option"] is None:
            return ""
        found = self.known.get((row["kind"], row["question"]))
        return (found.answers.get(row["option"]) if found else None) or f"{row['option']:g}"

    def _text(self, kind: str, name: str) -> str:
        found = self.known.get((kind, name))
        return found.text if found and found.text else words.question(name)


def _question(asked: Mapping[str, object]) -> Question:
    """A question of a survey. The ends of a scale say what they mean beside their number."""
    options = asked.get("options")
    labels = {
        float(option["value"]): str(option["label"])
        for option in (options if isinstance(options, list) else ())
        if isinstance(option["value"], int | float)
    }
    if labels:
        for end, value in (("low", min(labels)), ("high", max(labels))):
            if asked.get(end):
                labels[value] = f"{labels[value]} ({asked[end]})"
    return Question(str(asked.get("text") or ""), labels)
