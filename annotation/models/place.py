"""Places: as many people as asked judge each questionnaire, never more."""

import pgtrigger
from django.db import models

from .assignment import Assignment
from .campaign import Campaign
from .questionnaire import Questionnaire


class PlaceQuerySet(models.QuerySet["Place"]):
    """What can be said of places."""

    def open(self) -> "PlaceQuerySet":
        """Keep those that nobody holds."""
        return self.filter(holder__isnull=True)


class Place(models.Model):
    """One of the k judgments that a questionnaire is to get; free, or held by one assignment.

    What is judged k times has k rows here, so that k + 1 cannot be held, whoever claims at the same moment. An
    assignment holds a place while it is assigned, submitted or accepted; it is given back in every other state.
    """

    # The questionnaire's campaign: free places are found by one index, however many there are.
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="places")
    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="places")
    number = models.PositiveSmallIntegerField()
    # Free places are taken in this order.
    rank = models.BigIntegerField()
    holder = models.OneToOneField(Assignment, models.PROTECT, null=True, blank=True, related_name="place")

    objects = PlaceQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["questionnaire", "number"], name="place_number_once")]
        indexes = [
            models.Index(fields=["campaign", "rank", "id"], condition=models.Q(holder__isnull=True), name="place_free")
        ]
        triggers = [
            pgtrigger.Trigger(
                name="of_its_questionnaires_campaign",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("campaign_id", "questionnaire_id"),  # type: ignore[no-untyped-call]
                declare=[("ok", "boolean")],
                func="""
                    SELECT q.campaign_id = NEW.campaign_id AND c.has_places INTO ok FROM annotation_questionnaire q
                        JOIN annotation_campaign c ON c.id = q.campaign_id WHERE q.id = NEW.questionnaire_id;
                    IF NOT ok THEN
                        RAISE EXCEPTION 'place_of_its_questionnaires_campaign: another campaign, or one without places'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="who_may_hold_it",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("holder_id"),  # type: ignore[no-untyped-call]
                declare=[("mine", "annotation_assignment%ROWTYPE")],
                func="""
                    IF NEW.holder_id IS NULL THEN
                        RETURN NEW;
                    END IF;
                    IF TG_OP = 'UPDATE' AND OLD.holder_id IS NOT NULL AND OLD.holder_id <> NEW.holder_id THEN
                        RAISE EXCEPTION 'place_is_free_first: place % is held', NEW.id
                            USING ERRCODE = 'check_violation';
                    END IF;
                    SELECT * INTO mine FROM annotation_assignment WHERE id = NEW.holder_id;
                    IF mine.questionnaire_id <> NEW.questionnaire_id THEN
                        RAISE EXCEPTION 'place_of_the_same_questionnaire: the assignment is to another questionnaire'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM annotation_questionnaireitem e
                        JOIN annotation_questionnaireitem f ON f.item_id = e.item_id
                            AND f.questionnaire_id <> e.questionnaire_id
                        JOIN annotation_assignment o ON o.questionnaire_id = f.questionnaire_id
                            AND o.participant_id = mine.participant_id
                        WHERE e.questionnaire_id = NEW.questionnaire_id
                    ) THEN
                        RAISE EXCEPTION 'place_nobody_twice_on_an_item: this person was given one of its items before'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM annotation_questionnaireitem e JOIN annotation_item i ON i.id = e.item_id
                        LEFT JOIN annotation_pair p ON p.id = i.pair_id
                        JOIN writing_response r ON r.id IN (i.response_id, p.a_id, p.b_id)
                        WHERE e.questionnaire_id = NEW.questionnaire_id AND r.participant_id = mine.participant_id
                    ) THEN
                        RAISE EXCEPTION 'place_nobody_judges_an_own_response: this person wrote one of the responses'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
            # Looked at when the transaction commits: who lost the place has left the states that need one.
            pgtrigger.Trigger(
                name="held_by_who_needs_it",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("holder_id"),  # type: ignore[no-untyped-call]
                timing=pgtrigger.Deferred,
                func="""
                    IF TG_OP = 'INSERT' AND NEW.holder_id IS NULL THEN
                        RETURN NULL;
                    END IF;
                    PERFORM 1 FROM annotation_assignment a
                        JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
                        JOIN annotation_campaign c ON c.id = q.campaign_id
                        WHERE c.has_places
                        AND a.id IN (NEW.holder_id, OLD.holder_id)
                        AND (a.state IN ('ASSIGNED', 'SUBMITTED', 'ACCEPTED'))
                            <> EXISTS (SELECT 1 FROM annotation_place p WHERE p.holder_id = a.id);
                    IF FOUND THEN
                        RAISE EXCEPTION 'place_held_by_who_needs_it: place % and its holder do not go together', NEW.id
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NULL;
                """,
            ),
        ]
