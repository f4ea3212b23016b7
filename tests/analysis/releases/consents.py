"""A small study that people took part in here: one writes with a log and surveys, two judge; a model wrote too."""

from datetime import timedelta
from typing import Any

from annotation.enums import CampaignKind, Judges
from annotation.models import Campaign, Judgment
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Consent, ConsentText, Participant, Study
from tests import factories
from tests.factories import NOW, StudyFactory
from writing.editor import codec
from writing.enums import LogSource, Origin, SurveyKind, TaskState
from writing.models import LogBatch, Response, Survey, SurveyAnswers, WritingLog, WritingTask

TEXT = "Leaves fall [0]. Days grow short."
SUBMITTED = NOW + timedelta(seconds=3723.5)
# Typed in two sentences, the first of them begun twice: what was written then stands in the log alone.
EVENTS: list[list[Any]] = [
    ["a", 0, 1767268800123, 800, 600, 0],
    ["s", 1500, 0, 0, "Call me on ", "typed", "insertText"],
    ["k", 1600, "letter", 95],
    ["s", 61_500, 0, 11, "", "deleted", ""],
    ["s", 62_000, 0, 0, "Leaves fall [0].", "typed", ""],
    ["q", 90_000, "leaves", 2],
    ["s", 125_250, 16, 0, " Days grow short.", "typed", ""],
]


def study(*, slug: str = "taken-part", text: str = TEXT, events: list[list[Any]] | None = None) -> Study:
    """Make the study; nobody has consented yet (`agrees`)."""
    made = StudyFactory(slug=slug)
    topic = factories.TopicFactory(study=made, external_id="t")
    factories.RetrievedPassageFactory(topic=topic, passage__study=made, rank=0)
    style = factories.StyleFactory(study=made, name="essay")
    writer = factories.ParticipantFactory(study=made, external_id="writer")
    task = WritingTask.objects.create(
        study=made, external_id="task", topic=topic, style=style, participant=writer, state=TaskState.ACCEPTED,
        created_at=NOW, seconds=125.25, active_seconds=61.5,
    )  # fmt: skip
    survey = Survey.objects.create(
        study=made, name="entry", kind=SurveyKind.ENTRY, created_at=NOW,
        questions=[{"name": "worker_knowledge", "text": "How much?", "options": [{"value": 3, "label": "3"}]},
                   {"name": "town", "text": "In which town do you live?"}],
    )  # fmt: skip
    SurveyAnswers.objects.create(task=task, survey=survey, answers={"worker_knowledge": 3, "town": "Ashby"})
    log = WritingLog.objects.create(task=task, source=LogSource.EDITOR, started_at=NOW, created_at=NOW)
    payload = codec.pack(EVENTS if events is None else events)
    LogBatch.objects.create(
        log=log, number=0, first_event=0, event_count=len(EVENTS if events is None else events), codec=codec.CODEC,
        payload=payload, digest=codec.digest(payload), received_at=NOW,
    )  # fmt: skip
    given = {"study": made, "topic": topic, "style": style, "submitted_at": SUBMITTED}
    human = factories.ResponseFactory(external_id="human", participant=writer, task=task, text=text, **given)
    model = factories.ParticipantFactory(study=made, external_id="m-1", kind=ParticipantKind.MODEL)
    other = factories.ResponseFactory(external_id="model", participant=model, origin=Origin.MODEL, **given)
    _judged(made, human, other)
    return made


def _judged(made: Study, human: Response, other: Response) -> None:
    text = ConsentText.objects.create(
        study=made, name="judging", text="J", text_licence="CC-BY-4.0", timing_licence="CC-BY-4.0", created_at=NOW
    )
    campaign = Campaign.objects.create(
        study=made, name="c", kind=CampaignKind.PAIRWISE, judges=Judges.CROWD, consent_text=text, created_at=NOW
    )
    dimension = factories.DimensionFactory(study=made, name="quality_overall")
    factories.CampaignDimensionFactory(campaign=campaign, dimension=dimension)
    item = factories.ItemFactory(campaign=campaign, pair=factories.PairFactory(a=human, b=other))
    entry = factories.QuestionnaireItemFactory(item=item, questionnaire__external_id="q", position=4)
    for n in range(2):
        judge = factories.ParticipantFactory(study=made, external_id=f"judge-{n}")
        assignment = factories.AssignmentFactory(
            questionnaire=entry.questionnaire, participant=judge, submitted_at=SUBMITTED, seconds=61.7,
            comment="Thank you",
        )  # fmt: skip
        Judgment.objects.create(
            assignment=assignment, item=item, dimension=dimension, value=-1, justification="It is better.",
            judged_at=SUBMITTED,
        )  # fmt: skip


def person(made: Study, name: str) -> Participant:
    return Participant.objects.get(study=made, external_id=name)


def agrees(made: Study, name: str, *, to: str = "writing", licence: str = "CC-BY-4.0", **said: Any) -> Consent:
    """Let somebody agree to a text, which is made if there is none."""
    text, _made = ConsentText.objects.get_or_create(
        study=made, name=to,
        defaults={"text": to, "text_licence": licence, "log_licence": licence, "timing_licence": licence,
                  "created_at": NOW},
    )  # fmt: skip
    given = {"given_at": NOW, "releases_text": True, "releases_log": True, "releases_timing": True} | said
    return Consent.objects.create(participant=person(made, name), text=text, **given)


def all_agree(made: Study) -> Study:
    """Let everybody agree to everything."""
    agrees(made, "writer")
    for n in range(2):
        agrees(made, f"judge-{n}", to="judging")
    return made
