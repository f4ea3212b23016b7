"""What a study offers to writers, said before they decide anything; and their part of their own page."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from crowdrag.studies.activities import Offer
from crowdrag.studies.entry import links
from crowdrag.studies.enums import Outcome
from crowdrag.studies.models import Participant, Study

from ..enums import TaskState
from ..models import WritingPlan, WritingTask
from .tasks import claiming, listing, paying

NAME = "writing"


def offer(study: Study) -> Offer | None:
    """Return what writers are offered; None where the study has not set it up."""
    plan = WritingPlan.objects.filter(study=study).select_related("consent_text").first()
    if plan is None or plan.consent_text is None:
        return None
    words = sorted(set(plan.styles.values_list("target_words", flat=True)))
    asked = f"{words[0]}–{words[-1]}" if len(words) > 1 else str(words[0] if words else 250)
    what = _(
        "You read a question and passages that a search engine found for it, and write an answer of about %(words)s "
        "words from them, in an editor that opens in your browser. You say where each claim comes from."
    )
    if plan.trial_topics.exists():
        what = f"{what} {_('The first responses are a trial: they are paid, and you go on when they are accepted.')}"
    return Offer(
        title=_("Write answers from sources"),
        what=what % {"words": asked},
        minutes=plan.minutes,
        pay=plan.pay,
        per=_("per response"),
        consent_text=plan.consent_text,
        is_open=plan.is_open,
    )


def part(participant: Participant) -> dict[str, Any]:
    """Return what a writer's own page shows of writing."""
    found = listing.overview(participant)
    obstacle = claiming.obstacle(study=participant.study, participant=participant)
    return {
        "overview": found,
        "earned": found.earned,
        "obstacle": obstacle,
        "participant": participant,
        "payer": links.paying_platform(participant),
        "way_back": (
            links.participant_completion_target(participant=participant, outcome=Outcome.COMPLETED)
            if found.has_submitted and not found.in_hand
            else None
        ),
    }


def desk(participant: Participant, about: str) -> str:
    """Return where a reviewer reads the response of this task, if it is this writer's and was handed in."""
    theirs = WritingTask.objects.filter(participant=participant, external_id=about, response__isnull=False)
    return reverse("review_task", args=[participant.study.slug, about]) if theirs.exists() else ""


def remedy(participant: Participant, about: str) -> str:
    """Return where a reviewer accepts after all what was rejected, if this task of the writer's is."""
    theirs = WritingTask.objects.filter(participant=participant, external_id=about, state=TaskState.REJECTED)
    found = desk(participant, about) if theirs.exists() else ""
    return f"{found}?open=reverse" if found else ""


def about_label(participant: Participant, about: str) -> str:
    """Return the question of this task, if it is this writer's."""
    theirs = WritingTask.objects.filter(participant=participant, external_id=about)
    return theirs.values_list("topic__query", flat=True).first() or ""


def owed(participant: Participant) -> int:
    """Return what somebody has earned by writing, in minor units."""
    return paying.earned(participant)


def awaited(participant: Participant) -> int:
    """Return what of somebody's writing waits for a decision, in minor units."""
    return paying.awaited(participant)


def erasure(participant: Participant) -> list[str]:
    """Return what becomes of what somebody wrote if they have it erased; nothing where they wrote nothing."""
    if not WritingTask.objects.filter(participant=participant).exists():
        return []
    return [
        _(
            "Your texts, the record of how you wrote them, your times and your answers to questions are erased here, "
            "and so are questions to language models that held your texts."
        )
    ]
