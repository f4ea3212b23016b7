"""Assignments, slots, judgments, and viewing times of items."""

from datetime import datetime
from typing import Any, ClassVar, Final

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from crowdrag.assignments.models import PaidWork, Payment, Transition, WorkTexts
from crowdrag.studies.models import Decision, Participant, Study

from ..campaigns.models import Campaign, Dimension, Item, Questionnaire
from ..enums import AssignmentState, Judges
from . import judgment_triggers


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    """Queries of assignments."""

    def counted(self) -> "AssignmentQuerySet":
        """Keep those whose judgments count: accepted, and included in the analysis."""
        return self.filter(state=AssignmentState.ACCEPTED, is_included=True)


# States whose names for researchers are terms that judges do not know.
_STATUS: Final = {
    AssignmentState.ASSIGNED: _("in progress"),
    AssignmentState.TIMED_OUT: _("time over"),
    AssignmentState.SURPLUS: _("extra"),
}


class Assignment(PaidWork):
    """A participant's work on one questionnaire, with its state."""

    RELATED: ClassVar[tuple[str, ...]] = ("questionnaire__campaign__study", "participant")
    TEXTS: ClassVar[WorkTexts] = WorkTexts(
        not_allowed=_("The status of this questionnaire is “%(state)s”, so you cannot do this now."),
        left_study=_("You withdrew from this study, so there is nothing more for you to judge."),
        blocked=_(
            "You cannot get more questionnaires in this study. The researchers' reason: “%(reason)s” "
            "You can ask them about it."
        ),
        nothing_left=_(
            "All questionnaires that you can do are taken at the moment. Check again later: some may become free."
        ),
        under_review=_("Another reviewer has this questionnaire open. Review the next one."),
        erased=_("The judge had this erased. It stays excluded from the analysis. You can still pay what is owed."),
        needs_reason=_("Give a reason. The judge can read it."),
    )

    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="assignments")
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="assignments")
    external_id = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=AssignmentState.choices, default=AssignmentState.ASSIGNED)
    is_included = models.BooleanField(default=True)
    assigned_at = models.DateTimeField(null=True, blank=True)
    comment = models.TextField("comment", blank=True)
    # The submission id of the recruitment platform.
    session = models.CharField(max_length=200, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["questionnaire", "participant"], name="assignment_nobody_twice_on_a_questionnaire"
            ),
            models.CheckConstraint(condition=models.Q(state__in=AssignmentState.values), name="assignment_state_known"),
            models.CheckConstraint(
                condition=models.Q(seconds__isnull=True) | models.Q(seconds__gte=0),
                name="assignment_seconds_not_negative",
            ),
        ]
        indexes = [
            models.Index(fields=["questionnaire", "state"], name="assignment_by_state"),
            models.Index(
                fields=["lease_until"],
                condition=models.Q(state=AssignmentState.ASSIGNED, lease_until__isnull=False),
                name="assignment_by_lease",
            ),
            # Every page counts them for the inbox. An assignment is in progress or awaits review for a short time.
            models.Index(
                fields=["questionnaire"],
                include=["submitted_at", "assignee"],
                condition=models.Q(state=AssignmentState.SUBMITTED),
                name="assignment_to_review",
            ),
            models.Index(
                fields=["questionnaire"],
                condition=models.Q(state=AssignmentState.ASSIGNED),
                name="assignment_in_progress",
            ),
            models.Index(fields=["session"], condition=~models.Q(session=""), name="assignment_by_session"),
            models.Index(fields=["external_id"], condition=~models.Q(external_id=""), name="assignment_by_external_id"),
        ]
        triggers = [
            # Deferred to the commit, because state and slot change one after the other.
            pgtrigger.Trigger(
                name="holds_a_slot_or_not",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("state"),  # type: ignore[no-untyped-call]
                timing=pgtrigger.Deferred,
                func="""
                    PERFORM 1 FROM annotation_assignment a
                        JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
                        JOIN annotation_campaign c ON c.id = q.campaign_id
                        WHERE a.id = NEW.id AND c.has_slots
                        AND (a.state IN ('ASSIGNED', 'SUBMITTED', 'ACCEPTED'))
                            <> EXISTS (SELECT 1 FROM annotation_slot p WHERE p.holder_id = a.id);
                    IF FOUND THEN
                        RAISE EXCEPTION 'assignment_holds_a_slot_or_not: state and slot do not go together'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NULL;
                """,
            ),
            pgtrigger.Trigger(
                name="sums_its_judgments",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("state", "is_included"),  # type: ignore[no-untyped-call]
                func="""
                    IF NEW.state = 'ASSIGNED' THEN
                        IF TG_OP = 'UPDATE' THEN
                            DELETE FROM annotation_judgmentsums WHERE assignment_id = NEW.id;
                        END IF;
                        RETURN NULL;
                    END IF;
                    UPDATE annotation_judgmentsums SET state = NEW.state, is_included = NEW.is_included
                        WHERE assignment_id = NEW.id;
                    IF FOUND THEN
                        RETURN NULL;
                    END IF;
                    INSERT INTO annotation_judgmentsums
                        (assignment_id, campaign_id, state, is_included, stored, judgments, id_sum, answer_sum)
                    SELECT NEW.id, q.campaign_id, NEW.state, NEW.is_included,
                        count(j.id), count(j.id) FILTER (WHERE j.repeat = 0),
                        coalesce(sum(j.id) FILTER (WHERE j.repeat = 0), 0),
                        coalesce(sum(j.id * j.value) FILTER (WHERE j.repeat = 0), 0)
                        FROM annotation_questionnaire q LEFT JOIN annotation_judgment j ON j.assignment_id = NEW.id
                        WHERE q.id = NEW.questionnaire_id GROUP BY q.campaign_id;
                    RETURN NULL;
                """,
            ),
        ]

    @property
    def currency(self) -> str:
        """The study's currency."""
        return self.questionnaire.campaign.study.currency

    @property
    def erased_at(self) -> datetime | None:
        """When the judge's data were erased, if they were."""
        return self.participant.erased_at


class AssignmentTransition(Transition):
    """A change of an assignment's state. The judge can read the note."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="transitions")
    before = models.CharField(max_length=10, choices=AssignmentState.choices, blank=True)
    after = models.CharField(max_length=10, choices=AssignmentState.choices)

    class Meta(Transition.Meta):
        pass


class AssignmentDecision(Decision):
    """A decision about an assignment."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="decisions")

    class Meta(Decision.Meta):
        pass


class AssignmentPayment(Payment):
    """Money that a judge is owed for an assignment."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="payments")

    class Meta(Payment.Meta):
        constraints = [
            *Payment.Meta.constraints,
            models.UniqueConstraint(fields=["assignment", "reason"], name="assignment_payment_once_per_reason"),
        ]


class SlotQuerySet(models.QuerySet["Slot"]):
    """Queries of slots."""

    def open(self) -> "SlotQuerySet":
        """Keep free slots."""
        return self.filter(holder__isnull=True)


class Slot(models.Model):
    """One of the k judgments that a questionnaire should get; free, or held by one assignment.

    A questionnaire that is judged k times has k rows, so that concurrent claims cannot hold k + 1. An assignment holds
    a slot while it is assigned, submitted or accepted, and releases it in every other state.
    """

    # The questionnaire's campaign, repeated here so that one index finds free slots.
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="slots")
    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField()
    # Free slots are assigned in this order.
    rank = models.BigIntegerField()
    holder = models.OneToOneField(Assignment, models.PROTECT, null=True, blank=True, related_name="slot")
    # Ends of its arcs on the circles of random draws (`draws.py`), from 0 to 1; NULL if the order is fixed.
    control_position = models.FloatField(null=True)
    unproven_position = models.FloatField(null=True)
    trusted_position = models.FloatField(null=True)

    objects = SlotQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["questionnaire", "number"], name="slot_number_once")]
        indexes = [
            models.Index(fields=["campaign", "rank", "id"], condition=models.Q(holder__isnull=True), name="slot_free"),
            *(
                models.Index(
                    fields=["campaign", f"{name}_position"],
                    condition=models.Q(holder__isnull=True, **{f"{name}_position__isnull": False}),
                    name=f"slot_free_{name}",
                )
                for name in ("control", "unproven", "trusted")
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="of_its_questionnaires_campaign",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("campaign_id", "questionnaire_id"),  # type: ignore[no-untyped-call]
                declare=[("ok", "boolean")],
                func="""
                    SELECT q.campaign_id = NEW.campaign_id AND c.has_slots INTO ok FROM annotation_questionnaire q
                        JOIN annotation_campaign c ON c.id = q.campaign_id WHERE q.id = NEW.questionnaire_id;
                    IF NOT ok THEN
                        RAISE EXCEPTION 'slot_of_its_questionnaires_campaign: another campaign, or one without slots'
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
                        RAISE EXCEPTION 'slot_is_free_first: slot % is held', NEW.id
                            USING ERRCODE = 'check_violation';
                    END IF;
                    SELECT * INTO mine FROM annotation_assignment WHERE id = NEW.holder_id;
                    IF mine.questionnaire_id <> NEW.questionnaire_id THEN
                        RAISE EXCEPTION 'slot_of_the_same_questionnaire: the assignment is to another questionnaire'
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
                        RAISE EXCEPTION 'slot_nobody_twice_on_an_item: this person was given one of its items before'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    IF EXISTS (
                        SELECT 1 FROM annotation_questionnaireitem e JOIN annotation_item i ON i.id = e.item_id
                        LEFT JOIN annotation_pair p ON p.id = i.pair_id
                        JOIN writing_response r ON r.id IN (i.response_id, p.a_id, p.b_id)
                        WHERE e.questionnaire_id = NEW.questionnaire_id AND r.participant_id = mine.participant_id
                    ) THEN
                        RAISE EXCEPTION 'slot_nobody_judges_an_own_response: this person wrote one of the responses'
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NEW;
                """,
            ),
            # Deferred to the commit, because the holder's state changes separately.
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
                        WHERE c.has_slots
                        AND a.id IN (NEW.holder_id, OLD.holder_id)
                        AND (a.state IN ('ASSIGNED', 'SUBMITTED', 'ACCEPTED'))
                            <> EXISTS (SELECT 1 FROM annotation_slot p WHERE p.holder_id = a.id);
                    IF FOUND THEN
                        RAISE EXCEPTION 'slot_held_by_who_needs_it: slot % and its holder do not go together', NEW.id
                            USING ERRCODE = 'check_violation';
                    END IF;
                    RETURN NULL;
                """,
            ),
        ]


COUNTED: Final[dict[str, Any]] = {
    "assignment__state": AssignmentState.ACCEPTED,
    "assignment__is_included": True,
    "repeat": 0,
}


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    """Queries of judgments. Every analysis names its pool."""

    def of_study(self, study: Study) -> "JudgmentQuerySet":
        """Keep those of one study."""
        return self.filter(item__campaign__study=study)

    def counted(self) -> "JudgmentQuerySet":
        """Keep those of accepted and included assignments, without repeats."""
        return self.filter(**COUNTED)

    def not_counted(self) -> "JudgmentQuerySet":
        """Keep the complement of `counted`. Needs only the row and its assignment, so that long lists load quickly."""
        return self.exclude(**COUNTED)

    def pool(self, judges: str = Judges.CROWD) -> "JudgmentQuerySet":
        """Keep those of one pool of judges that count; by default the crowd."""
        return self.filter(item__campaign__judges=judges).counted()

    def with_confidence(self) -> "JudgmentQuerySet":
        """Annotate `is_unsure`: whether the judge was unsure about the item."""
        unsure = ItemConfidence.objects.filter(
            assignment=models.OuterRef("assignment"), item=models.OuterRef("item"), is_unsure=True
        )
        return self.annotate(is_unsure=models.Exists(unsure))

    def pairwise(self) -> "JudgmentQuerySet":
        """Keep pairwise judgments."""
        return self.filter(item__pair__isnull=False)


class Judgment(models.Model):
    """An answer as given. For a pair as presented: -1 is A (left), 0 neither, 1 is B (right).

    `repeat` counts repeated answers of the same participant (models): 0 counts, the others are only kept.
    """

    # A constraint and an index below begin with these two.
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="judgments", db_index=False)
    item = models.ForeignKey(Item, models.PROTECT, related_name="judgments", db_index=False)
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="judgments")
    value = models.SmallIntegerField("value")
    repeat = models.PositiveSmallIntegerField(default=0)
    justification = models.TextField(blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)
    # Incremented with each change, so that of two answers that arrive out of order the newer one wins.
    revision = models.PositiveIntegerField(default=1)
    # Id in the source of the imported answer that this judgment is part of, if it had one.
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
                operation=pgtrigger.UpdateOf("value"),  # type: ignore[no-untyped-call]
                declare=[("over", "boolean")],
                func="""
                    SELECT c.has_slots AND a.state IN ('SUBMITTED', 'ACCEPTED', 'REJECTED', 'SURPLUS', 'WITHDRAWN')
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
                operation=pgtrigger.UpdateOf("value", "dimension_id"),  # type: ignore[no-untyped-call]
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
                operation=pgtrigger.UpdateOf("item_id", "assignment_id"),  # type: ignore[no-untyped-call]
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
            *judgment_triggers.TRIGGERS,
        ]


class ItemTime(models.Model):
    """Time at one item during one visit (one opening of the page), as summed by the browser so far.

    The sums only grow, so late or repeated reports change nothing. A participant's time at an item is the sum over
    visits.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="item_times")
    item = models.ForeignKey(Item, models.PROTECT, related_name="item_times")
    visit = models.CharField(max_length=36)
    # Seconds with the item visible and the page in the foreground (active) or in the background (away).
    active_seconds = models.FloatField(default=0)
    away_seconds = models.FloatField(default=0)
    # How often the item came into view, the page was left there, and an answer was changed.
    looks = models.PositiveIntegerField(default=0)
    leaves = models.PositiveIntegerField(default=0)
    changes = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item", "visit"], name="item_time_once_per_visit"),
            models.CheckConstraint(
                condition=Q(active_seconds__gte=0, away_seconds__gte=0), name="item_time_not_negative"
            ),
        ]


class ItemConfidence(models.Model):
    """Whether a judge is unsure about an item; changeable until the questionnaire is submitted.

    It applies to all of their judgments of the item, and does not change how these count.
    """

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="confidences")
    item = models.ForeignKey(Item, models.PROTECT, related_name="confidences")
    is_unsure = models.BooleanField()
    revision = models.PositiveIntegerField(default=1)
    stated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item"], name="item_confidence_stated_once"),
        ]
