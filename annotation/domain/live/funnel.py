"""How many people come how far in a campaign: from a link to an accepted questionnaire."""

from django.db.models import Count
from django.utils.translation import gettext as _

from crowdrag.studies.models import Arrival, Consent, EntryLink
from writing.domain.progress.funnel import Stage, ladder, people_of

from ...enums import AssignmentState
from ...models import Assignment, Campaign, TrainingAnswer, TrainingItem
from .. import assignments

S = AssignmentState
HANDED_IN = (S.SUBMITTED, S.ACCEPTED, S.REJECTED, S.SURPLUS)


def funnel(campaign: Campaign) -> list[Stage]:
    """Return the stages; each but the first counts those who came at least so far."""
    purpose = assignments.purpose(campaign)
    links = EntryLink.objects.invitations().filter(study=campaign.study_id, purpose=purpose)
    arrived = people_of(Arrival.objects.filter(link__study=campaign.study_id, link__purpose=purpose))
    given = Assignment.objects.filter(questionnaire__campaign=campaign)
    steps = [
        ("arrived", _("Opened a link"), arrived),
        ("consented", _("Agreed"), _consented(campaign) & arrived),
        ("trained", _("Went through the training"), _trained(campaign)),
        ("claimed", _("Began a questionnaire"), people_of(given)),
        ("submitted", _("Handed one in"), people_of(given.filter(state__in=HANDED_IN))),
        ("accepted", _("Had one accepted"), people_of(given.filter(state=S.ACCEPTED))),
    ]
    if not TrainingItem.objects.filter(campaign=campaign).exists():
        steps = [step for step in steps if step[0] != "trained"]
    return ladder(people_of(links), steps)


def _consented(campaign: Campaign) -> set[int]:
    """Return who agreed to the consent text; another campaign may have the same one."""
    if campaign.consent_text is None:
        return set()
    texts = {"text__study": campaign.study_id, "text__name": campaign.consent_text.name}
    return people_of(Consent.objects.filter(**texts))


def _trained(campaign: Campaign) -> set[int]:
    """Return who answered all that there is to learn from."""
    asked = TrainingItem.objects.filter(campaign=campaign).count()
    answers = TrainingAnswer.objects.filter(training_item__campaign=campaign, participant__erased_at__isnull=True)
    people = answers.order_by().values("participant").annotate(n=Count("training_item", distinct=True))
    return set(people.filter(n__gte=asked).values_list("participant", flat=True))
