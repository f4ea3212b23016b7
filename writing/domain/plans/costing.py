"""What a plan costs, how long it takes, and which wage it pays. Money in minor units of the study's currency."""

from dataclasses import dataclass

from ...models import Topic, WritingPlan


@dataclass(frozen=True)
class Costs:
    """What all responses that a plan asks for cost, and how long people write them, trials and top-ups apart."""

    topics: int
    styles: int
    slots: int
    pay: int
    fee: int
    tax: int
    minutes: int

    @property
    def responses(self) -> int:
        """How many responses are asked for."""
        return self.topics * self.styles * self.slots

    @property
    def each(self) -> int:
        """What one response costs."""
        return self.pay + self.fee + self.tax

    @property
    def total(self) -> int:
        """What all of them cost."""
        return self.responses * self.each

    @property
    def hours(self) -> float:
        """How many hours people write, if a response takes as long as they are told."""
        return self.responses * self.minutes / 60


def costs(plan: WritingPlan) -> Costs:
    """Return what a plan comes to."""
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=list(trial))
    return Costs(topics.count(), plan.plan_styles.count(), plan.slots, plan.pay, plan.fee, plan.tax, plan.minutes)


def promised_wage(plan: WritingPlan) -> float | None:
    """Return the pay per hour of who takes as long as people are told; None where no time was said."""
    return plan.pay * 60 / plan.minutes if plan.minutes else None
