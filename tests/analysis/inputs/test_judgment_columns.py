"""Judgments kept in columns between runs are those of the database, whatever happens to either."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.inputs import judgment_columns, queries
from analysis.models import JudgmentPart
from annotation.enums import AssignmentState
from annotation.models import Assignment, Campaign, Judgment
from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import withdrawal
from tests.analysis import small_study
from tests.analysis.other_processes import python
from tests.examples import examples
from tests.factories import AssignmentFactory, QuestionnaireItemFactory

pytestmark = pytest.mark.django_db
FIELDS = ("id", "item", "assignment__questionnaire", "assignment", "assignment__participant", "dimension", "value")


def in_database(study: Study) -> list[tuple[int, ...]]:
    counted = Judgment.objects.of_study(study).counted().order_by("pk")
    return list(counted.values_list(*FIELDS))


def as_rows(judgments: judgment_columns.Judgments) -> list[tuple[int, ...]]:
    given_by = judgments.assignments[judgments.assignment]
    table = (judgments.row, judgments.items[judgments.item], given_by["questionnaire"], given_by["assignment"],
             given_by["coder"], judgments.dimensions[judgments.dimension], judgments.value)  # fmt: skip
    return list(zip(*(column.tolist() for column in table), strict=True))


def campaigns(study: Study) -> list[int]:
    return list(Campaign.objects.filter(study=study).values_list("pk", flat=True))


def renewed(study: Study) -> judgment_columns.Renewal:
    """Read and keep, and check what was read."""
    found, renewal = judgment_columns.load(study, campaigns(study))
    assert as_rows(found) == in_database(study)
    judgment_columns.keep(study, renewal)
    return renewal


def held(study: Study) -> list[int]:
    """The assignments that the parts hold, each as often as it is held."""
    return sorted(pk for _part, marks in judgment_columns._marks(study) for pk in marks["assignment"].tolist())


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def answered(study: Study, value: int) -> None:
    """One more person judges all items."""
    questionnaire = study.campaigns.get().questionnaires.get()
    assignment = AssignmentFactory(questionnaire=questionnaire)
    Judgment.objects.bulk_create(
        Judgment(assignment=assignment, item=entry.item, dimension=dimension, value=value)
        for entry in questionnaire.entries.all()
        for dimension in study.dimensions.all()
    )


def _assignment(study: Study, number: int) -> Assignment | None:
    held_by = list(Assignment.objects.filter(participant__study=study).order_by("pk"))
    return held_by[number % len(held_by)] if held_by else None


def changed(study: Study, number: int) -> None:
    judgments = Judgment.objects.filter(assignment=_assignment(study, number)).order_by("pk")[:3]
    for judgment in judgments:
        Judgment.objects.filter(pk=judgment.pk).update(value=-1 if judgment.value == 1 else judgment.value + 1)


def excluded(study: Study, number: int) -> None:
    if assignment := _assignment(study, number):
        Assignment.objects.filter(pk=assignment.pk).update(is_included=not assignment.is_included)


def rejected(study: Study, number: int) -> None:
    if assignment := _assignment(study, number):
        other = {AssignmentState.ACCEPTED: AssignmentState.REJECTED}.get(
            AssignmentState(assignment.state), AssignmentState.ACCEPTED
        )
        Assignment.objects.filter(pk=assignment.pk).update(state=other)


def deleted(study: Study, number: int) -> None:
    judgment = Judgment.objects.filter(assignment=_assignment(study, number)).order_by("pk").first()
    if judgment:
        judgment.delete()


def erased(study: Study, number: int) -> None:
    if assignment := _assignment(study, number):
        withdrawal.erase(participant=assignment.participant, now=timezone.now())
        mine = set(Assignment.objects.filter(participant=assignment.participant).values_list("pk", flat=True))
        assert mine.isdisjoint(held(study))


def read(study: Study, _number: int) -> None:
    renewed(study)


CHANGES: tuple[Callable[[Study, int], None], ...] = (
    lambda study, number: answered(study, number % 3 - 1), changed, excluded, rejected, deleted, erased, read,
)  # fmt: skip


@pytest.fixture(scope="module")
def made(shared_rows: None) -> int:
    return small_study.make().pk


@pytest.fixture
def study(made: int, db: None) -> Study:
    return Study.objects.get(pk=made)


@settings(max_examples=examples(4))
@given(
    steps=st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 7)), min_size=3, max_size=9),
    large=st.sampled_from([20, 60, 1000]),
    many=st.sampled_from([1, 3]),
)
def test_columns_equal_the_rows_after_any_changes(
    made: int, steps: list[tuple[Callable[[Study, int], None], int]], large: int, many: int
) -> None:
    study = Study.objects.get(pk=made)
    with undone(), pytest.MonkeyPatch.context() as patched:
        patched.setattr(judgment_columns, "LARGE", large)
        patched.setattr(judgment_columns, "SMALL", 40)
        patched.setattr(judgment_columns, "MANY", many)
        renewed(study)
        for change, number in steps:
            with transaction.atomic():
                change(study, number)
            renewed(study)
        assert renewed(study).added == ()
        present = judgment_columns._present(study)
        nothing = np.zeros(len(present), dtype=bool)
        valid = [
            judgment_columns._compare(marks, present, nothing)[1].sum()
            for _part, marks in judgment_columns._marks(study)
        ]
        assert sum(valid) == len(present), "each assignment is valid in one part"


def test_only_changed_assignments_are_read_again(study: Study) -> None:
    assert len(renewed(study).added) == 1
    assert renewed(study) == judgment_columns.Renewal()
    answered(study, 1)
    (part,) = renewed(study).added
    assert len(part.marks) == 1


def test_inputs_are_the_same_with_and_without_kept_columns(study: Study) -> None:
    first = queries.load(study)
    assert JudgmentPart.objects.filter(study=study).exists()
    again = queries.load(study)
    JudgmentPart.objects.all().delete()
    assert first.digest == again.digest == queries.load(study).digest
    assert first.main.row.tolist() == again.main.row.tolist()


def test_two_runs_that_read_at_once_keep_each_judgment_once(study: Study) -> None:
    renewals = [judgment_columns.load(study, campaigns(study))[1] for _ in range(2)]
    for renewal in renewals:
        judgment_columns.keep(study, renewal)
    assert held(study) == sorted(Assignment.objects.filter(participant__study=study).values_list("pk", flat=True))
    assert renewed(study).added == ()


def test_what_is_erased_between_reading_and_keeping_is_not_kept(study: Study) -> None:
    _judgments, renewal = judgment_columns.load(study, campaigns(study))
    person = Participant.objects.get(study=study, external_id="w2")
    withdrawal.erase(participant=person, now=timezone.now())
    judgment_columns.keep(study, renewal)
    gone = Assignment.objects.filter(participant=person).values_list("pk", flat=True)
    assert held(study)
    assert set(gone).isdisjoint(held(study))
    renewed(study)


def test_an_erasure_removes_a_persons_judgments_from_the_parts(study: Study) -> None:
    renewed(study)
    person = Participant.objects.get(study=study, external_id="w2")
    mine = set(Judgment.objects.filter(assignment__participant=person).values_list("pk", flat=True))
    others = set(
        Judgment.objects.exclude(pk__in=mine).filter(assignment__participant__study=study).values_list("pk", flat=True)
    )
    withdrawal.erase(participant=person, now=timezone.now())
    kept = {
        pk
        for payload in JudgmentPart.objects.filter(study=study).values_list("payload", flat=True)
        for pk in judgment_columns._columns(payload)["row"].tolist()
    }
    assert kept == others
    assert mine


def test_a_failure_while_storing_leaves_the_parts_as_they_were(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    renewed(study)
    before = list(JudgmentPart.objects.order_by("pk").values_list("pk", "digest"))
    for value in (1, 0):
        answered(study, value)
    monkeypatch.setattr(judgment_columns, "MANY", 0)
    _judgments, renewal = judgment_columns.load(study, campaigns(study))
    assert renewal.replaced
    real = judgment_columns._store

    def fail(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        raise OSError(28)

    monkeypatch.setattr(judgment_columns, "_store", fail)
    with pytest.raises(OSError, match="28"):
        judgment_columns.keep(study, renewal)
    assert list(JudgmentPart.objects.order_by("pk").values_list("pk", "digest")) == before


CHILD = """
import os, signal
import django
django.setup()
from analysis.inputs import judgment_columns, queries
from crowdrag.studies.models import Study
real = judgment_columns._store
def die(*arguments):
    real(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
judgment_columns._store = die
judgment_columns.MANY = 0
queries.load(Study.objects.get(pk={study}))
"""


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_a_process_killed_while_storing_leaves_the_parts_as_they_were() -> None:
    study = small_study.make()
    renewed(study)
    before = list(JudgmentPart.objects.order_by("pk").values_list("pk", "digest"))
    answered(study, 1)
    process = python("-c", CHILD.format(study=study.pk))
    _out, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()
    assert list(JudgmentPart.objects.order_by("pk").values_list("pk", "digest")) == before
    assert len(renewed(study).added) == 1


def test_an_item_judged_by_an_assignment_of_another_questionnaire_has_no_position(study: Study) -> None:
    campaign = study.campaigns.get()
    entry = QuestionnaireItemFactory(questionnaire__campaign=campaign, item=campaign.items.first(), position=4)
    assignment = AssignmentFactory(questionnaire=entry.questionnaire, participant__external_id="z")
    Judgment.objects.create(assignment=assignment, item=entry.item, dimension=study.dimensions.first(), value=0)
    pool = queries.load(study).main
    assert pool.position[pool.coder == pool.participants.index("z")].tolist() == [4 + 1]
    assert np.all(pool.position > 0)
