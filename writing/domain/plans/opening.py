"""What a plan lacks before people can write by it; letting people write, and letting nobody begin any more."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crowdrag.studies import money
from crowdrag.studies.activities import Readiness, undisclosed
from crowdrag.webhooks import outbox

from ...models import Topic, WritingPlan
from ..tasks import slots
from .costing import promised_wage


class NotReady(ValueError):  # noqa: N818 -- it says what the plan is
    """The plan lacks something; `problems` says what."""

    def __init__(self, problems: list[str]):
        self.problems = problems
        super().__init__(" ".join(problems))


def readiness(plan: WritingPlan) -> Readiness:
    """Return what a plan lacks, and what is doubtful about it."""
    found = Readiness()
    _topics(plan, found)
    if not plan.plan_styles.exists():
        found.problems.append(_("Choose at least one style."))
    if not plan.pay:
        found.problems.append(_("Say what a response pays."))
    if not plan.minutes:
        found.problems.append(_("Say how many minutes a response takes."))
    if plan.instructions is None:
        found.problems.append(_("Write the instructions."))
    if plan.consent_text is None:
        found.problems.append(_("Write the consent text."))
    _wage(plan, found)
    return found


@transaction.atomic
def open(*, plan: WritingPlan, now: datetime) -> WritingPlan:  # noqa: A001 -- a plan is opened
    """Let people write: the slots are made. Opened again, it stays open.

    Raises
    ------
    NotReady
        if something is missing; then nothing was changed.
    """
    plan = slots.hold(plan)
    if not (found := readiness(plan)).is_ready:
        raise NotReady(found.problems)
    if not plan.is_open:
        plan.is_open, plan.updated_at = True, now
        plan.save(update_fields=["is_open", "updated_at"])
    slots.ensure(plan, now)
    return plan


@transaction.atomic
def close(*, plan: WritingPlan, now: datetime) -> WritingPlan:
    """Let nobody begin any more; who has a task writes it to its end and is paid."""
    plan = slots.hold(plan)
    if plan.is_open:
        plan.is_open, plan.updated_at = False, now
        plan.save(update_fields=["is_open", "updated_at"])
        outbox.publish_campaign_ended(study=plan.study, kind="writing", name="", campaign=None, now=now)
    return plan


def _topics(plan: WritingPlan, found: Readiness) -> None:
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=list(trial))
    known = list(topics.order_by("external_id").values_list("external_id", flat=True))
    with_passages = set(topics.filter(retrieved__isnull=False).values_list("external_id", flat=True).distinct())
    bare = [external_id for external_id in known if external_id not in with_passages]
    if not known:
        found.problems.append(_("There is no topic to write on. Import topics with their passages."))
    elif not with_passages:
        found.problems.append(_("No topic has passages. Import them with the topics, or as a run with passages."))
    elif bare:
        named = {"n": len(bare), "ids": ", ".join(bare[:5]) + (" …" if len(bare) > 5 else "")}
        found.warnings.append(
            ngettext(
                "%(n)s topic has no passages, so nothing can be cited on it: %(ids)s",
                "%(n)s topics have no passages, so nothing can be cited on them: %(ids)s",
                len(bare),
            )
            % named
        )


def _wage(plan: WritingPlan, found: Readiness) -> None:
    found.warnings.extend(undisclosed(plan.study))
    wage = promised_wage(plan)
    if plan.wage_floor is None:
        found.warnings.append(_("You set no least wage: nobody will be told when people earn too little."))
    elif wage is not None and plan.pay and wage < plan.wage_floor:
        amounts = {
            "wage": money.format_amount(wage, plan.study.currency),
            "floor": money.format_amount(plan.wage_floor, plan.study.currency),
            "minutes": plan.minutes,
        }
        found.warnings.append(
            _("In %(minutes)s minutes the pay comes to %(wage)s an hour, which is less than your %(floor)s.") % amounts
        )
