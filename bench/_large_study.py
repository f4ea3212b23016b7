"""A made-up study with very many judgments, written to the database by few statements.

Most judgments are of a campaign that is running, the others of an imported one. There is nothing to read in it, but as
many rows of each kind as people would have made: slots, payments, times, transitions, live figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.models import Campaign, Item
    from crowdrag.studies.models import Study, User

# As in the paper: 15 pairs with seven questions each, but ten judges per pair.
ITEMS, QUESTIONS, PEOPLE = 15, 7, 10
#: Judges per questionnaire that the running campaign asks for, and how many questionnaires a judge has had.
ASKED, EACH = 12, 5
#: One in so many judgments is of the imported campaign.
IMPORTED = 10
#: A study has only a few styles (each is a row of progress and an option of every filter), members and webhooks.
FEW = {"api_plan_styles": 20, "api_members": 50, "api_webhooks": 20}

_ASSIGNMENTS = f"""
    INSERT INTO annotation_assignment
        (questionnaire_id, participant_id, external_id, state, is_included, assigned_at, submitted_at, seconds,
         active_seconds, pay, lease_until, comment, session)
    SELECT q.id, (%(people)s::bigint[])[1 + (n * {EACH} + place * 131) %% cardinality(%(people)s::bigint[])],
        %(name)s || '-' || n || '-' || place, s.state, true, s.at - interval '15 minutes',
        CASE s.state WHEN 'ASSIGNED' THEN NULL ELSE s.at END,
        CASE s.state WHEN 'ASSIGNED' THEN NULL ELSE 600 + (n * 37 + place * 11) %% 900 END,
        CASE s.state WHEN 'ASSIGNED' THEN NULL ELSE 500 + (n * 31 + place * 7) %% 700 END,
        200, CASE s.state WHEN 'ASSIGNED' THEN now() + interval '1 hour' END, '', ''
    FROM (
        SELECT id, row_number() OVER (ORDER BY id) AS n, count(*) OVER () AS last
        FROM annotation_questionnaire WHERE campaign_id = %(campaign)s
    ) q CROSS JOIN generate_series(0, {PEOPLE} - 1) AS place CROSS JOIN LATERAL (
        SELECT now() - interval '1 minute' * (last - n) AS at, CASE
            WHEN %(runs)s AND n > last - 20 AND place > 4 THEN 'ASSIGNED'
            WHEN %(runs)s AND n > last - 50 THEN 'SUBMITTED' ELSE 'ACCEPTED' END AS state
    ) s
"""

_JUDGMENTS = """
    INSERT INTO annotation_judgment
        (assignment_id, item_id, dimension_id, value, repeat, justification, judged_at, revision, external_id)
    SELECT a.id, e.item_id, d.dimension_id, (a.id + e.item_id + d.dimension_id) %% 3 - 1, 0, 'Why, in some words.',
        a.assigned_at, 1, ''
    FROM annotation_assignment a
    JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    JOIN annotation_questionnaireitem e ON e.questionnaire_id = q.id
    JOIN annotation_campaigndimension d ON d.campaign_id = q.campaign_id
    WHERE q.campaign_id = %(campaign)s
"""

# What the triggers would have kept (annotation/judging/models.py).
_SUM = """
    INSERT INTO annotation_judgmentsums
        (assignment_id, campaign_id, state, is_included, stored, judgments, id_sum, answer_sum)
    SELECT a.id, q.campaign_id, a.state, a.is_included, count(j.id), count(j.id), sum(j.id), sum(j.id * j.value)
    FROM annotation_judgment j JOIN annotation_assignment a ON a.id = j.assignment_id
    JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    WHERE q.campaign_id = %(campaign)s AND a.state <> 'ASSIGNED' GROUP BY a.id, q.campaign_id
"""

_OF_WORK = (
    """
    INSERT INTO annotation_slot (campaign_id, questionnaire_id, number, rank, holder_id)
    SELECT %(campaign)s, q.id, number, q.position::bigint * 1000 + number, a.id
    FROM annotation_questionnaire q CROSS JOIN generate_series(0, %(k)s - 1) AS number
    LEFT JOIN (
        SELECT id, questionnaire_id, row_number() OVER (PARTITION BY questionnaire_id ORDER BY id) - 1 AS place
        FROM annotation_assignment
    ) a ON a.questionnaire_id = q.id AND a.place = number
    WHERE q.campaign_id = %(campaign)s
    """,
    """
    INSERT INTO annotation_assignmenttransition (assignment_id, before, after, cause, note, at)
    SELECT a.id, step.before, step.after, step.cause, '', a.assigned_at + step.later
    FROM annotation_assignment a JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    CROSS JOIN (VALUES ('', 'ASSIGNED', 'claimed', interval '0'),
        ('ASSIGNED', 'SUBMITTED', 'handed in', interval '15 minutes'),
        ('SUBMITTED', 'ACCEPTED', 'accepted', interval '1 hour')) AS step (before, after, cause, later)
    WHERE q.campaign_id = %(campaign)s
        AND (step.after = 'ASSIGNED' OR a.state <> 'ASSIGNED') AND (step.after <> 'ACCEPTED' OR a.state = 'ACCEPTED')
    """,
    """
    INSERT INTO annotation_assignmentpayment (assignment_id, amount, reason, at)
    SELECT a.id, a.pay, 'accepted', a.submitted_at
    FROM annotation_assignment a JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    WHERE q.campaign_id = %(campaign)s AND a.state = 'ACCEPTED'
    """,
    """
    INSERT INTO annotation_itemtime (assignment_id, item_id, visit, active_seconds, away_seconds, looks, leaves,
        changes, first_at, last_at)
    SELECT a.id, e.item_id, 'first', 30 + e.position, 1, 1, 0, 0, a.assigned_at, a.assigned_at + interval '1 minute'
    FROM annotation_assignment a JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    JOIN annotation_questionnaireitem e ON e.questionnaire_id = q.id
    WHERE q.campaign_id = %(campaign)s
    """,
    """
    INSERT INTO studies_arrival (link_id, participant_id, platform_study, session, arrived_at, last_at)
    SELECT %(link)s, p, '', '', now(), now() FROM unnest(%(people)s::bigint[]) p
    """,
    """
    INSERT INTO studies_consent (participant_id, text_id, given_at, releases_text, releases_log, releases_timing)
    SELECT p, %(text)s, now(), true, true, true FROM unnest(%(people)s::bigint[]) p
    """,
    f"""
    INSERT INTO annotation_liveagreement
        (campaign_id, dimension_id, alpha, low, high, items, judgments, computed_at)
    SELECT %(campaign)s, d.dimension_id, 0.2, 0.1, 0.3, 1, (
        SELECT sum(judgments) FROM annotation_judgmentsums s
        WHERE s.campaign_id = %(campaign)s AND s.state IN ('SUBMITTED', 'ACCEPTED')) / {QUESTIONS}, now()
    FROM annotation_campaigndimension d WHERE d.campaign_id = %(campaign)s
    """,
    """
    INSERT INTO annotation_livecompetence
        (campaign_id, participant_id, dimension_id, spam_probability, low, high, judgments, computed_at)
    SELECT %(campaign)s, p, d.dimension_id, (p %% 97) / 100.0, NULL, NULL, 75, now()
    FROM unnest(%(people)s::bigint[]) p, annotation_campaigndimension d WHERE d.campaign_id = %(campaign)s
    """,
)


@dataclass(frozen=True)
class LargeStudy:
    """A study with its owner and its two campaigns; `parts` are what else the addresses of its lists name."""

    study: Study
    owner: User
    running: Campaign
    imported: Campaign
    parts: dict[str, dict[str, Any]]


def create(judgments: int, others: int) -> LargeStudy:
    """Create a study with so many judgments, and so many of every other row that a list of the API shows."""
    from django.db import connection

    from analysis.tables.run_tables import ANALYSIS
    from crowdrag.jobs.enums import RunState
    from crowdrag.jobs.models import Run
    from crowdrag.studies.enums import Role
    from tests.api.rows import ROWS
    from tests.factories import MembershipFactory, StudyFactory

    study = StudyFactory(slug="million")
    owner = MembershipFactory(study=study, role=Role.OWNER).user
    parts = {name: make(study, FEW.get(name, others)) for name, make in ROWS.items()}
    # The made-up runs have no results for the overview to show.
    Run.objects.filter(study=study, kind=ANALYSIS, snapshot=None).update(state=RunState.CANCELLED)
    imported = _campaign(study, "imported", judgments // IMPORTED, runs=False)
    running = _campaign(study, "running", judgments - judgments // IMPORTED, runs=True)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return LargeStudy(study, owner, running, imported, parts)


def _campaign(study: Study, name: str, judgments: int, *, runs: bool) -> Campaign:
    from annotation.models import Questionnaire, QuestionnaireItem
    from tests.factories import NOW, CampaignDimensionFactory, CampaignFactory, DimensionFactory

    campaign: Campaign = CampaignFactory(study=study, name=name, k=ASKED)
    for n in range(QUESTIONS):
        dimension = DimensionFactory(study=study, name=f"{name}-question-{n}")
        CampaignDimensionFactory(campaign=campaign, dimension=dimension, position=n)
    count = -(-judgments // (ITEMS * QUESTIONS * PEOPLE))
    items = _items(campaign, count * ITEMS)
    sheets = Questionnaire.objects.bulk_create(
        [Questionnaire(campaign=campaign, external_id=f"q{n}", created_at=NOW, position=n) for n in range(count)],
        batch_size=5000,
    )
    QuestionnaireItem.objects.bulk_create(
        (
            QuestionnaireItem(questionnaire=sheet, item=items[(n * ITEMS + place) % len(items)], position=place)
            for n, sheet in enumerate(sheets)
            for place in range(ITEMS)
        ),
        batch_size=5000,
    )
    _work(campaign, runs=runs)
    return campaign


def _items(campaign: Campaign, count: int) -> list[Item]:
    """Create at most so many items, of pairs that no other campaign has."""
    from annotation.models import Item, Pair
    from writing.models import Response

    study = campaign.study
    taken = set(Pair.objects.filter(study=study).values_list("a", "b"))
    texts = list(Response.objects.filter(study=study).order_by("topic", "pk")[:1000])
    near = [(a, b) for place, a in enumerate(texts) for b in texts[place + 1 : place + 80] if a.topic_id == b.topic_id]
    free = [(a, b) for a, b in near if (a.pk, b.pk) not in taken][:count]
    pairs = Pair.objects.bulk_create((Pair(study=study, a=a, b=b) for a, b in free), batch_size=5000)
    made = (Item(campaign=campaign, pair=pair, topic_id=pair.a.topic_id) for pair in pairs)
    return list(Item.objects.bulk_create(made, batch_size=5000))


def _work(campaign: Campaign, *, runs: bool) -> None:
    """Create the judges of a campaign, their work, and what is kept about it."""
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation.judging import claims
    from crowdrag.studies.enums import EntryKind, ParticipantKind
    from crowdrag.studies.models import EntryLink, Participant
    from tests.factories import NOW, ConsentTextFactory, InstructionsFactory

    study = campaign.study
    people = Participant.objects.bulk_create(
        [
            Participant(study=study, external_id=f"{campaign.name}-{n}", kind=ParticipantKind.CROWD, created_at=NOW)
            for n in range(max(campaign.questionnaires.count() * PEOPLE // EACH, PEOPLE))
        ],
        batch_size=5000,
    )
    values = {
        "campaign": campaign.pk, "runs": runs, "name": campaign.name, "people": [one.pk for one in people], "k": ASKED,
    }  # fmt: skip
    if runs:
        campaign.consent_text, campaign.instructions = ConsentTextFactory(study=study), InstructionsFactory(study=study)
        campaign.has_slots, campaign.opened_at, campaign.pay = True, timezone.now() - timedelta(days=7), 200
        campaign.wage_floor, campaign.questionnaires_per_person = 700, EACH + 1
        campaign.save()
        link = EntryLink.objects.create(
            study=study, purpose=claims.purpose(campaign), kind=EntryKind.OPEN, token="open", token_hash=b"0" * 32,
            created_at=NOW,
        )  # fmt: skip
        values |= {"link": link.pk, "text": campaign.consent_text.pk}
    with transaction.atomic(), connection.cursor() as cursor:
        # The rows satisfy triggers and keys by construction; checking each would take most of the time.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_ASSIGNMENTS, values)
        cursor.execute(_JUDGMENTS, values)
        cursor.execute(_SUM, values)
        for statement in _OF_WORK if runs else ():
            cursor.execute(statement, values)
