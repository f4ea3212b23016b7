"""Studies, users and their roles, and base models for all apps: versioned texts and decisions.

Users sign in with their email address (docs/adr/0002). Texts that people respond to never change; a change creates a
new version (docs/adr/0006). A piece of work has two decisions, each with reason, evidence, author and time
(docs/adr/0007).
"""

from datetime import datetime
from typing import Any, ClassVar

import pgtrigger
from django.conf import settings
from django.contrib.auth.models import AbstractUser, AnonymousUser, UserManager
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Coalesce, Lower
from django.urls import Resolver404, resolve
from django.utils.crypto import salted_hmac

from .. import codes
from ..enums import PEOPLE, DecisionKind, Role


class EmailUserManager(UserManager["User"]):
    """Creates users by email address; addresses are compared case-insensitively."""

    def get_by_natural_key(self, username: str | None) -> "User":
        """Find a user by address, ignoring case."""
        return self.get(email__iexact=username)

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":  # type: ignore[override]
        """Create a user without special rights."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":  # type: ignore[override]
        """Create an operator: staff with every right."""
        return self.create_user(email, password, **{"is_staff": True, "is_superuser": True, **fields})


class User(AbstractUser):
    """A researcher or operator. Crowd workers are participants, not users."""

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField("email address", max_length=254, unique=True)
    name = models.CharField("name", max_length=200, blank=True)
    # Sessions and API tokens from before this time are not valid.
    signed_out_at = models.DateTimeField("signed out everywhere", null=True, blank=True, editable=False)
    # From then on nobody has the account: it has no name or address, and stays because the history refers to it.
    removed_at = models.DateTimeField("removed", null=True, blank=True, editable=False)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[EmailUserManager] = EmailUserManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="user_email_unique",
                violation_error_message="An account with this email address already exists.",
            ),
            models.CheckConstraint(
                condition=models.Q(removed_at__isnull=True)
                | models.Q(is_active=False, is_staff=False, is_superuser=False),
                name="user_removed_has_no_rights",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.email

    def get_full_name(self) -> str:
        """Return the name, or the address if there is none."""
        return str(self)

    def get_short_name(self) -> str:
        """Return the name, or the address if there is none."""
        return str(self)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Return the hash that every session must have: it changes with the password and with `signed_out_at`."""
        password_hash = str(super()._get_session_auth_hash(secret=secret))  # type: ignore[misc]
        if self.signed_out_at is None:
            return password_hash
        value = f"{password_hash} {self.signed_out_at.timestamp():.6f}"
        return salted_hmac("crowdrag.signed_out_at", value, secret=secret, algorithm="sha256").hexdigest()


def count_of(model: type[models.Model], relation: str, *, distinct: bool = False, **only: Any) -> Coalesce:
    """Return an annotation of `model` that counts a relation's rows, 0 if there are none.

    Each is a subquery: joining several relations at once would multiply the rows before counting them. The relation is
    given by name, so that rows which an upper app owns can be counted too. `only`: lookups on the relation that a row
    must meet.
    """
    condition = models.Q(**{f"{relation}__{name}": value for name, value in only.items()}) if only else None
    rows = model._default_manager.filter(pk=models.OuterRef("pk")).order_by().values("pk")
    counted = rows.annotate(n=models.Count(relation, distinct=distinct, filter=condition)).values("n")
    return Coalesce(models.Subquery(counted, output_field=models.IntegerField()), 0)


def validate_short_name(slug: str) -> None:
    """Raise `ValidationError` for a short name whose URL belongs to another page, such as `new`."""
    for prefix, expected in (("/studies/", "study"), ("/api/v1/studies/", "api_study")):
        try:
            url_name = resolve(f"{prefix}{slug}/").url_name
        except Resolver404:  # the field validates the characters
            continue
        if url_name and url_name != expected:
            message = "The short name “%(slug)s” is used by another page. Choose another one."
            raise ValidationError(message % {"slug": slug}, code="reserved")


class StudyQuerySet(models.QuerySet["Study"]):
    """Queries of studies. `for_user` is the only place where access is decided."""

    def for_user(self, user: "User | AnonymousUser", role: int = Role.VIEWER) -> "StudyQuerySet":
        """Return the studies in which the user has at least this role; operators have every role.

        A study that is being deleted is not returned to anybody.
        """
        if not user.is_authenticated or not user.is_active:
            return self.none()
        kept = self.filter(deletion_requested_at__isnull=True)
        if user.is_superuser:
            return kept
        return kept.filter(memberships__user=user, memberships__role__gte=role)

    def with_role(self, user: "User | AnonymousUser") -> "StudyQuerySet":
        """Annotate each study with the user's `role` in it (None where there is none)."""

        memberships = Membership.objects.filter(study=models.OuterRef("pk"), user=user.pk).values("role")
        return self.annotate(role=models.Subquery(memberships))

    def with_counts(self) -> "StudyQuerySet":
        """Annotate `topic_count`, `response_count` (without erased ones) and `people_count` (no systems or models)."""
        return self.annotate(
            topic_count=count_of(Study, "topics"),
            response_count=count_of(Study, "responses", erased_at__isnull=True),
            people_count=count_of(Study, "participants", kind__in=PEOPLE),
        )


class Study(models.Model):
    """One research project. Everything else belongs to a study."""

    slug = models.SlugField("short name", max_length=80, unique=True, help_text="Used in URLs and commands.")
    title = models.CharField(
        "title", max_length=200, help_text="Participants see this title. Do not name your systems."
    )
    description = models.TextField("description", blank=True)
    language = models.CharField(
        "language", max_length=35, default="en", validators=[codes.validate_language],
        help_text="For example en, de or pt-BR.",
    )  # fmt: skip
    text_licence = models.CharField(
        "licence of released texts", max_length=100, default="CC-BY-4.0", validators=[codes.validate_licence]
    )
    currency = models.CharField("currency", max_length=3, default="USD", validators=[codes.validate_currency])
    # In minor units; total that models may cost. None: no limit was set, and paid endpoints are refused.
    llm_budget = models.BigIntegerField(
        "model budget (minor units)", null=True, blank=True, validators=[MinValueValidator(0)]
    )
    # Shown to participants before they agree: the researchers, the contact, how they are paid, how long data are kept.
    researchers = models.CharField(
        "researchers", max_length=300, blank=True, help_text="Names and institution, as shown to participants."
    )
    contact = models.CharField(
        "contact",
        max_length=300,
        blank=True,
        help_text="How participants can reach you outside this site, for example by email.",
    )
    payment = models.CharField(
        "payment",
        max_length=500,
        blank=True,
        help_text="For people who come through your own links. A platform pays its own participants.",
    )
    retention = models.CharField(
        "data retention",
        max_length=500,
        blank=True,
        help_text="How long you keep the data, and where. Data in releases stays published.",
    )
    is_simulated = models.BooleanField(
        "simulated", default=False, help_text="The study has a simulated crowd. This is shown on all its pages."
    )
    created_at = models.DateTimeField("created")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    # An archived study cannot be changed until it is restored.
    archived_at = models.DateTimeField("archived", null=True, blank=True)
    archived_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    # From then on nobody can open the study, and its rows are removed step by step (analysis/archive/deletion.py).
    deletion_requested_at = models.DateTimeField(null=True, blank=True)
    deletion_requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

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

    @property
    def is_archived(self) -> bool:
        """Whether the study is read-only."""
        return self.archived_at is not None

    def clean(self) -> None:
        """Reject a new study whose page could not be opened."""
        if self._state.adding:
            try:
                validate_short_name(self.slug)
            except ValidationError as error:
                raise ValidationError({"slug": error}) from None


class Membership(models.Model):
    """One user's role in one study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    added_at = models.DateTimeField()
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="membership_once_per_study_and_user"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.get_role_display()})"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Queries of invitations."""

    def pending(self, now: datetime) -> "InvitationQuerySet":
        """Keep those that can still be accepted."""
        return self.filter(accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=now)


class Invitation(models.Model):
    """A link with which one person becomes a member of a study, once. Only the digest of its token is stored.

    An invitation to an email address is for the account with this address. Without one, anybody with the link can use
    it.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="invitations")
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    email = models.EmailField(max_length=254, blank=True)
    token_hash = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="invitation_role_known"),
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="invitation_expires_later"
            ),
            models.CheckConstraint(
                condition=models.Q(accepted_at__isnull=True, accepted_by__isnull=True)
                | models.Q(accepted_at__isnull=False, accepted_by__isnull=False, revoked_at__isnull=True),
                name="invitation_accepted_once_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return self.email or "link"


class Versioned(models.Model):
    """One version of a study's text. A row is never updated: what refers to it refers to what was read."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="%(class)ss")
    name = models.CharField("name", max_length=100)
    version = models.PositiveIntegerField("version", default=1)
    created_at = models.DateTimeField("created")

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(fields=["study", "name", "version"], name="%(class)s_version_unique"),
            models.CheckConstraint(condition=models.Q(version__gte=1), name="%(class)s_version_positive"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class Decision(models.Model):
    """A decision about payment or inclusion; a later one on the same question replaces it."""

    about = models.CharField(max_length=10, choices=DecisionKind.choices)
    holds = models.BooleanField()
    reason = models.TextField()
    evidence = models.JSONField(default=dict, blank=True)
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(condition=models.Q(about__in=DecisionKind.values), name="%(class)s_about_known"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="%(class)s_has_a_reason"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
