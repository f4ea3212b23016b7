"""A study in which the same pairs are judged in both orders, by people and by a model: design, section 2."""

from annotation.enums import Judges
from annotation.models import Campaign
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study
from tests.analysis import small_study
from tests.analysis.small_study import Votes
from tests.factories import StudyFactory

# Six people. Three judged one order, three the other, and w1 one pair in both,
# differently. The last pair was shown in one order.
PEOPLE: Votes = {
    ("t1-x", "t1-y"): ("ABB...",),
    ("t1-y", "t1-x"): ("...BBN",),
    ("t1-x", "t1-z"): ("AAN...",),
    ("t1-z", "t1-x"): ("A..ABB",),
    ("t2-x", "t2-y"): ("BBB...",),
    ("t2-y", "t2-x"): ("...AAB",),
    ("t2-x", "t2-z"): ("AAN...",),
}
# The model wrote every y; what it said of two dimensions.
MODEL: Votes = {
    ("t1-x", "t1-y"): ("B", "B"),
    ("t1-y", "t1-x"): ("A", "N"),
    ("t1-x", "t1-z"): ("A", "A"),
    ("t1-z", "t1-x"): ("A", "B"),
    ("t2-x", "t2-y"): ("B", "B"),
    ("t2-y", "t2-x"): ("A", "A"),
}
NAMES = ("w1", "w2", "w3", "w4", "w5", "w6")
WRITER = "writer-y"


def people(votes: Votes = PEOPLE) -> Study:
    """Store a study in which people judged one dimension."""
    study: Study = StudyFactory()
    small_study.responses(study, votes)
    Participant.objects.filter(study=study, external_id=WRITER).update(kind=ParticipantKind.MODEL)
    small_study.campaign(study, votes, names=NAMES[: len(next(iter(votes.values()))[0])], dimensions=["clear"], k=6)
    return study


def model(
    study: Study, votes: Votes = MODEL, *, inference: str = "COMBINED", name: str = WRITER,
    dimensions: tuple[str, ...] = ("clear", "deep"),
) -> Campaign:  # fmt: skip
    """Store what a model said, asked in one way."""
    made = small_study.campaign(study, votes, judges=Judges.MODEL, names=[name], dimensions=dimensions, k=1)
    Campaign.objects.filter(pk=made.pk).update(inference=inference)
    return made
