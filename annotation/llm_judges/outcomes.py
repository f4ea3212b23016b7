"""Classify a model's answer, and store it with its judgments, once.

Nothing is guessed: an answer that does not fit is stored as such.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Count

from analysis.text import statements
from crowdrag.jobs.models import Run
from crowdrag.llm.enums import Fault
from crowdrag.llm.gateway import Answer
from crowdrag.llm.models import Attempt, Call
from crowdrag.studies.models import Participant
from writing.llm_writers import outcomes as writing_outcomes

from ..enums import JudgingOutcome
from ..judging.questionnaire_content import Question
from ..models import Assignment, JudgingAnswer
from . import prompts


@dataclass(frozen=True)
class ChosenOption:
    """An answer to one question: the option's value, and the justification."""

    value: int
    justification: str = ""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a request, and the chosen option of each dimension."""

    outcome: JudgingOutcome
    options_by_dimension: Mapping[int, ChosenOption] = field(default_factory=dict)


def classify(answer: Answer, *, questions: Sequence[Question]) -> Outcome:
    """Classify an answer to these questions.

    An answer is a judgment only if it is a single JSON document that fits the schema, with one option for each
    question. The gateway has already asked up to five times for this, so no attempt is made to extract judgments from
    other text.
    """
    if answer.refusal is not None or answer.finish_reason == writing_outcomes.FILTERED:
        return Outcome(JudgingOutcome.REFUSED)
    if not answer.fault:
        return Outcome(JudgingOutcome.JUDGED, _chosen_options(answer, questions))
    if answer.fault != Fault.INVALID:
        return Outcome(JudgingOutcome.FAILED)
    if answer.is_cut:
        return Outcome(JudgingOutcome.CUT)
    text = writing_outcomes.clean(answer.text or "")
    if not text:
        return Outcome(JudgingOutcome.EMPTY)
    if writing_outcomes.is_refusal(text, statements.parse(text, passages=0)):
        return Outcome(JudgingOutcome.REFUSED)
    return Outcome(JudgingOutcome.INVALID)


def _chosen_options(answer: Answer, questions: Sequence[Question]) -> dict[int, ChosenOption]:
    options = {}
    for number, question in enumerate(questions, start=1):
        text = answer.data[prompts.key_of(number)]
        option, why = (text["answer"], text["justification"]) if isinstance(text, dict) else (text, "")
        options[question.pk] = ChosenOption(prompts.options_of(question)[option], writing_outcomes.clean(why))
    return options


# Plain SQL, because creating several model instances per answer would take longer than everything else.
JUDGMENTS = """
    INSERT INTO annotation_judgment (assignment_id, item_id, dimension_id, value, repeat, justification, judged_at,
        revision, external_id)
    SELECT g.assignment, g.item, g.dimension, g.value, g.repeat, g.justification, %s, 1, ''
    FROM jsonb_to_recordset(%s::jsonb) AS g(assignment bigint, item bigint, dimension bigint, value smallint,
        repeat smallint, justification text)
    ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True)
class CallResult:
    """The result of one request to a model; `dimension` is None if all were asked at once."""

    item: int
    dimension: int | None
    repeat: int
    call: int
    outcome: Outcome
    is_own: bool = False


def assignments(*, items: Sequence[int], participant: Participant) -> dict[int, int]:
    """Return a model's assignment for each item."""
    rows = Assignment.objects.filter(participant=participant, questionnaire__entries__item__in=items)
    return dict(rows.values_list("questionnaire__entries__item", "pk"))


@transaction.atomic
def store_results(
    *, run: Run, participant: Participant, assignment_of: Mapping[int, int], came: Sequence[CallResult], now: datetime
) -> None:
    """Store answers and judgments.

    Existing judgments stay: a concurrent run with the same requests, or an earlier attempt at this work, stored the
    same. An unusable answer is replaced by a later one.
    """
    _keep_answers(run, participant, came, now)
    _keep_judgments(assignment_of, came, now)


def _keep_judgments(assignment_of: Mapping[int, int], came: Sequence[CallResult], now: datetime) -> None:
    rows = [
        {
            "assignment": assignment_of[one.item],
            "item": one.item,
            "dimension": dimension,
            "value": option.value,
            "repeat": one.repeat,
            "justification": option.justification,
        }
        for one in came
        for dimension, option in one.outcome.options_by_dimension.items()
    ]
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(JUDGMENTS, [now, json.dumps(rows)])


def _keep_answers(run: Run, participant: Participant, came: Sequence[CallResult], now: datetime) -> None:
    calls = [one.call for one in came]
    digests = dict(Call.objects.filter(pk__in=calls).values_list("pk", "digest"))
    attempts = dict(Attempt.objects.filter(call__in=calls).values_list("call").annotate(n=Count("pk")).order_by())
    rows = [
        JudgingAnswer(
            run=run,
            participant=participant,
            item_id=one.item,
            dimension_id=one.dimension,
            repeat=one.repeat,
            outcome=one.outcome.outcome,
            attempts=attempts.get(one.call, 1),
            digest=digests[one.call],
            is_own=one.is_own,
            answered_at=now,
        )
        for one in came
    ]
    JudgingAnswer.objects.bulk_create(rows, ignore_conflicts=True)
    _replace(rows, participant)


def _replace(rows: Sequence[JudgingAnswer], participant: Participant) -> None:
    """Update the answers to questions whose last answer was unusable."""
    items = {row.item_id for row in rows}
    before = {
        (row.item_id, row.dimension_id, row.repeat): row
        for row in JudgingAnswer.objects.select_for_update()
        .filter(participant=participant, item__in=items)
        .exclude(outcome=JudgingOutcome.JUDGED)
        .order_by("pk")
    }
    for row in rows:
        known = before.get((row.item_id, row.dimension_id, row.repeat))
        if known is not None and (known.outcome, known.digest, known.run_id) != (row.outcome, row.digest, row.run_id):
            row.pk = known.pk
            row.save(force_update=True)
