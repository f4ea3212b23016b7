"""A study with responses to be drawn from, for tests: topics with people's and models' texts of several lengths."""

import numpy as np

from annotation.campaigns import services
from annotation.campaigns.design import Design
from annotation.models import Campaign
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study
from tests.factories import NOW, ParticipantFactory, ResponseFactory, StudyFactory, StyleFactory, TopicFactory
from writing.enums import Origin
from writing.models import Response

# Of each topic, as in the paper: three of people, three of models.
SIX = (Origin.HUMAN, Origin.MODEL) * 3


def corpus(*, topics: int, origins: tuple[str, ...] = SIX, seed: int = 0, study: Study | None = None) -> Study:
    """Make a study with so many topics, each with a response of each of these origins."""
    study = study or StudyFactory()
    rng = np.random.default_rng(seed)
    style = StyleFactory(study=study, name="essay")
    kinds = {Origin.HUMAN: ParticipantKind.CROWD, Origin.MODEL: ParticipantKind.MODEL, Origin.SYSTEM: "SYSTEM"}
    people = {origin: ParticipantFactory(study=study, kind=kinds[origin]) for origin in sorted(set(origins))}
    rows = []
    for topic in TopicFactory.create_batch(topics, study=study):
        for number, origin in enumerate(origins):
            words = int(np.clip(rng.normal(250, 50), 60, 600))
            rows.append(
                ResponseFactory.build(
                    study=study, topic=topic, style=style, participant=people[origin], origin=origin, words=words,
                    external_id=f"{topic.external_id}-{number}", text=f"Text {number} of {topic.query} [0].",
                )
            )  # fmt: skip
    Response.objects.bulk_create(rows)
    return study


def draft(study: Study, name: str = "crowd", **fields: object) -> Campaign:
    """Make a campaign that could be opened; fields are of its terms, its design, or `kind` and `source`."""
    kind = {key: fields.pop(key) for key in ("kind", "source") if key in fields}
    design = {key: value for key, value in fields.items() if key in Design.__dataclass_fields__}
    terms = {"pay": 550, "wage_floor": 1200} | {key: value for key, value in fields.items() if key not in design}
    return services.create_draft(
        study=study, name=name, now=NOW, terms={"eligibility": {}, **terms},
        design=Design(**design), **kind,
    )  # fmt: skip
