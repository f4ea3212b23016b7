"""A study with something on each of its pages."""

from annotation.models import Judgment
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study, User
from tests.factories import (
    JudgmentFactory,
    MembershipFactory,
    PairFactory,
    QuestionnaireItemFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StudyFactory,
    TopicFactory,
)
from writing.enums import Origin


def furnished_study(owner: User) -> Study:
    """Make it: two topics with passages and responses, and a judged pair of each."""
    study = StudyFactory(
        slug="tides", title="Tides and harbours of the northern seas, a study of five topics", is_simulated=True
    )
    MembershipFactory(study=study, user=owner, role=Role.OWNER)
    MembershipFactory(study=study, role=Role.VIEWER)
    for number in range(2):
        topic = TopicFactory(study=study, query=f"Why do the tides differ from harbour to harbour? ({number})")
        RetrievedPassageFactory.create_batch(3, topic=topic, score=12.5)
        pair = PairFactory(
            a=ResponseFactory(topic=topic, external_id=f"response-of-a-person-{number}"),
            b=ResponseFactory(topic=topic, origin=Origin.MODEL, external_id=f"response-of-a-model-{number}"),
        )
        _judge(QuestionnaireItemFactory(item__pair=pair))
    return study


def _judge(entry: QuestionnaireItemFactory) -> list[Judgment]:
    return [JudgmentFactory(entry=entry, value=value) for value in (1, 1, -1)]
