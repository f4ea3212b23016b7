"""A topic's ranked passages."""

import pgtrigger
from django.db import models

from .passage import Passage
from .topic import Topic


class RetrievedPassage(models.Model):
    """A passage retrieved for a topic: rank from 0, as citation markers count."""

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="retrieved")
    passage = models.ForeignKey(Passage, models.PROTECT, related_name="retrieved")
    rank = models.PositiveIntegerField()
    score = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["topic", "rank"], name="retrieved_rank_once_per_topic"),
            models.UniqueConstraint(fields=["topic", "passage"], name="retrieved_passage_once_per_topic"),
        ]
        triggers = [
            pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update),
            pgtrigger.Trigger(
                name="same_study",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                declare=[("ok", "boolean")],
                func="""
                    SELECT t.study_id = p.study_id INTO ok FROM writing_topic t, writing_passage p
                        WHERE t.id = NEW.topic_id AND p.id = NEW.passage_id;
                    IF NOT ok THEN
                        RAISE EXCEPTION 'retrieved_passage_same_study: topic and passage are of two studies'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
        ]
