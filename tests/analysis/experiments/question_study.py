"""A study whose topics the odd server (tests/llm) answers wrongly without their passages, and rightly with them."""

from crowdrag.studies.models import Study
from tests.factories import (
    ParticipantFactory,
    PassageFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StyleFactory,
    TopicFactory,
)
from writing.enums import Origin


def furnish(study: Study, topics: int = 5) -> Study:
    """Add topics t0, t1, ...; the last one's passages do not help. Their right answers are written by a person."""
    style, person = StyleFactory(study=study, name="essay"), ParticipantFactory(study=study)
    for i in range(topics):
        topic = TopicFactory(study=study, external_id=f"t{i}", query="ok:wrong")
        text = f"ok:right{i}" if i < topics - 1 else "ok:else"
        for rank, each in enumerate((text, "More of it.")):
            passage = PassageFactory(study=study, external_id=f"p{i}-{rank}", text=each)
            RetrievedPassageFactory(topic=topic, passage=passage, rank=rank)
        ResponseFactory(
            study=study, topic=topic, style=style, participant=person, origin=Origin.HUMAN,
            external_id=f"r{i}", text=f"right{i} [0]",
        )  # fmt: skip
    return study
