"""A set of things to be judged, and by whom."""

from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import ConsentText, Study
from crowdrag.studies.study.models import count_of

from ..enums import CampaignKind, CampaignState, Inference, Judges
from .dimension import Dimension
from .instructions import Instructions


class CampaignQuerySet(models.QuerySet["Campaign"]):
    """What can be said of campaigns."""

    def with_counts(self) -> "CampaignQuerySet":
        """Annotate `item_count`, `questionnaire_count` and `participant_count`."""
        return self.annotate(
            item_count=count_of(Campaign, "items"),
            questionnaire_count=count_of(Campaign, "questionnaires"),
            participant_count=count_of(Campaign, "questionnaires__assignments__participant", distinct=True),
        )

    def newest_first(self) -> "CampaignQuerySet":
        """Order them by when they were made, the latest first."""
        return self.order_by("-created_at", "-id")

    def open_first(self) -> "CampaignQuerySet":
        """Order them by whether judging goes on, and by when they were made: open ones first, then the latest."""
        is_open = models.Case(models.When(state=CampaignState.OPEN, then=0), default=1)
        return self.order_by(is_open, "-created_at", "-id")


class Campaign(models.Model):
    """One collection of judgments."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="campaigns")
    name = models.CharField(_("name"), max_length=100)
    kind = models.CharField(_("kind"), max_length=10, choices=CampaignKind.choices)
    judges = models.CharField(_("judges"), max_length=10, choices=Judges.choices)
    inference = models.CharField(_("inference"), max_length=10, choices=Inference.choices, blank=True)
    k = models.PositiveSmallIntegerField(_("judgments per item"), default=5, validators=[MinValueValidator(1)])
    instructions = models.ForeignKey(Instructions, models.PROTECT, null=True, blank=True, related_name="campaigns")
    dimensions = models.ManyToManyField(Dimension, through="CampaignDimension", related_name="campaigns")
    state = models.CharField(_("state"), max_length=10, choices=CampaignState.choices, default=CampaignState.DRAFT)
    is_simulated = models.BooleanField(_("simulated"), default=False)
    # Money in minor units of the study's currency: pay for one questionnaire; fees and tax stand apart.
    pay = models.PositiveIntegerField(_("pay per questionnaire (minor units)"), null=True, blank=True)
    fee = models.PositiveIntegerField(_("platform's fee per questionnaire (minor units)"), null=True, blank=True)
    tax = models.PositiveIntegerField(_("tax per questionnaire (minor units)"), null=True, blank=True)
    wage_floor = models.PositiveIntegerField(_("least wage per hour (minor units)"), null=True, blank=True)
    minutes = models.PositiveSmallIntegerField(
        _("minutes a questionnaire takes"), default=25, validators=[MinValueValidator(1)]
    )
    created_at = models.DateTimeField(_("created"))
    # Whether this system hands its questionnaires out: then it has places (models/place.py), and who holds one counts.
    # Imported campaigns and those that a model judges have none.
    has_places = models.BooleanField(default=False)
    consent_text = models.ForeignKey(ConsentText, models.PROTECT, null=True, blank=True, related_name="campaigns")
    # The campaign whose items and questions this one asks again: of experts, or of a model.
    source = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="asked_again")
    # How questionnaires are made (annotation/domain/building): what the builder was told, kept to be read again.
    design = models.JSONField(_("design"), default=dict, blank=True)
    # Who may take part, as told to the platform: languages, countries, approval_rate, completed.
    eligibility = models.JSONField(_("who may take part"), default=dict, blank=True)
    lease_minutes = models.PositiveSmallIntegerField(
        _("minutes until an untouched questionnaire is given to somebody else"),
        default=60,
        validators=[MinValueValidator(1)],
    )
    questionnaires_per_person = models.PositiveSmallIntegerField(
        _("questionnaires per person, at most"), null=True, blank=True, default=1
    )
    # Screening: who is faster than this is looked at. Ten minutes in the paper (crowdrag25, 3.2.3).
    least_seconds = models.PositiveIntegerField(
        _("least seconds for a questionnaire"), null=True, blank=True, default=600
    )
    takes_comments = models.BooleanField(_("asks for comments at the end"), default=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

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
            models.CheckConstraint(condition=models.Q(minutes__gte=1), name="campaign_minutes_positive"),
            models.CheckConstraint(condition=models.Q(lease_minutes__gte=1), name="campaign_lease_positive"),
            models.CheckConstraint(
                condition=~models.Q(has_places=True, state=CampaignState.OPEN)
                | models.Q(consent_text__isnull=False, instructions__isnull=False, opened_at__isnull=False),
                name="campaign_open_has_instructions_and_consent",
            ),
            models.CheckConstraint(
                condition=~models.Q(has_places=True, judges=Judges.MODEL), name="campaign_of_a_model_has_no_places"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CampaignDimension(models.Model):
    """A dimension that a campaign asks, and where it stands on the page."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="asked")
    dimension = models.ForeignKey(Dimension, models.PROTECT, related_name="asked")
    position = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "dimension"], name="campaign_asks_a_dimension_once"),
            models.UniqueConstraint(fields=["campaign", "position"], name="campaign_dimension_position_unique"),
        ]
