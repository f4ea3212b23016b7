"""Campaigns with their dimensions and instructions; pairs, items and questionnaires."""

import pgtrigger
from django.db import models
from django.db.models.functions import Coalesce

from crowdrag.assignments.terms import AmountColumn, within
from crowdrag.studies.models import ConsentText, Study, Versioned
from crowdrag.studies.study.models import count_of
from writing.models import Response, RetrievedPassage, Topic

from ..enums import AssignmentPolicy, CampaignKind, CampaignState, GoalKind, GoalOutcome, Inference, Judges


class Instructions(Versioned):
    """One version of a campaign's instructions."""

    text = models.TextField("text, in Markdown")

    class Meta(Versioned.Meta):
        verbose_name_plural = "instructions"


class Dimension(Versioned):
    """One version of a dimension of utility.

    `options` are objects {"value": int, "label": str}, in ascending order of value; -1, 0, 1 stand for A, N, B.
    """

    question = models.TextField("question")
    label = models.CharField("label", max_length=100)
    description = models.TextField("description", blank=True)
    options = models.JSONField("options", default=list)
    asks_justification = models.BooleanField("asks for a justification", default=False)

    class Meta(Versioned.Meta):
        pass

    @property
    def values(self) -> list[int]:
        """The allowed values of a judgment on this dimension."""
        return [option["value"] for option in self.options]


class CampaignQuerySet(models.QuerySet["Campaign"]):
    """Queries of campaigns."""

    def with_counts(self) -> "CampaignQuerySet":
        """Annotate `item_count`, `questionnaire_count` and `participant_count`."""
        return self.annotate(
            item_count=count_of(Campaign, "items"),
            questionnaire_count=count_of(Campaign, "questionnaires"),
            participant_count=Coalesce(
                # Of a campaign with very many questionnaires, the judges are kept, eight bytes each.
                models.Func(
                    models.F("progress_figures__judges"), function="octet_length", output_field=models.IntegerField()
                )
                / 8,
                count_of(Campaign, "questionnaires__assignments__participant", distinct=True),
            ),
        )

    def current(self) -> "CampaignQuerySet":
        """Keep those that are not archived."""
        return self.filter(archived_at__isnull=True)

    def archived(self) -> "CampaignQuerySet":
        """Keep those that are archived."""
        return self.filter(archived_at__isnull=False)

    def newest_first(self) -> "CampaignQuerySet":
        """Order by creation time, newest first."""
        return self.order_by("-created_at", "-id")

    def open_first(self) -> "CampaignQuerySet":
        """Order open campaigns first, then by creation time, newest first."""
        is_open = models.Case(models.When(state=CampaignState.OPEN, then=0), default=1)
        return self.order_by(is_open, "-created_at", "-id")


class Campaign(models.Model):
    """One collection of judgments."""

    TERMS = (
        "name", "k", "pay", "fee", "tax", "wage_floor", "minutes", "lease_minutes", "questionnaires_per_person",
        "minimum_seconds", "allows_comments", "shows_passages", "has_practice", "eligibility",
        "policy", "control_share",
    )  # fmt: skip

    study = models.ForeignKey(Study, models.CASCADE, related_name="campaigns")
    name = models.CharField(
        "Name", max_length=100, help_text="Only for you and your colleagues. Judges see a different title."
    )
    kind = models.CharField("kind", max_length=10, choices=CampaignKind.choices)
    judges = models.CharField("judges", max_length=10, choices=Judges.choices)
    inference = models.CharField("inference", max_length=10, choices=Inference.choices, blank=True)
    k = models.PositiveSmallIntegerField(
        "Judges per questionnaire",
        default=5,
        validators=within(1, 1000),
        help_text="How many judges complete each questionnaire.",
    )
    instructions = models.ForeignKey(Instructions, models.PROTECT, null=True, blank=True, related_name="campaigns")
    dimensions = models.ManyToManyField(Dimension, through="CampaignDimension", related_name="campaigns")
    state = models.CharField("state", max_length=10, choices=CampaignState.choices, default=CampaignState.DRAFT)
    is_simulated = models.BooleanField("simulated", default=False)
    pay = AmountColumn(
        "Pay per questionnaire",
        null=True,
        blank=True,
        help_text="Required, except in expert campaigns. 0 for volunteers.",
    )
    fee = AmountColumn("Platform fee per questionnaire", null=True, blank=True, help_text="In addition to the pay.")
    tax = AmountColumn("Tax per questionnaire", null=True, blank=True, help_text="In addition to the pay and the fee.")
    wage_floor = AmountColumn(
        "Minimum hourly pay",
        null=True,
        blank=True,
        help_text="You are warned about judges whose hourly pay falls below this. Leave empty for no warnings.",
    )
    minutes = models.PositiveSmallIntegerField(
        "Minutes per questionnaire",
        default=25,
        validators=within(1, 600),
        help_text="Shown to judges. Used to estimate the hourly pay until there are judgments.",
    )
    created_at = models.DateTimeField("created")
    # Whether this system assigns its questionnaires. If so, it has slots (`Slot` in annotation/judging/models.py), and
    # only filled slots count. Imported campaigns and those of model judges have none.
    has_slots = models.BooleanField(default=False)
    consent_text = models.ForeignKey(ConsentText, models.PROTECT, null=True, blank=True, related_name="campaigns")
    # The campaign whose items and questions this one asks again (expert and model campaigns).
    source = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="asked_again")
    # How questionnaires are drawn (`design.py`).
    design = models.JSONField("design", default=dict, blank=True)
    # Eligibility rules for the recruitment platform: languages, countries, approval_rate, completed.
    eligibility = models.JSONField("Eligibility", default=dict, blank=True)
    lease_minutes = models.PositiveSmallIntegerField(
        "Minutes of inactivity before reassignment",
        default=60,
        validators=within(1, 32_767),
        help_text="Counted from the last activity. The answers are kept.",
    )
    questionnaires_per_person = models.PositiveSmallIntegerField(
        "Maximum questionnaires per person",
        null=True,
        blank=True,
        default=1,
        validators=within(1, 32_767),
        help_text="Nobody gets an item twice. Leave empty for no limit.",
    )
    # Ten minutes in the paper (crowdrag25, 3.2.3).
    minimum_seconds = models.PositiveIntegerField(
        "Minimum completion time in seconds (flagged if shorter)",
        null=True,
        blank=True,
        default=600,
        validators=within(0, 86_400),
        help_text="Flagged work is not rejected automatically: a person decides. "
        "The default is 40 % of the minutes, at most 600. Leave empty for no minimum.",
    )
    allows_comments = models.BooleanField("Ask for comments at the end", default=True)
    # Judges in the paper saw no sources (crowdrag25, 3.3.1).
    shows_passages = models.BooleanField(
        "Show cited passages to judges",
        default=False,
        help_text="Judges can read the text of each cited passage. They never see where it comes from.",
    )
    has_practice = models.BooleanField(
        "Begin with a practice pair",
        default=True,
        help_text="New judges answer one example and see the expected answers. Your own training items replace it.",
    )
    policy = models.CharField(
        "Policy",
        max_length=20,
        choices=AssignmentPolicy.choices,
        default=AssignmentPolicy.FIXED,
        help_text="How the next questionnaire is chosen.",
    )
    control_share = models.PositiveSmallIntegerField(
        "Random control (%)",
        default=10,
        validators=within(1, 100),
        help_text="Share of questionnaires that are chosen at random, so that you can see what the policy gains.",
    )
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    # Archived campaigns are left out of lists; nothing else changes.
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = CampaignQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="campaign_name_unique_per_study"),
            models.CheckConstraint(condition=models.Q(k__gte=1), name="campaign_k_positive"),
            models.CheckConstraint(condition=models.Q(kind__in=CampaignKind.values), name="campaign_kind_known"),
            models.CheckConstraint(condition=models.Q(judges__in=Judges.values), name="campaign_judges_known"),
            models.CheckConstraint(condition=models.Q(state__in=CampaignState.values), name="campaign_state_known"),
            models.CheckConstraint(
                condition=models.Q(judges=Judges.MODEL, inference__in=Inference.values)
                | (~models.Q(judges=Judges.MODEL) & models.Q(inference="")),
                name="campaign_inference_is_said_of_models_only",
            ),
            models.CheckConstraint(
                condition=models.Q(policy__in=AssignmentPolicy.values), name="campaign_policy_known"
            ),
            models.CheckConstraint(
                condition=models.Q(control_share__gte=1, control_share__lte=100), name="campaign_control_share_percent"
            ),
            models.CheckConstraint(condition=models.Q(minutes__gte=1), name="campaign_minutes_positive"),
            models.CheckConstraint(condition=models.Q(lease_minutes__gte=1), name="campaign_lease_positive"),
            models.CheckConstraint(
                condition=~models.Q(has_slots=True, state=CampaignState.OPEN)
                | models.Q(consent_text__isnull=False, instructions__isnull=False, opened_at__isnull=False),
                name="campaign_open_has_instructions_and_consent",
            ),
            models.CheckConstraint(
                condition=models.Q(archived_at__isnull=True) | models.Q(state=CampaignState.CLOSED),
                name="campaign_archived_is_closed",
            ),
            models.CheckConstraint(
                condition=~models.Q(has_slots=True, judges=Judges.MODEL), name="campaign_of_a_model_has_no_places"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CampaignDimension(models.Model):
    """A dimension of a campaign, with its position on the page."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="campaign_dimensions")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="campaign_dimensions")
    position = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "dimension"], name="campaign_asks_a_dimension_once"),
            models.UniqueConstraint(fields=["campaign", "position"], name="campaign_dimension_position_unique"),
        ]


class CampaignGoal(models.Model):
    """What a campaign is to find out about systems on one dimension (docs/methods/sequential.md).

    `systems` are pseudonyms or names of participants; "human" stands for all people.
    """

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="goal")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="+")
    kind = models.CharField("Question", max_length=10, choices=GoalKind.choices, default=GoalKind.BEST)
    systems = models.JSONField("Systems")
    margin = models.FloatField("Margin in grades", default=0.0)
    width = models.FloatField("Width of each interval in grades", null=True, blank=True)
    confidence = models.FloatField("Confidence", default=0.95)
    closes_campaign = models.BooleanField("Close the campaign when decided", default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=GoalKind.values), name="campaign_goal_kind_known"),
            models.CheckConstraint(condition=models.Q(margin__gte=0), name="campaign_goal_margin_not_negative"),
            models.CheckConstraint(
                condition=models.Q(kind=GoalKind.WIDTH, width__gt=0)
                | (~models.Q(kind=GoalKind.WIDTH) & models.Q(width__isnull=True)),
                name="campaign_goal_width_if_asked",
            ),
            models.CheckConstraint(
                condition=models.Q(confidence__gt=0.5, confidence__lt=1), name="campaign_goal_confidence_possible"
            ),
        ]


class GoalLook(models.Model):
    """What was known about a campaign's goal at one time. Looks are added and never changed.

    `judgments` are all of the campaign that counted, `votes` those on the goal's dimension that compare two systems.
    `comparisons`, `grades` and `forecast` are those of `analysis.stats.goal_decisions.Look`.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="goal_looks")
    at = models.DateTimeField()
    judgments = models.PositiveIntegerField()
    votes = models.PositiveIntegerField()
    topics = models.PositiveIntegerField()
    judges = models.PositiveIntegerField()
    outcome = models.CharField(max_length=12, choices=GoalOutcome.choices)
    answer = models.JSONField(null=True)
    comparisons = models.JSONField()
    grades = models.JSONField()
    forecast = models.JSONField(null=True)
    # When the campaign was closed because of this look.
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "at"], name="goal_look_once_at_a_time"),
            models.CheckConstraint(condition=models.Q(outcome__in=GoalOutcome.values), name="goal_look_outcome_known"),
            models.CheckConstraint(
                condition=models.Q(closed_at__isnull=True) | models.Q(outcome=GoalOutcome.DECIDED),
                name="goal_look_closes_if_decided",
            ),
        ]


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


class Item(models.Model):
    """What is judged in one step of a campaign: a pair, one response, or a statement of it with a passage.

    A pointwise item imported from a corpus that does not name the response has only its topic and its id.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="items")
    pair = models.ForeignKey(Pair, models.PROTECT, null=True, blank=True, related_name="items")
    response = models.ForeignKey(Response, models.PROTECT, null=True, blank=True, related_name="items")
    # Of a statement: its position in the response, whose statements are deleted if it is erased, and the passage.
    statement = models.PositiveIntegerField(null=True, blank=True)
    retrieved = models.ForeignKey(RetrievedPassage, models.PROTECT, null=True, blank=True, related_name="items")
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="items")
    external_id = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "pair"], name="item_pair_once_per_campaign"),
            models.UniqueConstraint(
                fields=["campaign", "response"],
                condition=models.Q(statement__isnull=True),
                name="item_response_once_per_campaign",
            ),
            models.UniqueConstraint(
                fields=["campaign", "response", "statement", "retrieved"],
                condition=models.Q(statement__isnull=False),
                name="item_statement_once_per_campaign",
            ),
            models.CheckConstraint(
                condition=models.Q(statement__isnull=True, retrieved__isnull=True)
                | models.Q(response__isnull=False, statement__isnull=False, retrieved__isnull=False),
                name="item_statement_has_a_response_and_a_passage",
            ),
            models.UniqueConstraint(
                fields=["campaign", "external_id"],
                condition=~models.Q(external_id=""),
                name="item_external_id_once_per_campaign",
            ),
            models.CheckConstraint(
                condition=models.Q(pair__isnull=False, response__isnull=True)
                | models.Q(pair__isnull=True, response__isnull=False)
                | (models.Q(pair__isnull=True, response__isnull=True) & ~models.Q(external_id="")),
                name="item_is_a_pair_or_a_response",
            ),
        ]


class Questionnaire(models.Model):
    """A list of items in the order in which they are shown."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="questionnaires")
    external_id = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    # Number in its campaign, from 0, in the order of assignment. None if imported.
    position = models.PositiveIntegerField(null=True, blank=True)
    # Words to read, all texts together. Should be about equal across the questionnaires of a campaign.
    words = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "external_id"], name="questionnaire_external_id_unique"),
            models.UniqueConstraint(fields=["campaign", "position"], name="questionnaire_position_once_per_campaign"),
        ]


class QuestionnaireItem(models.Model):
    """An item at its position in a questionnaire."""

    questionnaire = models.ForeignKey(Questionnaire, models.CASCADE, related_name="entries")
    item = models.ForeignKey(Item, models.PROTECT, related_name="entries")
    position = models.PositiveSmallIntegerField()
    # A check item with known labels (KnownLabel). It looks like any other item.
    has_known_label = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["questionnaire", "item"], name="questionnaire_holds_an_item_once"),
            models.UniqueConstraint(fields=["questionnaire", "position"], name="questionnaire_position_unique"),
        ]
