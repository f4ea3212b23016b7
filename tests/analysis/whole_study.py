"""A study with at least one row in every table, and texts that break careless writers."""

from analysis.analyses import services
from analysis.inputs import queries, snapshots
from analysis.models import ResultTable, Snapshot
from annotation.enums import CampaignKind
from annotation.models import AssignmentDecision, AssignmentTransition, Instructions, Item, PlatformSubmission
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import DecisionKind, ParticipantKind, Role
from crowdrag.studies.models import Consent, ConsentText, Study
from crowdrag.studies.participants import identity
from tests import factories
from tests.analysis.whole_study_judging import JUDGMENTS as HANDED_OUT
from tests.analysis.whole_study_judging import handed_out
from tests.factories import NOW
from writing.editor import codec
from writing.enums import AnswerOutcome, LogSource, SurveyKind, TaskState
from writing.models import (
    Citation,
    EditingSession,
    LogBatch,
    ModelAnswer,
    PlanStyle,
    PlanTrialTopic,
    ResponseDecision,
    Statement,
    Survey,
    SurveyAnswers,
    TaskPayment,
    TaskTransition,
    WritingLog,
    WritingPrompt,
    WritingTask,
)

# Of these, all but the ones of the campaign that was handed out here were collected elsewhere.
JUDGMENTS = 9 + HANDED_OUT
# Control characters, a formula, separators that some readers take for line ends, both directions, beyond the plane.
HOSTILE = '=HYPERLINK("http://x")\t\x01\x1f\x7f\u2028\u2029\u0085\r\n\\u0000 \\ud800 \u202e𝔘 ́é\ufeff\ufffe"\\'
PLATFORM_ID = "5f0000000000000000000001"


def whole_study(slug: str = "whole") -> Study:
    """Make the study."""
    study = factories.StudyFactory(slug=slug, title="Whole", description=HOSTILE, is_simulated=True, llm_budget=100)
    member = factories.MembershipFactory(study=study, role=Role.OWNER).user
    facts = {"country": "DE", "id": PLATFORM_ID, "ids": [PLATFORM_ID, "other"], "scores": {"a": 1e-300}}
    known = {"identity": identity.encrypt(PLATFORM_ID), "identity_hash": identity.identity_hash(PLATFORM_ID)}
    person = factories.ParticipantFactory(study=study, platform_facts=facts, **known)
    factories.ParticipantFactory(study=study, kind=ParticipantKind.MODEL, specification={"model": "m", "t": 0.1})
    consent = ConsentText.objects.create(study=study, name="c", text=HOSTILE, text_licence="CC0-1.0", created_at=NOW)
    Consent.objects.create(participant=person, text=consent, given_at=NOW, releases_log=True)
    _written(study, person, member)
    _judged(study, person, member)
    return study


def _written(study: Study, person, member) -> None:
    topic = factories.TopicFactory(study=study, query=HOSTILE)
    style = factories.StyleFactory(study=study, instructions=HOSTILE)
    passages = [factories.PassageFactory(study=study, text=HOSTILE) for _ in range(2)]
    retrieved = [
        factories.RetrievedPassageFactory(topic=topic, passage=p, rank=n, score=0.1 + 0.2 * n)
        for n, p in enumerate(passages)
    ]
    draft = {"study": study, "topic": topic, "style": style, "created_at": NOW}
    task = WritingTask.objects.create(
        external_id="t1", participant=person, state=TaskState.ACCEPTED, submitted_at=NOW, **draft
    )
    WritingTask.objects.create(
        external_id="t2", participant=factories.ParticipantFactory(study=study), state=TaskState.CLAIMED,
        draft=HOSTILE, claimed_at=NOW, lease_until=NOW, **draft,
    )  # fmt: skip
    _planned(study, topic, style, task, member)
    survey = Survey.objects.create(
        study=study, name="entry", kind=SurveyKind.ENTRY, questions=[{"name": "q"}], created_at=NOW
    )
    SurveyAnswers.objects.create(task=task, survey=survey, answers={"q": 5, "text": HOSTILE})
    log = WritingLog.objects.create(task=task, source=LogSource.EDITOR, started_at=NOW, created_at=NOW)
    first = EditingSession.objects.create(log=log, number=0, next_batch=2, next_event=2, opened_at=NOW, last_at=NOW)
    EditingSession.objects.create(log=log, number=1, base=first, base_events=1, opened_at=NOW, last_at=NOW)
    for number in range(2):
        payload = codec.pack([["s", number, 0, 0, HOSTILE]])
        LogBatch.objects.create(
            log=log, number=number, first_event=number, event_count=1, codec=codec.CODEC, payload=payload,
            digest=codec.digest(payload), received_at=NOW,
        )  # fmt: skip
    response = factories.ResponseFactory(topic=topic, style=style, participant=person, task=task, text=HOSTILE)
    ResponseDecision.objects.create(
        response=response, about=DecisionKind.INCLUDE, holds=True, reason="fine", evidence={"n": [1]}, decided_at=NOW,
        decided_by=member,
    )  # fmt: skip
    statement = Statement.objects.create(response=response, position=0, start=0, end=4, closing=".")
    for each in retrieved:
        Citation.objects.create(statement=statement, retrieved=each)


def _planned(study: Study, topic, style, task, member) -> None:
    plan = factories.WritingPlanFactory(study=study, tax=19, wage_floor=1200, tasks_per_person=3)
    PlanStyle.objects.create(plan=plan, style=style, position=1)
    PlanTrialTopic.objects.create(plan=plan, topic=topic)
    WritingTask.objects.filter(pk=task.pk).update(
        slot=0, instructions=plan.instructions, pay=250, seconds=0.1, active_seconds=1e-9, finished_at=NOW
    )
    TaskTransition.objects.create(task=task, after=TaskState.ACCEPTED, cause="x", note=HOSTILE, at=NOW, by=member)
    TaskPayment.objects.create(task=task, amount=250, reason="accepted", at=NOW, by=member)
    # A revision of a revision: each refers to the row right before it.
    for number, state in enumerate((TaskState.REVISION, TaskState.REVISION, TaskState.SUBMITTED)):
        again = {"topic": topic, "participant": factories.ParticipantFactory(study=study), "state": state}
        task = factories.WritingTaskFactory(
            external_id=f"again-{number}", revises=task if number else None, is_trial=number == 0, **again
        )
    model = factories.ParticipantFactory(study=study, kind=ParticipantKind.MODEL)
    WritingPrompt.objects.create(study=study, name="prompt", text=HOSTILE, created_at=NOW)
    ModelAnswer.objects.create(
        participant=model, topic=topic, style=style, outcome=AnswerOutcome.REFUSED, text=HOSTILE, answered_at=NOW
    )


def _judged(study: Study, person, member) -> None:
    instructions = Instructions.objects.create(study=study, name="i", text=HOSTILE, created_at=NOW)
    campaign = factories.CampaignFactory(study=study, pay=100, instructions=instructions)
    dimension = factories.DimensionFactory(study=study)
    factories.CampaignDimensionFactory(campaign=campaign, dimension=dimension)
    topic = factories.TopicFactory(study=study)
    a, b, c = (factories.ResponseFactory(topic=topic) for _ in range(3))
    sheet = factories.QuestionnaireFactory(campaign=campaign)
    for left, right in ((a, b), (b, a), (b, c)):
        item = factories.ItemFactory(campaign=campaign, pair=factories.PairFactory(a=left, b=right))
        factories.QuestionnaireItemFactory(questionnaire=sheet, item=item)
    given = [
        factories.AssignmentFactory(questionnaire=sheet, participant=who, seconds=0.1, submitted_at=NOW)
        for who in (person, factories.ParticipantFactory(study=study), factories.ParticipantFactory(study=study))
    ]
    for n, assignment in enumerate(given):
        for entry in sheet.entries.order_by("id"):
            factories.JudgmentFactory(
                assignment=assignment, item=entry.item, dimension=dimension, value=(n + entry.pk) % 3 - 1,
                justification=HOSTILE, entry=entry,
            )  # fmt: skip
    AssignmentTransition.objects.create(assignment=given[0], after="ACCEPTED", cause="x", at=NOW, by=member)
    AssignmentDecision.objects.create(
        assignment=given[0], about=DecisionKind.PAY, holds=True, reason="=1+1", decided_at=NOW, decided_by=member
    )
    pointwise = factories.CampaignFactory(study=study, kind=CampaignKind.POINTWISE)
    Item.objects.create(campaign=pointwise, topic=topic, external_id="elsewhere")
    Item.objects.create(campaign=pointwise, topic=topic, response=a)
    PlatformSubmission.objects.create(campaign=campaign, external_id="s", participant=person, seconds=1.5, approvals=3)
    handed_out(study, person, member, HOSTILE)
    _analysed(study)


def _analysed(study: Study) -> None:
    run = Run.objects.create(
        study=study, kind=services.KIND, state=RunState.DONE, parameters={"pool": "CROWD"}, seed=7, code_version="1",
        environment={"python": "3"}, summary={"x": [0.1, None]}, created_at=NOW, started_at=NOW, finished_at=NOW,
    )  # fmt: skip
    taken = queries.load(study)
    Snapshot.objects.create(
        run=run, pool=taken.pool, digest=taken.digest, judgments=len(taken.main.unit), responses=len(taken.responses),
        mark=snapshots.inputs_fingerprint(study), payload=taken.pack(), created_at=NOW,
    )  # fmt: skip
    ResultTable.objects.create(
        run=run, name="key_figures", rows=[{"p_a": 0.1, "note": HOSTILE, "label": None}, {"p_a": 1e-17}]
    )
