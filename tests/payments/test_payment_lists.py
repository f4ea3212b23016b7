"""What is owed, payment lists and their files: nobody is paid twice, and every mark says who, when and with what."""

from collections import Counter
from copy import deepcopy
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.db.utils import ProgrammingError
from django.test import Client
from django.urls import reverse

from annotation.enums import AssignmentState
from annotation.models import AssignmentPayment
from crowdrag.assignments import undo
from crowdrag.audit.models import AccessLogEntry
from crowdrag.payments import csv_files, queries, services
from crowdrag.payments.enums import ListEventKind, ListState, PaymentMethod
from crowdrag.payments.models import PaymentList, PaymentListEvent
from crowdrag.recruitment.enums import ActionKind, ActionState, SubmissionStatus
from crowdrag.recruitment.models import PlatformAction, PlatformStudy, Submission
from crowdrag.studies.enums import EntryKind, Role
from crowdrag.studies.models import Arrival, EntryLink, Participant, Study
from crowdrag.studies.participants import identity
from tests.factories import (
    NOW,
    AssignmentFactory,
    CampaignFactory,
    MembershipFactory,
    ParticipantFactory,
    QuestionnaireFactory,
    StudyFactory,
    TopicFactory,
    WritingTaskFactory,
)
from writing.enums import TaskState
from writing.models import TaskPayment

pytestmark = pytest.mark.django_db
PROLIFIC_ID = "5f00000000000000000000aa"
DECIDED = NOW - undo.UNDO_TIME


def link_of(study: Study, platform: str = "prolific") -> EntryLink:
    return EntryLink.objects.create(
        study=study, purpose="judging-1", kind=EntryKind.PLATFORM, token=uuid4().hex, token_hash=uuid4().bytes * 2,
        platform=platform, created_at=NOW,
    )  # fmt: skip


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    """`writer` earned 10.00 and comes by a link of ours; `judge` earned 4.00 and 1.50 and comes from Prolific."""
    study = StudyFactory(slug="paid", title="Tides", currency="EUR")
    writer = ParticipantFactory(study=study, external_id="writer")
    judge = ParticipantFactory(
        study=study, external_id="judge", identity=identity.encrypt(PROLIFIC_ID),
        identity_hash=identity.identity_hash(PROLIFIC_ID),
    )  # fmt: skip
    Arrival.objects.create(link=link_of(study), participant=judge, session="s-1", arrived_at=NOW, last_at=NOW)
    task = WritingTaskFactory(
        study=study, topic=TopicFactory(study=study), participant=writer, state=TaskState.ACCEPTED, pay=1000
    )
    TaskPayment.objects.create(task=task, amount=1000, reason="accepted", at=DECIDED)
    assignment = AssignmentFactory(
        questionnaire=QuestionnaireFactory(campaign=CampaignFactory(study=study)), participant=judge,
        state=AssignmentState.ACCEPTED,
    )  # fmt: skip
    for amount, reason in ((400, "accepted"), (150, "a fault of ours")):
        AssignmentPayment.objects.create(assignment=assignment, amount=amount, reason=reason, at=DECIDED)
    ParticipantFactory(study=study, external_id="idle")
    MembershipFactory(study=study, role=Role.EDITOR)
    return study


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


def editor(study: Study):
    return study.memberships.get(role=Role.EDITOR).user


def owed(study: Study) -> dict[str, int]:
    return {row.participant.external_id: row.owed for row in queries.balances(study, now=NOW)}


def listed(study: Study, method: PaymentMethod = PaymentMethod.TRANSFER, **fields) -> PaymentList:
    given = {"key": uuid4(), "by": editor(study), "now": NOW} | fields
    return services.create_list(study=study, method=method, **given)


def test_everything_earned_is_owed_until_it_is_on_a_list(study: Study) -> None:
    assert owed(study) == {"writer": 1000, "judge": 550}
    made = listed(study)
    assert {line.participant.external_id: line.amount for line in made.lines.all()} == {"writer": 1000}
    assert owed(study) == {"writer": 0, "judge": 550}
    assert queries.totals(queries.balances(study, now=NOW)) == queries.Totals(1550, 0, 0, 1000, 550, 1)


def test_a_decision_that_can_be_undone_is_not_paid_yet(study: Study) -> None:
    TaskPayment.objects.create(
        task=TaskPayment.objects.get().task, amount=50, reason="a thank-you", at=DECIDED + timedelta(seconds=1)
    )
    assert owed(study)["writer"] == 1000


def test_the_same_request_makes_one_list_and_nobody_is_on_two(study: Study) -> None:
    key = uuid4()
    assert listed(study, key=key) == listed(study, key=key)
    with pytest.raises(services.NothingOwedError):
        listed(study)
    task = TaskPayment.objects.get().task
    TaskPayment.objects.create(task=task, amount=50, reason="a thank-you", at=DECIDED)
    assert [line.amount for line in listed(study).lines.all()] == [50]


def test_prolific_pays_whose_id_is_known_and_the_file_is_what_it_takes(study: Study) -> None:
    writer = Participant.objects.get(external_id="writer")
    with pytest.raises(services.NotOnProlificError, match="writer"):
        listed(study, PaymentMethod.PROLIFIC, participants=[writer.pk])
    prolific = listed(study, PaymentMethod.PROLIFIC)
    assert csv_files.payment_file(prolific).decode() == f"{PROLIFIC_ID},5.50\n"
    transfer = csv_files.payment_file(listed(study)).decode().splitlines()
    assert transfer == ["participant,amount,currency,purpose", "writer,10.00,EUR,Tides"]
    assert PROLIFIC_ID not in csv_files.overview_file(study, queries.balances(study, now=NOW)).decode()
    Participant.objects.filter(external_id="judge").update(identity=None, identity_hash=None, erased_at=NOW)
    assert csv_files.payment_file(prolific) == b""
    assert csv_files.without_prolific_id(prolific) == 1


def test_a_mark_says_who_when_and_with_what_and_can_be_taken_back(study: Study) -> None:
    made, by = listed(study), editor(study)
    with pytest.raises(services.PaymentListError):
        services.mark_paid(payment_list=made, reference=" ", by=by, now=NOW)
    for later in (1, 2):  # the same mark again changes nothing
        paid = services.mark_paid(payment_list=made, reference=" transfer  7 ", by=by, now=NOW + timedelta(hours=later))
        assert (paid.state, paid.reference, paid.paid_by) == (ListState.PAID, "transfer 7", by)
        assert paid.paid_at == NOW + timedelta(hours=1)
    with pytest.raises(services.WrongStateError):
        services.mark_paid(payment_list=made, reference="transfer 8", by=by, now=NOW)
    with pytest.raises(services.WrongStateError):
        services.cancel(payment_list=made, by=by, now=NOW)
    assert owed(study)["writer"] == 0
    for _again in range(2):
        assert services.take_back(payment_list=made, by=by, now=NOW).state == ListState.OPEN
    for _again in range(2):
        assert services.cancel(payment_list=made, by=by, now=NOW).state == ListState.CANCELLED
    with pytest.raises(services.WrongStateError):
        services.take_back(payment_list=made, by=by, now=NOW)
    assert owed(study)["writer"] == 1000
    assert Counter(PaymentListEvent.objects.values_list("kind", flat=True)) == Counter(ListEventKind.values)


def test_amounts_and_events_never_change_and_a_paid_list_has_a_reference(study: Study) -> None:
    made = listed(study)
    for rows, change in ((made.lines, {"amount": 1}), (made.events, {"reference": "other"})):
        with pytest.raises(ProgrammingError), transaction.atomic():
            rows.update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        PaymentList.objects.update(state=ListState.PAID)


def test_what_the_platform_pays_or_was_told_to_pay_is_not_owed(study: Study) -> None:
    judge = Participant.objects.get(external_id="judge")
    advertised = PlatformStudy.objects.create(
        study=study, purpose="judging-1", link=EntryLink.objects.get(study=study), name="Judge", internal_name="judge",
        description="You judge.", reward=400, places=3, minutes=20, screen_out_reward=100, created_at=NOW,
    )  # fmt: skip
    visit = Submission.objects.create(
        platform_study=advertised, external_id="s-1", participant=judge, first_heard_at=NOW
    )

    def order(kind: ActionKind, state: ActionState, **details: int) -> PlatformAction:
        return PlatformAction.objects.create(
            platform_study=advertised, submission=visit, kind=kind, key=f"{kind}-{state}", details=details,
            state=state, due_at=NOW, created_at=NOW,
        )  # fmt: skip

    order(ActionKind.BONUS, ActionState.DROPPED, amount=150)
    assert owed(study)["judge"] == 550
    order(ActionKind.APPROVE, ActionState.WAITING)
    assert owed(study)["judge"] == 150
    order(ActionKind.BONUS, ActionState.DONE, amount=100)
    assert owed(study)["judge"] == 50
    Submission.objects.update(status=SubmissionStatus.APPROVED, status_at=NOW, bonuses=[100, 50])
    assert owed(study)["judge"] == 0
    Submission.objects.update(status=SubmissionStatus.REJECTED)
    assert owed(study)["judge"] == 400
    Submission.objects.update(status=SubmissionStatus.SCREENED_OUT)
    assert owed(study)["judge"] == 300


def test_the_pages_make_a_list_send_its_file_and_mark_it(study: Study) -> None:
    browser, page = Client(), reverse("payments", args=[study.slug])
    browser.force_login(editor(study))
    assert browser.get(page).status_code == 200
    refused = browser.post(page, {"method": "CHEQUE", "key": uuid4()})
    assert (refused.status_code, PaymentList.objects.count()) == (422, 0)
    judge = Participant.objects.get(external_id="judge")
    answer = browser.post(page, {"method": PaymentMethod.PROLIFIC, "key": uuid4(), "participant": [judge.pk]})
    made = PaymentList.objects.get()
    assert answer["Location"] == reverse("payment_list", args=[study.slug, made.key])
    assert browser.get(answer["Location"]).status_code == 200
    sent = browser.get(reverse("payment_file", args=[study.slug, made.key]))
    assert sent.content.decode() == f"{PROLIFIC_ID},5.50\n"
    assert AccessLogEntry.objects.filter(page="payment_file", by=editor(study)).exists()
    paid = reverse("payment_list_paid", args=[study.slug, made.key])
    assert browser.post(paid, {"reference": ""}).status_code == 422
    assert browser.post(paid, {"reference": "bulk 3"}).status_code == 302
    browser.post(reverse("payment_list_take_back", args=[study.slug, made.key]))
    browser.post(reverse("payment_list_cancel", args=[study.slug, made.key]))
    assert PaymentList.objects.get().state == ListState.CANCELLED
    assert "writer" in browser.get(reverse("payments_csv", args=[study.slug])).content.decode()
