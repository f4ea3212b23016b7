"""One participant's answer to one dimension of one item."""

from typing import Any, Final

import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study

from ..enums import AssignmentState, Judges
from .assignment import Assignment
from .dimension import Dimension
from .item import Item

COUNTED: Final[dict[str, Any]] = {
    "assignment__state": AssignmentState.ACCEPTED,
    "assignment__is_included": True,
    "repeat": 0,
}


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    """What can be said of judgments. Every analysis names its pool."""

    def of_study(self, study: Study) -> "JudgmentQuerySet":
        """Keep those of one study."""
        return self.filter(item__campaign__study=study)

    def counted(self) -> "JudgmentQuerySet":
        """Keep those of accepted and included assignments, repeats left out."""
        return self.filter(**COUNTED)

    def not_counted(self) -> "JudgmentQuerySet":
        """Keep the others: a condition on their own row and assignment, so that a page of a long list is found soon."""
        return self.exclude(**COUNTED)

    def pool(self, judges: str = Judges.CROWD) -> "JudgmentQuerySet":
        """Keep those of one pool of judges that count: the crowd's by default."""
        return self.filter(item__campaign__judges=judges).counted()

    def pairwise(self) -> "JudgmentQuerySet":
        """Keep those of pairs."""
        return self.filter(item__pair__isnull=False)


class Judgment(models.Model):
    """An answer as it was given: on a pair as presented, -1 is A (left), 0 neither, 1 is B (right).

    `repeat` counts up where the same participant was asked the same again (models): 0 counts, others are kept.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="judgments")
    item = models.ForeignKey(Item, models.PROTECT, related_name="judgments")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="judgments")
    value = models.SmallIntegerField(_("value"))
    repeat = models.PositiveSmallIntegerField(default=0)
    justification = models.TextField(blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    # Counts up with each change of mind; of two that come out of order the older one is known by it.
    revision = models.PositiveIntegerField(default=1)
    # What the source called the answer that this judgment is part of, where it named answers.
    external_id = models.CharField(max_length=200, blank=True)

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "item", "dimension", "repeat"], name="judgment_once_per_question"
            ),
        ]
        indexes = [models.Index(fields=["item", "dimension"], name="judgment_by_item")]
        triggers = [
            pgtrigger.Trigger(
                name="never_changed_once_submitted",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("value"),  # type: ignore[no-untyped-call]
                declare=[("over", "boolean")],
                func="""
                    SELECT c.has_places AND a.state IN ('SUBMITTED', 'ACCEPTED', 'REJECTED', 'SURPLUS', 'WITHDRAWN')
                        INTO over FROM annotation_assignment a
                        JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
                        JOIN annotation_campaign c ON c.id = q.campaign_id WHERE a.id = NEW.assignment_id;
                    IF over THEN
                        RAISE EXCEPTION 'judgment_never_changed_once_submitted: the questionnaire was handed in'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="value_is_an_option",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("value", "dimension_id"),  # type: ignore[no-untyped-call]
                declare=[("ok", "boolean")],
                func="""
                    SELECT d.options @> jsonb_build_array(jsonb_build_object('value', NEW.value)) INTO ok
                        FROM annotation_dimension d WHERE d.id = NEW.dimension_id;
                    IF NOT ok THEN
                        RAISE EXCEPTION 'judgment_value_is_an_option: % is no option of this dimension', NEW.value
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="item_was_asked",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("item_id", "assignment_id"),  # type: ignore[no-untyped-call]
                declare=[("ok", "boolean")],
                func="""
                    SELECT EXISTS (
                        SELECT 1 FROM annotation_assignment a JOIN annotation_questionnaireitem e
                            ON e.questionnaire_id = a.questionnaire_id
                        WHERE a.id = NEW.assignment_id AND e.item_id = NEW.item_id) INTO ok;
                    IF NOT ok THEN
                        RAISE EXCEPTION 'judgment_item_was_asked: the questionnaire does not hold the item'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]
