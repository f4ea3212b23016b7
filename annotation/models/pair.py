"""Two responses to one topic, in the order in which they are shown."""

import pgtrigger
from django.db import models

from crowdrag.studies.models import Study
from writing.models import Response


class Pair(models.Model):
    """A presented pair: `a` left, `b` right. The reverse order is another pair."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="pairs")
    a = models.ForeignKey(Response, models.PROTECT, related_name="pairs_as_a")
    b = models.ForeignKey(Response, models.PROTECT, related_name="pairs_as_b")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["a", "b"], name="pair_once_per_order"),
            models.CheckConstraint(condition=~models.Q(a=models.F("b")), name="pair_of_two_responses"),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="one_topic",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update,
                declare=[("ok", "boolean")],
                func="""
                    SELECT a.topic_id = b.topic_id AND a.study_id = NEW.study_id AND b.study_id = NEW.study_id INTO ok
                        FROM writing_response a, writing_response b WHERE a.id = NEW.a_id AND b.id = NEW.b_id;
                    IF NOT ok THEN
                        RAISE EXCEPTION 'pair_of_one_topic: both responses must answer the same topic of the same study'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]
