"""Reading a study's judgments from the columns that runs keep, against reading all rows, after 1,000 new judgments.

A separate database. Environment variable: CROWDRAG_BENCH_JUDGMENTS, the number of judgments (1,000,000). They are made
by SQL: questionnaires of 13 pairs with seven questions, five judges each, as in the paper.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from bench._study import peak
from bench._system import system

if TYPE_CHECKING:
    from annotation.models import Campaign
    from crowdrag.studies.models import Study

JUDGMENTS = int(os.environ.get("CROWDRAG_BENCH_JUDGMENTS", "1000000"))
ITEMS, QUESTIONS, PEOPLE, RESPONSES, PAIRS = 13, 7, 5, 6, 15
#: Questionnaires that come in later: as many as 1,000 judgments need.
NEW = -(-1000 // (ITEMS * QUESTIONS))
FASTER, SECONDS = 5, 10
_JUDGE = """
    INSERT INTO annotation_judgment
        (assignment_id, item_id, dimension_id, value, repeat, justification, judged_at, revision, external_id)
    SELECT a.id, e.item_id, d.dimension_id, (a.id + e.item_id + d.dimension_id) %% 3 - 1, 0, '', now(), 1, ''
    FROM annotation_assignment a
    JOIN annotation_questionnaireitem e ON e.questionnaire_id = a.questionnaire_id
    JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    JOIN annotation_campaigndimension d ON d.campaign_id = q.campaign_id
    WHERE q.campaign_id = %s AND NOT EXISTS (SELECT FROM annotation_judgment j WHERE j.assignment_id = a.id)
"""
# The sums of the new assignments are those from before their judgments: they are made again.
_FORGET = """
    DELETE FROM annotation_judgmentsums s USING annotation_assignment a
    WHERE s.assignment_id = a.id AND a.questionnaire_id >= %s
"""
_SUM = "UPDATE annotation_assignment SET is_included = is_included WHERE questionnaire_id >= %s"


def run() -> Iterator[dict]:
    """Measure once in a separate folder."""
    with system():
        yield from _measured()


def _measured() -> Iterator[dict]:
    from analysis.inputs import judgment_columns, queries
    from analysis.inputs.snapshots import one_moment
    from analysis.models import JudgmentPart

    study, campaign, questionnaires = _study()
    campaigns = [campaign.pk]

    def read() -> judgment_columns.Renewal:
        with one_moment():
            judgments, renewal = judgment_columns.load(study, campaigns)
        assert len(judgments.row) > 0
        judgment_columns.keep(study, renewal)
        return renewal

    first = _seconds(read)
    parts = list(JudgmentPart.objects.filter(study=study).values_list("payload", flat=True))
    stored = sum(len(payload) for payload in parts)
    _answer(study, campaign, questionnaires[-NEW:])
    after_new = _seconds(read)
    whole = _seconds(lambda: queries.load(study))
    detail = f"{JUDGMENTS:,} judgments, load {os.getloadavg()[0]:.1f}"
    yield {
        "name": f"judgments from kept columns after {NEW * ITEMS * QUESTIONS:,} new ones: times faster than all rows",
        "ratio": first / after_new,
        "target": FASTER,
        "detail": f"{first:.1f} s and {after_new:.2f} s; {stored / JUDGMENTS:.2f} bytes a judgment; {detail}",
    }
    yield {
        "name": f"all inputs of an analysis, judgments kept: {SECONDS} s over the time taken",
        "ratio": SECONDS / whole,
        "target": 1,
        "detail": f"{whole:.1f} s; peak of the process, making the study included, {peak() / 2**20:.0f} MB; {detail}",
    }


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _study() -> tuple[Study, Campaign, list[Any]]:
    """Create the study with all judgments but those of the last questionnaires, which nobody was given yet."""
    from annotation.models import Item, Pair, Questionnaire, QuestionnaireItem
    from tests.factories import (
        NOW,
        CampaignDimensionFactory,
        CampaignFactory,
        DimensionFactory,
        ParticipantFactory,
        ResponseFactory,
        StudyFactory,
        StyleFactory,
        TopicFactory,
    )
    from writing.models import Response, Topic

    study = StudyFactory(slug="columns")
    campaign = CampaignFactory(study=study)
    for n in range(QUESTIONS):
        CampaignDimensionFactory(campaign=campaign, dimension=DimensionFactory(study=study, name=f"question-{n}"))
    count = -(-JUDGMENTS // (ITEMS * QUESTIONS * PEOPLE)) + NEW
    topics = Topic.objects.bulk_create(
        TopicFactory.build(study=study, external_id=f"t{n}") for n in range(-(-count * ITEMS // PAIRS))
    )
    about = {"study": study, "style": StyleFactory(study=study), "participant": ParticipantFactory(study=study)}
    responses = Response.objects.bulk_create(
        (ResponseFactory.build(topic=topic, external_id=f"{topic.external_id}-{n}", **about)
         for topic in topics for n in range(RESPONSES)), batch_size=2000,
    )  # fmt: skip
    sides = [(a, b) for a in range(RESPONSES) for b in range(a + 1, RESPONSES)]
    pairs = Pair.objects.bulk_create(
        (Pair(study=study, a=responses[RESPONSES * topic + a], b=responses[RESPONSES * topic + b])
         for topic in range(len(topics)) for a, b in sides), batch_size=5000,
    )  # fmt: skip
    items = Item.objects.bulk_create(
        (Item(campaign=campaign, pair=pair, topic_id=pair.a.topic_id) for pair in pairs), batch_size=5000
    )
    questionnaires = Questionnaire.objects.bulk_create(
        Questionnaire(campaign=campaign, external_id=f"q{n}", created_at=NOW, position=n) for n in range(count)
    )
    QuestionnaireItem.objects.bulk_create(
        (QuestionnaireItem(questionnaire=one, item=items[n * ITEMS + place], position=place)
         for n, one in enumerate(questionnaires) for place in range(ITEMS)), batch_size=5000,
    )  # fmt: skip
    _answer(study, campaign, questionnaires[:-NEW])
    return study, campaign, questionnaires


def _answer(study: Study, campaign: Campaign, questionnaires: list[Any]) -> None:
    """Let five new people answer each questionnaire."""
    from django.db import connection, transaction

    from annotation.enums import AssignmentState
    from annotation.models import Assignment
    from crowdrag.studies.enums import ParticipantKind
    from crowdrag.studies.models import Participant
    from tests.factories import NOW

    people = Participant.objects.bulk_create(
        Participant(study=study, external_id=f"judge-{one.pk}-{n}", kind=ParticipantKind.CROWD, created_at=NOW)
        for one in questionnaires
        for n in range(PEOPLE)
    )
    Assignment.objects.bulk_create(
        Assignment(
            questionnaire=questionnaires[place // PEOPLE], participant=person, external_id=f"a-{person.external_id}",
            state=AssignmentState.ACCEPTED, submitted_at=NOW, seconds=600.0,
        )
        for place, person in enumerate(people)
    )  # fmt: skip
    with transaction.atomic(), connection.cursor() as cursor:
        # The inserted rows satisfy the triggers by construction; checking each would take most of the time.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_JUDGE, [campaign.pk])
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute(_FORGET, [questionnaires[0].pk])
        cursor.execute(_SUM, [questionnaires[0].pk])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
