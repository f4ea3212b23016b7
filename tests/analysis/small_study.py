"""Small studies to analyse, written down as votes."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.analyses import services
from annotation.enums import AssignmentState, CampaignKind, Judges
from annotation.models import Assignment, Campaign, Judgment
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study
from tests.factories import (
    AssignmentFactory,
    CampaignDimensionFactory,
    CampaignFactory,
    DimensionFactory,
    ItemFactory,
    PairFactory,
    ParticipantFactory,
    QuestionnaireFactory,
    QuestionnaireItemFactory,
    ResponseFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from writing.enums import Origin
from writing.models import Response

VALUES = {"A": -1, "N": 0, "B": 1}
DIMENSIONS = ("clear", "deep")

#: Left response, right response: what each judge answered on each dimension, judges in the order of `JUDGES`.
Votes = Mapping[tuple[str, str], Sequence[str]]

# Two topics with three responses each; one pair (t1-x, t1-y) was judged in both orders. w1 to w3 agree, w4 contradicts.
VOTES: Votes = {
    ("t1-x", "t1-y"): ("AAAB", "AANB"),
    ("t1-y", "t1-x"): ("BBBA", "BBNA"),
    ("t1-x", "t1-z"): ("AAAB", "AAAN"),
    ("t1-y", "t1-z"): ("AANB", "NNNA"),
    ("t2-x", "t2-y"): ("BBBA", "BBBA"),
    ("t2-x", "t2-z"): ("BBAA", "NBBA"),
    ("t2-y", "t2-z"): ("AAAN", "AABB"),
}
JUDGES = ("w1", "w2", "w3", "w4")
STYLES = {"x": "bullet", "y": "essay", "z": "bullet"}
ORIGINS = {"x": Origin.HUMAN, "y": Origin.MODEL, "z": Origin.HUMAN}
#: Parameters of an analysis that takes a moment.
QUICK = {"resamples": 10, "restarts": 2, "refine": 0}


def analyse(study: Study, *, seed: int = 0, **parameters: Any) -> Run:
    """Analyse a study quickly."""
    return lifecycle.wait(services.start(study=study, seed=seed, parameters=QUICK | parameters))


def make(votes: Votes = VOTES, *, study: Study | None = None, dimensions: Sequence[str] = DIMENSIONS) -> Study:
    """Store a study in which a crowd gave these votes, one questionnaire for all."""
    study = study or StudyFactory()
    responses(study, votes)
    judges = len(next(iter(votes.values()))[0])
    campaign(study, votes, dimensions=dimensions, names=JUDGES[:judges])
    return study


def responses(study: Study, votes: Votes = VOTES) -> None:
    """Store the responses that the votes are about: `t1-x` answers topic t1."""
    names = sorted({name for pair in votes for name in pair})
    topics = {name: TopicFactory(study=study, external_id=name) for name in sorted({n.split("-")[0] for n in names})}
    kinds = sorted(set(STYLES.values()))
    styles = {name: StyleFactory(study=study, name=name, label=name.capitalize()) for name in kinds}
    for name in names:
        topic, letter = name.split("-")
        writer = Participant.objects.filter(study=study, external_id=f"writer-{letter}").first()
        ResponseFactory(
            topic=topics[topic],
            external_id=name,
            style=styles[STYLES[letter]],
            origin=ORIGINS[letter],
            participant=writer or ParticipantFactory(study=study, external_id=f"writer-{letter}"),
            words=100,
        )


def campaign(
    study: Study,
    votes: Votes = VOTES,
    *,
    judges: str = Judges.CROWD,
    names: Sequence[str] = JUDGES,
    dimensions: Sequence[str] = DIMENSIONS,
    k: int = 5,
) -> Campaign:
    """Store a campaign with its judgments; one letter a judge and dimension, "." for no answer."""
    kind = CampaignKind.EXPERT if judges == Judges.EXPERT else CampaignKind.PAIRWISE
    inference = "COMBINED" if judges == Judges.MODEL else ""
    made: Campaign = CampaignFactory(study=study, judges=judges, kind=kind, k=k, inference=inference)
    asked = {}
    for position, name in enumerate(dimensions):
        asked[name] = study.dimensions.filter(name=name).first() or DimensionFactory(
            study=study, name=name, label=name.capitalize()
        )
        CampaignDimensionFactory(campaign=made, dimension=asked[name], position=position)
    questionnaire = QuestionnaireFactory(campaign=made)
    assignments = [_assignment(study, questionnaire, name, judges) for name in names]
    stored = {response.external_id: response for response in Response.objects.filter(study=study)}
    for position, ((left, right), letters) in enumerate(votes.items()):
        a, b = stored[left], stored[right]
        pair = study.pairs.filter(a=a, b=b).first() or PairFactory(a=a, b=b)
        item = ItemFactory(campaign=made, pair=pair, topic=a.topic)
        QuestionnaireItemFactory(questionnaire=questionnaire, item=item, position=position)
        Judgment.objects.bulk_create(
            Judgment(assignment=assignment, item=item, dimension=asked[name], value=VALUES[letter])
            for name, answers in zip(dimensions, letters, strict=True)
            for assignment, letter in zip(assignments, answers, strict=True)
            if letter != "."
        )
    return made


def _assignment(study: Study, questionnaire: object, name: str, judges: str) -> Assignment:
    person = Participant.objects.filter(study=study, external_id=name).first()
    kind = {Judges.MODEL: ParticipantKind.MODEL, Judges.EXPERT: ParticipantKind.EXPERT}.get(
        Judges(judges), ParticipantKind.CROWD
    )
    person = person or ParticipantFactory(study=study, external_id=name, kind=kind)
    made: Assignment = AssignmentFactory(
        questionnaire=questionnaire, participant=person, state=AssignmentState.ACCEPTED
    )
    return made
