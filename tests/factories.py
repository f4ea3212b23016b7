"""Rows for tests: one factory a model, free of surprises."""

from datetime import UTC, datetime
from functools import cache
from uuid import uuid4

import factory
from django.contrib.auth.hashers import make_password

from annotation.enums import AssignmentState, CampaignKind, CampaignState, Judges
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDimension,
    Dimension,
    Instructions,
    Item,
    Judgment,
    Pair,
    Questionnaire,
    QuestionnaireItem,
    Slot,
)
from crowdrag.studies.enums import ParticipantKind, Role
from crowdrag.studies.models import ConsentText, Membership, Participant, Study, User
from writing.enums import Origin, TaskState
from writing.models import (
    Passage,
    Response,
    RetrievedPassage,
    Style,
    Topic,
    WritingInstructions,
    WritingPlan,
    WritingTask,
)

PASSWORD = "correct horse battery"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@cache
def hashed(password: str) -> str:
    """Hash once: a password's hash is slow on purpose."""
    return make_password(password)


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda n: f"user{n}@example.org")
    name = factory.Sequence(lambda n: f"User {n}")
    password = factory.LazyFunction(lambda: hashed(PASSWORD))


class StudyFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Study

    slug = factory.Sequence(lambda n: f"study-{n}")
    researchers = contact = payment = retention = "As the study says."
    title = factory.Sequence(lambda n: f"Study {n}")
    created_at = NOW


class MembershipFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Membership

    study = factory.SubFactory(StudyFactory)
    user = factory.SubFactory(UserFactory)
    role = Role.VIEWER
    added_at = NOW


class ParticipantFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Participant

    study = factory.SubFactory(StudyFactory)
    external_id = factory.Sequence(lambda n: f"participant-{n}")
    kind = ParticipantKind.CROWD
    created_at = NOW


class StyleFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Style

    study = factory.SubFactory(StudyFactory)
    name = factory.Sequence(lambda n: f"style-{n}")
    label = factory.SelfAttribute("name")
    created_at = NOW


class TopicFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Topic

    study = factory.SubFactory(StudyFactory)
    external_id = factory.Sequence(lambda n: f"topic-{n}")
    query = factory.Sequence(lambda n: f"query {n}")
    created_at = NOW


class PassageFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Passage

    study = factory.SubFactory(StudyFactory)
    external_id = factory.Sequence(lambda n: f"passage-{n}")
    text = factory.Sequence(lambda n: f"text of passage {n}")


class RetrievedPassageFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = RetrievedPassage

    topic = factory.SubFactory(TopicFactory)
    passage = factory.SubFactory(PassageFactory, study=factory.SelfAttribute("..topic.study"))
    rank = factory.Sequence(lambda n: n)


class ResponseFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Response

    topic = factory.SubFactory(TopicFactory)
    study = factory.SelfAttribute("topic.study")
    style = factory.SubFactory(StyleFactory, study=factory.SelfAttribute("..topic.study"))
    participant = factory.SubFactory(ParticipantFactory, study=factory.SelfAttribute("..topic.study"))
    external_id = factory.Sequence(lambda n: f"response-{n}")
    origin = Origin.HUMAN
    text = "A first claim [0]. A second claim [1]."
    words = 8
    created_at = NOW


class DimensionFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Dimension

    study = factory.SubFactory(StudyFactory)
    name = factory.Sequence(lambda n: f"dimension_{n}")
    label = factory.SelfAttribute("name")
    question = "Which response is better?"
    options = factory.LazyFunction(
        lambda: [{"value": -1, "label": "A"}, {"value": 0, "label": "neither"}, {"value": 1, "label": "B"}]
    )
    created_at = NOW


class CampaignFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Campaign

    study = factory.SubFactory(StudyFactory)
    name = factory.Sequence(lambda n: f"campaign-{n}")
    kind = CampaignKind.PAIRWISE
    judges = Judges.CROWD
    state = CampaignState.OPEN
    created_at = NOW


class CampaignDimensionFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = CampaignDimension

    campaign = factory.SubFactory(CampaignFactory)
    dimension = factory.SubFactory(DimensionFactory, study=factory.SelfAttribute("..campaign.study"))
    position = factory.Sequence(lambda n: n)


class PairFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Pair

    a = factory.SubFactory(ResponseFactory)
    b = factory.SubFactory(ResponseFactory, topic=factory.SelfAttribute("..a.topic"))
    study = factory.SelfAttribute("a.study")


class ItemFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Item

    pair = factory.SubFactory(PairFactory)
    campaign = factory.SubFactory(CampaignFactory, study=factory.SelfAttribute("..pair.study"))
    topic = factory.SelfAttribute("pair.a.topic")


class QuestionnaireFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Questionnaire

    campaign = factory.SubFactory(CampaignFactory)
    external_id = factory.Sequence(lambda n: f"questionnaire-{n}")
    created_at = NOW


class QuestionnaireItemFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = QuestionnaireItem

    item = factory.SubFactory(ItemFactory)
    questionnaire = factory.SubFactory(QuestionnaireFactory, campaign=factory.SelfAttribute("..item.campaign"))
    position = factory.Sequence(lambda n: n)


class AssignmentFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Assignment

    questionnaire = factory.SubFactory(QuestionnaireFactory)
    participant = factory.SubFactory(ParticipantFactory, study=factory.SelfAttribute("..questionnaire.campaign.study"))
    state = AssignmentState.ACCEPTED


class InstructionsFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Instructions

    study = factory.SubFactory(StudyFactory)
    name = factory.Sequence(lambda n: f"judging-{n}")
    text = "Read both, then decide."
    created_at = NOW


class PlaceFactory(factory.django.DjangoModelFactory):
    """A free place; its campaign has places."""

    class Meta:
        model = Slot

    questionnaire = factory.SubFactory(QuestionnaireFactory, campaign__has_slots=True, campaign__state="DRAFT")
    campaign = factory.SelfAttribute("questionnaire.campaign")
    number = factory.Sequence(lambda n: n)
    rank = factory.LazyAttribute(lambda place: (place.questionnaire.position or 0) * 1000 + place.number)


class JudgmentFactory(factory.django.DjangoModelFactory):
    """A judgment of an item; its questionnaire holds the item already."""

    class Meta:
        model = Judgment

    class Params:
        entry = factory.SubFactory(QuestionnaireItemFactory)

    item = factory.SelfAttribute("entry.item")
    assignment = factory.SubFactory(AssignmentFactory, questionnaire=factory.SelfAttribute("..entry.questionnaire"))
    dimension = factory.SubFactory(DimensionFactory, study=factory.SelfAttribute("..item.campaign.study"))
    value = 1


class WritingTaskFactory(factory.django.DjangoModelFactory):
    """A free slot; `claimed` gives it to a writer with a lease that lasts."""

    class Meta:
        model = WritingTask

    class Params:
        claimed = factory.Trait(
            state=TaskState.CLAIMED,
            participant=factory.SubFactory(ParticipantFactory, study=factory.SelfAttribute("..topic.study")),
            claimed_at=NOW,
            lease_until=datetime(2036, 1, 1, tzinfo=UTC),
        )

    topic = factory.SubFactory(TopicFactory)
    study = factory.SelfAttribute("topic.study")
    style = factory.SubFactory(StyleFactory, study=factory.SelfAttribute("..topic.study"))
    external_id = factory.LazyFunction(lambda: str(uuid4()))
    pay = 250
    created_at = NOW


class ConsentTextFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = ConsentText

    study = factory.SubFactory(StudyFactory)
    name = factory.Sequence(lambda n: f"consent-{n}")
    text = "We record what you write, and how."
    text_licence = "CC-BY-4.0"
    created_at = NOW


class WritingInstructionsFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = WritingInstructions

    study = factory.SubFactory(StudyFactory)
    name = factory.Sequence(lambda n: f"instructions-{n}")
    text = "Write, and cite."
    created_at = NOW


class WritingPlanFactory(factory.django.DjangoModelFactory):
    """A plan that is open; styles and trial topics are added by the test."""

    class Meta:
        model = WritingPlan

    study = factory.SubFactory(StudyFactory)
    is_open = True
    instructions = factory.SubFactory(WritingInstructionsFactory, study=factory.SelfAttribute("..study"))
    consent_text = factory.SubFactory(ConsentTextFactory, study=factory.SelfAttribute("..study"))
    pay = 250
    updated_at = NOW
