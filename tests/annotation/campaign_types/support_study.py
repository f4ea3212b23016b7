"""A study whose responses cite passages, and a support campaign about them, for tests."""

from annotation.campaigns import launch, questionnaires, services
from annotation.campaigns.design import Design
from annotation.enums import CampaignKind
from annotation.models import Campaign
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study
from tests.factories import NOW, MembershipFactory, TopicFactory
from writing.corpus import responses
from writing.corpus.imports.problems import Problems
from writing.corpus.responses import ResponseInput
from writing.models import Passage, RetrievedPassage

PASSAGES = ("The sky is blue because of scattering.", "Cats sleep a lot.", "Snow is white.")
#: Two statements with three citations, and one without any.
TEXTS = {
    "alpha": "The sky is blue [0]. Cats sleep, and snow is white [1, 2]. So it is.",
    "beta": "The sky is green [0].",
}


def study() -> Study:
    """Make a study with one topic, three passages and two systems' responses."""
    made_study = MembershipFactory().study
    topic = TopicFactory(study=made_study, external_id="t-1", query="What is the world like?")
    for rank, text in enumerate(PASSAGES):
        passage = Passage.objects.create(study=made_study, external_id=f"p-{rank}", text=text)
        RetrievedPassage.objects.create(topic=topic, passage=passage, rank=rank)
    inputs = [
        ResponseInput(f"r-{system}", "t-1", "essay", ParticipantKind.SYSTEM, system, text=text)
        for system, text in TEXTS.items()
    ]
    responses.store(study=made_study, responses=inputs, problems=Problems(), now=NOW)
    return made_study


def draft(study: Study) -> Campaign:
    """Make a draft that asks about support, with all items in one questionnaire and two judges for each."""
    terms = {"pay": 100, "k": 2, "minutes": 5, "eligibility": {}}
    return services.create_draft(
        study=study, name="support", kind=CampaignKind.SUPPORT, now=NOW, terms=terms, design=Design(seed=1)
    )


def opened(study: Study) -> Campaign:
    """Draw and open the campaign."""
    campaign = questionnaires.build(campaign=draft(study), now=NOW)
    return launch.open_campaign(campaign=campaign, now=NOW)
