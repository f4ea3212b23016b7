"""Triggers of judgments that look at all rows of a statement at once: an import inserts thousands.

They refuse judgments that nobody may add, and keep `JudgmentSums`. Triggers for single changed rows are with the model.
"""

from typing import Any, Final

import pgtrigger

_ADDED: Final = "SELECT 1 AS sign, assignment_id, id, value, repeat FROM added"
_REMOVED: Final = "SELECT -1 AS sign, assignment_id, id, value, repeat FROM removed"


def _sum_trigger(operation: Any, changed: str, **rows: str) -> pgtrigger.Trigger:
    """Return a trigger that adds to the sums what a statement changed: a query for rows with their sign."""
    return pgtrigger.Trigger(
        name=f"summed_after_{str(operation).lower()}",
        when=pgtrigger.After,
        operation=operation,
        level=pgtrigger.Statement,
        referencing=pgtrigger.Referencing(**rows),  # type: ignore[no-untyped-call]
        func=f"""
            UPDATE annotation_judgmentsums s SET
                stored = s.stored + d.stored, judgments = s.judgments + d.judgments, id_sum = s.id_sum + d.id_sum,
                answer_sum = s.answer_sum + d.answer_sum
                FROM (
                    SELECT j.assignment_id, sum(sign) AS stored,
                        coalesce(sum(sign) FILTER (WHERE repeat = 0), 0) AS judgments,
                        coalesce(sum(sign * id) FILTER (WHERE repeat = 0), 0) AS id_sum,
                        coalesce(sum(sign * id * value) FILTER (WHERE repeat = 0), 0) AS answer_sum
                        FROM ({changed}) j GROUP BY j.assignment_id
                ) d
                WHERE s.assignment_id = d.assignment_id;
            RETURN NULL;
        """,  # noqa: S608 -- nothing in it comes from outside
    )


def _insert_trigger(name: str, query: str, message: str, argument: str = "") -> pgtrigger.Trigger:
    """Return a trigger that refuses inserted rows for which a query finds something.

    It looks at all rows of a statement at once: an import inserts thousands.
    """
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.After,
        operation=pgtrigger.Insert,
        level=pgtrigger.Statement,
        referencing=pgtrigger.Referencing(new="added"),  # type: ignore[no-untyped-call]
        declare=[("wrong", "record")],
        func=f"""
            {query} LIMIT 1;
            IF FOUND THEN
                RAISE EXCEPTION '{message}'{argument} USING ERRCODE = 'check_violation';
            END IF;
            RETURN NULL;
        """,
    )


_INSERT_TRIGGERS: Final = (
    _insert_trigger(
        "never_added_once_submitted",
        """
            SELECT a.id INTO wrong FROM (SELECT DISTINCT assignment_id FROM added) j
                JOIN annotation_assignment a ON a.id = j.assignment_id
                JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
                JOIN annotation_campaign c ON c.id = q.campaign_id
                WHERE c.has_slots AND a.state IN ('SUBMITTED', 'ACCEPTED', 'REJECTED', 'SURPLUS', 'WITHDRAWN')
        """,
        "judgment_never_changed_once_submitted: the questionnaire was handed in",
    ),
    _insert_trigger(
        "added_values_are_options",
        """
            SELECT j.value INTO wrong FROM (SELECT DISTINCT dimension_id, value FROM added) j
                JOIN annotation_dimension d ON d.id = j.dimension_id
                WHERE NOT d.options @> jsonb_build_array(jsonb_build_object('value', j.value))
        """,
        "judgment_value_is_an_option: % is no option of this dimension",
        ", wrong.value",
    ),
    _insert_trigger(
        "added_items_were_asked",
        """
            SELECT j.item_id INTO wrong FROM (SELECT DISTINCT assignment_id, item_id FROM added) j
                JOIN annotation_assignment a ON a.id = j.assignment_id
                WHERE NOT EXISTS (
                    SELECT FROM annotation_questionnaireitem e
                        WHERE e.questionnaire_id = a.questionnaire_id AND e.item_id = j.item_id)
        """,
        "judgment_item_was_asked: the questionnaire does not hold the item",
    ),
)

TRIGGERS: Final = (
    *_INSERT_TRIGGERS,
    _sum_trigger(pgtrigger.Insert, _ADDED, new="added"),
    _sum_trigger(pgtrigger.Update, f"{_ADDED} UNION ALL {_REMOVED}", new="added", old="removed"),
    _sum_trigger(pgtrigger.Delete, _REMOVED, old="removed"),
)
