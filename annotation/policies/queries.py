"""How the arms of a campaign's policy compare, and what its page shows of the policy."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.db.models import Avg, Count, OuterRef, Q, Subquery

from analysis.stats.adaptive_draws import effective_draws

from ..enums import Arm, AssignmentPolicy
from ..models import AssignmentChoice, Campaign, LiveCompetence, PolicyState
from .choice_weights import COUNTED, assignment_weights

#: A policy that is expected to tell less than this more than random choices saves nothing worth mentioning.
WORTHWHILE: Final = 1.05


@dataclass(frozen=True)
class ArmSummary:
    """The questionnaires of one arm; `competence` is the mean of their judges' so far, None if it is not known."""

    arm: str
    assigned: int
    collected: int
    competence: float | None

    @property
    def label(self) -> str:
        """The arm as researchers read it."""
        return {Arm.POLICY: "Policy", Arm.CONTROL: "Random control", Arm.ORDER: "Fixed order"}[Arm(self.arm)]


@dataclass(frozen=True)
class PolicySummary:
    """A campaign's policy at work, as of the time when it last looked at the judgments."""

    policy: AssignmentPolicy
    control_share: int
    state: PolicyState | None

    @property
    def is_adaptive(self) -> bool:
        """Whether choices depend on earlier judgments, so that arms can be compared."""
        return self.policy in {AssignmentPolicy.INFORMATION, AssignmentPolicy.COMPETENCE}

    @property
    def arms(self) -> list[ArmSummary]:
        """The arms that have chosen anything."""
        return [ArmSummary(**row) for row in self.state.arms] if self.state else []

    @property
    def saves(self) -> bool | None:
        """Whether the policy's next choices are expected to save judgments; None if that is not known."""
        if self.state is None or self.state.advantage is None:
            return None
        return self.state.advantage >= WORTHWHILE


def describe_policy(campaign: Campaign) -> PolicySummary | None:
    """Return the policy of a campaign at work; None if the order is fixed."""
    if campaign.policy == AssignmentPolicy.FIXED:
        return None
    state = PolicyState.objects.filter(campaign=campaign).first()
    return PolicySummary(AssignmentPolicy(campaign.policy), campaign.control_share, state)


def compare_arms(campaign: Campaign) -> tuple[list[dict[str, Any]], float | None]:
    """Return the `ArmSummary` of each arm, for storage, and the effective number of collected questionnaires."""
    choices = AssignmentChoice.objects.filter(assignment__questionnaire__campaign=campaign)
    people = LiveCompetence.objects.filter(campaign=campaign, participant=OuterRef("assignment__participant"))
    spam = people.order_by().values("participant").annotate(mean=Avg("spam_probability")).values("mean")
    collected = Q(assignment__state__in=COUNTED)
    rows = choices.annotate(spam=Subquery(spam)).order_by().values("arm")
    of_arm = {
        row["arm"]: row
        for row in rows.annotate(
            assigned=Count("pk"), collected=Count("pk", filter=collected), mean=Avg("spam", filter=collected)
        )
    }
    arms = [
        ArmSummary(
            arm=str(arm),
            assigned=of_arm[arm]["assigned"],
            collected=of_arm[arm]["collected"],
            competence=None if of_arm[arm]["mean"] is None else 1.0 - of_arm[arm]["mean"],
        )
        for arm in Arm
        if arm in of_arm
    ]
    effective = effective_draws(list(assignment_weights(campaign).values()))
    return [asdict(each) for each in arms], None if math.isnan(effective) else effective
