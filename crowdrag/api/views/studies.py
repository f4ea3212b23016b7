"""Studies: those that somebody may read, one, a new one, and what one says of itself."""

import django_filters
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.validators import UniqueValidator

from crowdrag.studies import codes
from crowdrag.studies.domain import studies
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.studies.models.study import validate_short_name

from ..endpoints.endpoint import Endpoint, Listing, Need
from ..endpoints.fields import RoleField, TrueOrFalse
from ..endpoints.reading import Given
from ..endpoints.times import TimeFilter
from ..enums import Scope

FIXED = ["language", "text_licence", "currency", "llm_budget", "is_simulated", "created_at"]
SAID = ["title", "description", "asked_by", "contact", "payment", "retention"]


class StudyRow(serializers.ModelSerializer[Study]):
    """A study as it is shown."""

    role = RoleField(help_text="Yours in it.", allow_null=True)

    class Meta:
        model = Study
        fields = [
            "slug",
            "role",
            *SAID,
            "language",
            "text_licence",
            "currency",
            "llm_budget",
            "is_simulated",
            "created_at",
        ]


class NewStudy(Given):
    """A study to be made."""

    slug = serializers.SlugField(
        max_length=80,
        help_text="Part of its address, for good.",
        validators=[
            validate_short_name,
            UniqueValidator(Study.objects.all(), message="There is a study of this name."),
        ],
    )
    title = serializers.CharField(max_length=200)
    description = serializers.CharField(required=False, allow_blank=True)
    language = serializers.CharField(
        max_length=35, required=False, help_text="A BCP 47 tag.", validators=[codes.validate_language]
    )
    text_licence = serializers.CharField(
        max_length=100, required=False, help_text="An SPDX licence expression.", validators=[codes.validate_licence]
    )
    currency = serializers.RegexField(
        "^[A-Z]{3}$", required=False, help_text="An ISO 4217 code.", validators=[codes.validate_currency]
    )
    llm_budget = serializers.IntegerField(
        min_value=0, max_value=10**15, required=False, allow_null=True, help_text="In minor units of the currency."
    )


class SaidOfStudy(Given):
    """What a study says of itself; what is left out stays as it is."""

    title = serializers.CharField(max_length=200, required=False)
    description = serializers.CharField(required=False, allow_blank=True)
    asked_by = serializers.CharField(max_length=300, required=False, allow_blank=True)
    contact = serializers.CharField(max_length=300, required=False, allow_blank=True)
    payment = serializers.CharField(max_length=500, required=False, allow_blank=True)
    retention = serializers.CharField(max_length=500, required=False, allow_blank=True)


class StudyFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which studies."""

    is_simulated = TrueOrFalse()
    created_after = TimeFilter(field_name="created_at", lookup_expr="gt")

    class Meta:
        model = Study
        fields = ["language"]


class Studies(Listing):
    """List the studies that you may read, the newest first."""

    needs = {"GET": Need(None), "POST": Need(None, Scope.CREATE)}
    queryset = Study.objects.all()
    serializer_class = StudyRow
    filterset_class = StudyFilter
    order = ("-created_at", "-id")

    def rows(self) -> QuerySet[Study]:
        """Return the person's studies, as far as the token reads them."""
        return self.studies()

    @extend_schema(request=NewStudy, responses={201: StudyRow})
    def post(self, request: Request) -> Response:
        """Make a study, which you then own."""
        given = self.given(NewStudy)
        made = studies.create(by=self.user, **given)
        shown = Study.objects.with_role(self.user).get(pk=made.pk)
        where = request.build_absolute_uri(reverse("api_study", args=[made.slug]))
        return Response(StudyRow(shown).data, status=201, headers={"Location": where})


class OneStudy(Endpoint):
    """One study."""

    needs = {"GET": Need(Role.VIEWER), "PATCH": Need(Role.OWNER, Scope.WRITE)}
    serializer_class = StudyRow

    def get(self, request: Request, study: str) -> Response:
        """Show a study."""
        return Response(StudyRow(self.study).data)

    @extend_schema(request=SaidOfStudy, responses=StudyRow)
    def patch(self, request: Request, study: str) -> Response:
        """Change what a study says of itself and of those who ask."""
        given = self.given(SaidOfStudy)
        own = Study.objects.with_role(self.user).filter(pk=self.study.pk)
        with self.unchanged(own, StudyRow) as held:
            studies.describe(study=held, **given)
            return Response(StudyRow(held).data)
