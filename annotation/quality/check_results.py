"""Results of attention checks and gold items, for many assignments at once."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from ..models import AttentionCheck, CheckAnswer, Judgment, KnownLabel, QuestionnaireItem


@dataclass(frozen=True)
class CheckResult:
    """An attention check with its answer: position of the item, text, answer (None if not answered)."""

    position: int
    text: str
    expected: str
    answer: str | None
    passed: bool


@dataclass(frozen=True)
class GoldResult:
    """A known label with the judge's answer, and the number of options."""

    item: int
    dimension: int
    expected: int
    answer: int
    options: int

    @property
    def hit(self) -> bool:
        """Whether the answer equals the known label."""
        return self.answer == self.expected


def check_results(assignments: Collection[int]) -> dict[int, list[CheckResult]]:
    """Return the results of each assignment's checks in the order of the page. Unanswered checks count as failed."""
    rows = AttentionCheck.objects.filter(questionnaire__assignments__in=assignments)
    checks = rows.values_list("pk", "position", "text", "options", "expected", "questionnaire__assignments")
    answers = CheckAnswer.objects.filter(assignment__in=assignments)
    answers_given = {
        (who, check): value for who, check, value in answers.values_list("assignment", "check_asked", "value")
    }
    results: dict[int, list[CheckResult]] = defaultdict(list)
    wanted_ids = set(assignments)
    for pk, position, text, options, expected, who in checks.order_by("position", "pk"):
        if who not in wanted_ids:
            continue
        words = {option["value"]: str(option["label"]) for option in options}
        value = answers_given.get((who, pk))
        answer = None if value is None else words.get(value, str(value))
        results[who].append(CheckResult(position, text, words.get(expected, str(expected)), answer, value == expected))
    return dict(results)


def gold_results(assignments: Collection[int]) -> dict[int, list[GoldResult]]:
    """Return the answers to each assignment's gold items on dimensions with known labels."""
    entries = QuestionnaireItem.objects.filter(has_known_label=True, questionnaire__assignments__in=assignments)
    known = {
        (item, dimension): (value, len(options))
        for item, dimension, value, options in KnownLabel.objects.filter(item__in=entries.values("item")).values_list(
            "item_id", "dimension_id", "value", "dimension__options"
        )
    }
    if not known:
        return {}
    judgments = Judgment.objects.filter(assignment__in=assignments, item__in={item for item, _ in known}, repeat=0)
    results: dict[int, list[GoldResult]] = defaultdict(list)
    for who, item, dimension, value in judgments.order_by("pk").values_list("assignment", "item", "dimension", "value"):
        if (item, dimension) in known:
            expected, options = known[item, dimension]
            results[who].append(GoldResult(item, dimension, expected, value, options))
    return dict(results)
