"""Instructions, surveys with answers, and the writing plan."""

from django.db import models

from crowdrag.assignments.terms import AmountColumn, within
from crowdrag.studies.models import ConsentText, Study, Versioned

from ..corpus.models import Style, Topic
from ..enums import SurveyKind


class WritingInstructions(Versioned):
    """One version of the study's instructions to writers; each style adds its own."""

    text = models.TextField("instructions, in Markdown")

    class Meta(Versioned.Meta):
        pass


class Survey(Versioned):
    """One version of a survey. `questions` are JSON objects; see `surveys.parse`."""

    kind = models.CharField(max_length=5, choices=SurveyKind.choices)
    questions = models.JSONField(default=list)

    class Meta(Versioned.Meta):
        constraints = [
            *Versioned.Meta.constraints,
            models.CheckConstraint(condition=models.Q(kind__in=SurveyKind.values), name="survey_kind_known"),
        ]


class SurveyAnswers(models.Model):
    """The answers of a task's writer to a survey, as question name -> value; unanswered questions are absent."""

    task = models.ForeignKey("writing.WritingTask", models.CASCADE, related_name="survey_answers")
    survey = models.ForeignKey(Survey, models.PROTECT, related_name="answers")
    answers = models.JSONField(default=dict)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "survey"], name="survey_answered_once_per_task")]


class WritingPlan(models.Model):
    """A study's writing plan: the requested responses, their pay and the texts for writers.

    The plan may change at any time. It refers to versions of texts; each task keeps the versions and the pay that were
    current when it was claimed.
    """

    TERMS = ("slots", "tasks_per_person", "minutes", "lease_hours", "copied_words", "pay", "fee", "tax", "wage_floor")

    study = models.OneToOneField(Study, models.CASCADE, related_name="writing_plan")
    is_open = models.BooleanField("open to writers", default=False)
    styles = models.ManyToManyField(Style, through="PlanStyle", related_name="plans")
    slots = models.PositiveSmallIntegerField(
        "Responses per topic and style",
        default=1,
        validators=within(1, 1000),
        help_text="Each response is by a different person. Nobody writes twice on a topic.",
    )
    instructions = models.ForeignKey(WritingInstructions, models.PROTECT, null=True, blank=True, related_name="plans")
    consent_text = models.ForeignKey(ConsentText, models.PROTECT, null=True, blank=True, related_name="writing_plans")
    entry_survey = models.ForeignKey(Survey, models.PROTECT, null=True, blank=True, related_name="entry_plans")
    exit_survey = models.ForeignKey(Survey, models.PROTECT, null=True, blank=True, related_name="exit_plans")
    pay = AmountColumn("Pay per response", default=0)
    fee = AmountColumn("Platform fee per response", default=0, help_text="Added to the pay. 0 if there is none.")
    tax = AmountColumn("Tax per response", default=0, help_text="Added to the pay and the fee. 0 if there is none.")
    wage_floor = AmountColumn(
        "Minimum hourly pay",
        null=True,
        blank=True,
        help_text="We show you who earns less, based on the time they took. Leave empty for no check.",
    )
    minutes = models.PositiveSmallIntegerField(
        "Estimated minutes per response",
        default=25,
        validators=within(1, 600),
        help_text="Shown to writers. Used to estimate the hourly pay until someone has written a response.",
    )
    lease_hours = models.PositiveSmallIntegerField(
        "Hours of inactivity before a task is given to someone else",
        default=24,
        validators=within(1, 2000),
        help_text="Counted from the writer's last activity. The text is kept.",
    )
    copied_words = models.PositiveSmallIntegerField(
        "Words in a row that count as copied",
        default=20,
        null=True,
        blank=True,
        validators=within(4, 1000),
        help_text=(
            "While people write, the editor points out runs of words that are the same as in a passage. They can still "
            "submit. Leave empty to point out nothing."
        ),
    )
    tasks_per_person = models.PositiveSmallIntegerField(
        "Maximum responses per person",
        null=True,
        blank=True,
        validators=within(1, 30_000),
        help_text="Leave empty for no limit.",
    )
    trial_topics = models.ManyToManyField(Topic, through="PlanTrialTopic", related_name="trial_plans")
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(slots__gte=1), name="plan_slots_positive"),
            models.CheckConstraint(condition=models.Q(lease_hours__gte=1), name="plan_lease_positive"),
            models.CheckConstraint(
                condition=models.Q(is_open=False) | models.Q(consent_text__isnull=False, instructions__isnull=False),
                name="plan_open_has_instructions_and_consent",
            ),
        ]


class PlanStyle(models.Model):
    """A style of a plan."""

    plan = models.ForeignKey(WritingPlan, models.CASCADE, related_name="plan_styles")
    style = models.ForeignKey(Style, models.PROTECT, related_name="plan_styles")
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["plan", "style"], name="plan_asks_a_style_once")]


class PlanTrialTopic(models.Model):
    """A topic for trial tasks of new writers; it has no slots."""

    plan = models.ForeignKey(WritingPlan, models.CASCADE, related_name="plan_trial_topics")
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="plan_trial_topics")
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["plan", "topic"], name="plan_tries_a_topic_once")]
