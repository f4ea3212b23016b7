"""Eligibility: which questionnaires a participant must not judge.

The database refuses such a judgment too (`who_may_hold_it` in annotation/judging/models.py).
"""

from psycopg.types.numeric import Int8

from crowdrag import prepared_statements

# Questionnaires of a campaign that a participant must not get: those that they were assigned before or that share an
# item with one of these, and those with a response that they wrote.
_EXCLUDED = """
    SELECT mine.questionnaire_id FROM annotation_assignment mine WHERE mine.participant_id = %(participant)s
    UNION
    SELECT f.questionnaire_id FROM annotation_assignment mine
        JOIN annotation_questionnaireitem e ON e.questionnaire_id = mine.questionnaire_id
        JOIN annotation_questionnaireitem f ON f.item_id = e.item_id
        WHERE mine.participant_id = %(participant)s
    UNION
    SELECT e.questionnaire_id FROM writing_response own
        JOIN annotation_item i ON i.response_id = own.id AND i.campaign_id = %(campaign)s
        JOIN annotation_questionnaireitem e ON e.item_id = i.id
        WHERE own.participant_id = %(participant)s
    UNION
    SELECT e.questionnaire_id FROM writing_response own
        JOIN annotation_pair p ON own.id IN (p.a_id, p.b_id)
        JOIN annotation_item i ON i.pair_id = p.id AND i.campaign_id = %(campaign)s
        JOIN annotation_questionnaireitem e ON e.item_id = i.id
        WHERE own.participant_id = %(participant)s
"""


def excluded_questionnaires(*, campaign: int, participant: int) -> list[int]:
    """Return the questionnaires that a participant must not get.

    Called once per claim, so that slots are compared with this list and not with everything the participant did.
    """
    with prepared_statements.cursor() as cursor:
        cursor.execute(_EXCLUDED, {"campaign": Int8(campaign), "participant": Int8(participant)})
        return [int(questionnaire) for (questionnaire,) in cursor.fetchall()]
