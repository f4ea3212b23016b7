"""A research project: its topics, people, campaigns and results."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.urls import Resolver404, resolve
from django.utils.translation import gettext_lazy as _

from .. import codes
from ..enums import Role
from .counting import rows

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from .user import User


def validate_short_name(slug: str) -> None:
    """Raise `ValidationError` for a short name under whose address another page stands, such as `new`."""
    for prefix, own in (("/studies/", "study"), ("/api/v1/studies/", "api_study")):
        try:
            found = resolve(f"{prefix}{slug}/").url_name
        except Resolver404:  # the field says what short names are made of
            continue
        if found and found != own:
            said = _("The short name “%(slug)s” is used by another page. Choose another one.")
            raise ValidationError(said % {"slug": slug}, code="reserved")


class StudyQuerySet(models.QuerySet["Study"]):
    """What can be said of studies. `for_user` is the one place where access is decided."""

    def for_user(self, user: "User | AnonymousUser", role: int = Role.VIEWER) -> "StudyQuerySet":
        """Return the studies in which the user holds at least this role; operators hold every role."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if user.is_superuser:
            return self
        return self.filter(memberships__user=user, memberships__role__gte=role)

    def with_role(self, user: "User | AnonymousUser") -> "StudyQuerySet":
        """Annotate each study with the user's `role` in it (None where there is none)."""
        from .member import Membership

        own = Membership.objects.filter(study=models.OuterRef("pk"), user=user.pk).values("role")
        return self.annotate(role=models.Subquery(own))

    def with_counts(self) -> "StudyQuerySet":
        """Annotate `topic_count`, `response_count`, `participant_count`."""
        return self.annotate(
            topic_count=rows(Study, "topics"),
            response_count=rows(Study, "responses"),
            participant_count=rows(Study, "participants"),
        )


class Study(models.Model):
    """One research project. Everything else belongs to one study."""

    slug = models.SlugField(
        _("short name"), max_length=80, unique=True, help_text=_("Part of its address and of commands.")
    )
    title = models.CharField(_("title"), max_length=200)
    description = models.TextField(_("description"), blank=True)
    language = models.CharField(
        _("language"), max_length=35, default="en", validators=[codes.validate_language],
        help_text=_("Of its texts, as a BCP 47 tag."),
    )  # fmt: skip
    text_licence = models.CharField(
        _("licence of released texts"), max_length=100, default="CC-BY-4.0", validators=[codes.validate_licence]
    )
    currency = models.CharField(_("currency"), max_length=3, default="USD", validators=[codes.validate_currency])
    # Money in minor units; what a model may cost all told. None: no limit was set, and paid endpoints are refused.
    llm_budget = models.BigIntegerField(
        _("budget for models (minor units)"), null=True, blank=True, validators=[MinValueValidator(0)]
    )
    # What people read before they agree: who asks them, whom to turn to, how they are paid, how long it is kept.
    asked_by = models.CharField(
        _("who asks"), max_length=300, blank=True, help_text=_("Names and institution, as people read them.")
    )
    contact = models.CharField(
        _("contact"),
        max_length=300,
        blank=True,
        help_text=_("Where people reach you beside the questions that they ask here: an e-mail address, say."),
    )
    payment = models.CharField(
        _("how and when people are paid"),
        max_length=500,
        blank=True,
        help_text=_("Of those who came by a link of yours; a platform pays its own."),
    )
    retention = models.CharField(
        _("how long what people give is kept"),
        max_length=500,
        blank=True,
        help_text=_("What is released stays released; say how long the rest is kept, and where."),
    )
    is_simulated = models.BooleanField(
        _("simulated"), default=False, help_text=_("Its crowd is simulated; said wherever it shows.")
    )
    created_at = models.DateTimeField(_("created"))
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(condition=~models.Q(slug=""), name="study_slug_not_empty"),
            models.CheckConstraint(condition=models.Q(currency__regex=r"^[A-Z]{3}$"), name="study_currency_is_a_code"),
            models.CheckConstraint(
                condition=models.Q(llm_budget__isnull=True) | models.Q(llm_budget__gte=0),
                name="study_llm_budget_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Refuse a new study that could not be opened."""
        if self._state.adding:
            try:
                validate_short_name(self.slug)
            except ValidationError as error:
                raise ValidationError({"slug": error}) from None
