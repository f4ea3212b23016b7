"""A study on the platform: one advertisement for one way of taking part."""

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import EntryLink, Study

from ..enums import StudyStatus


class PlatformStudy(models.Model):
    """What is advertised on the platform for one way; its terms are as they were sent, for they cannot change there.

    The row stands before the platform is told: if the answer is lost, the study is found again there by its
    `internal_name`, which nobody else uses.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="platform_studies")
    purpose = models.CharField(_("way of taking part"), max_length=50)
    link = models.OneToOneField(EntryLink, models.PROTECT, related_name="platform_study")
    external_id = models.CharField(_("the platform's id"), max_length=100, blank=True)
    name = models.CharField(_("public name"), max_length=120)
    internal_name = models.CharField(_("internal name"), max_length=120, unique=True)
    description = models.TextField(_("description"))
    # Money in minor units of the study's currency.
    reward = models.PositiveIntegerField(_("reward (minor units)"), validators=[MinValueValidator(1)])
    places = models.PositiveIntegerField(_("places"), validators=[MinValueValidator(1)])
    minutes = models.PositiveSmallIntegerField(_("minutes it takes"), validators=[MinValueValidator(1)])
    most_minutes = models.PositiveSmallIntegerField(_("minutes allowed at most"), null=True, blank=True)
    devices = models.JSONField(_("devices"), default=list, blank=True)
    eligibility = models.JSONField(_("who may take part"), default=dict, blank=True)
    # Code type of the platform -> the code; what people are led back with stands in the link.
    codes = models.JSONField(_("completion codes"), default=dict, blank=True)
    screen_out_reward = models.PositiveIntegerField(_("pay when screened out (minor units)"), null=True, blank=True)
    status = models.CharField(_("status there"), max_length=20, blank=True)
    places_taken = models.PositiveIntegerField(_("places taken there"), default=0)
    published_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(_("asked about last"), null=True, blank=True)
    listed_at = models.DateTimeField(_("submissions listed last"), null=True, blank=True)
    problem = models.TextField(_("what went wrong last"), blank=True)
    created_at = models.DateTimeField(_("made"))
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name_plural = "platform studies"
        constraints = [
            models.UniqueConstraint(
                fields=["external_id"], condition=~models.Q(external_id=""), name="platform_study_external_id_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(reward__gte=1, places__gte=1, minutes__gte=1),
                name="platform_study_terms_positive",
            ),
            models.CheckConstraint(
                condition=models.Q(screen_out_reward__isnull=True)
                | models.Q(screen_out_reward__gte=1, screen_out_reward__lt=models.F("reward")),
                name="platform_study_screen_out_pays_less_than_the_reward",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def status_label(self) -> str:
        """The status in words; what the platform says where we have no words for it."""
        if not self.external_id:
            return str(_("not made there yet"))
        return str(StudyStatus(self.status).label) if self.status in StudyStatus.values else self.status

    @property
    def is_published(self) -> bool:
        """Whether people were ever let in: from then on only its internal name and more places can be changed."""
        return self.published_at is not None
