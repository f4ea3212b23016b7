"""Results of a campaign's attention checks and known labels so far, over all judges."""

from dataclasses import dataclass
from typing import Final

from analysis.stats.proportions import Proportion, wilson

from ..models import Assignment, Campaign
from ..quality import check_results
from .judges import HANDED_IN

#: The number of questionnaires whose results are read together.
TOGETHER: Final = 2_000


@dataclass(frozen=True)
class CheckSummary:
    """Checks passed, questionnaires with a failed check, and known labels matched; each None if there are none."""

    passed: Proportion | None
    with_failures: Proportion | None
    known: Proportion | None

    @property
    def rows(self) -> list[tuple[str, Proportion]]:
        """The available results with their labels."""
        named = [
            ("Attention checks passed", self.passed),
            ("Questionnaires with a failed check", self.with_failures),
            ("Known labels answered as expected", self.known),
        ]
        return [(label, share) for label, share in named if share is not None]


def check_summary(campaign: Campaign) -> CheckSummary:
    """Return the results of submitted questionnaires, without those of judges whose data were erased."""
    submitted = Assignment.objects.filter(
        questionnaire__campaign=campaign, state__in=HANDED_IN, participant__erased_at__isnull=True
    )
    keys = list(submitted.order_by("questionnaire", "pk").values_list("pk", flat=True))
    passed, failed, gold = [], [], []
    for portion in (keys[start : start + TOGETHER] for start in range(0, len(keys), TOGETHER)):
        for results in check_results.check_results(portion).values():
            passed += [result.passed for result in results]
            failed.append(not all(result.passed for result in results))
        gold += [result.hit for results in check_results.gold_results(portion).values() for result in results]
    return CheckSummary(_share(passed), _share(failed), _share(gold))


def _share(outcomes: list[bool]) -> Proportion | None:
    return wilson(sum(outcomes), len(outcomes)) if outcomes else None
