"""Endpoints of studies and members."""

import django_filters
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.validators import UniqueValidator

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody, RoleField, StrictBooleanFilter, TimeFilter

from .. import codes
from ..enums import Role
from . import services
from .closure import StudyInUseError
from .models import Membership, Study, User, validate_short_name

FIXED_FIELDS = ["language", "text_licence", "currency", "llm_budget", "is_simulated", "created_at"]
CONFIRM = OpenApiParameter("confirm", str, required=True, description="The short name of the study, to confirm.")
DESCRIPTION_FIELDS = ["title", "description", "researchers", "contact", "payment", "retention"]


class StudyRow(serializers.ModelSerializer[Study]):
    """A study."""

    role = RoleField(help_text="Your role in the study.", allow_null=True)

    class Meta:
        model = Study
        fields = [
            "slug",
            "role",
            *DESCRIPTION_FIELDS,
            "language",
            "text_licence",
            "currency",
            "llm_budget",
            "is_simulated",
            "created_at",
            "archived_at",
        ]


class NewStudy(RequestBody):
    """A study to create."""

    slug = serializers.SlugField(
        max_length=80,
        help_text="Part of the URL. It cannot be changed later.",
        validators=[
            validate_short_name,
            UniqueValidator(Study.objects.all(), message="A study with this name already exists. Choose another name."),
        ],
    )
    title = serializers.CharField(max_length=200)
    description = serializers.CharField(required=False, allow_blank=True)
    language = serializers.CharField(
        max_length=35,
        required=False,
        help_text="BCP 47 tag, for example `en` or `pt-BR`.",
        validators=[codes.validate_language],
    )
    text_licence = serializers.CharField(
        max_length=100,
        required=False,
        help_text="SPDX licence expression, for example `CC-BY-4.0`.",
        validators=[codes.validate_licence],
    )
    currency = serializers.RegexField(
        "^[A-Z]{3}$",
        required=False,
        help_text="ISO 4217 code, for example `EUR`.",
        validators=[codes.validate_currency],
    )
    llm_budget = serializers.IntegerField(
        min_value=0,
        max_value=10**15,
        required=False,
        allow_null=True,
        help_text="Budget for language models, in minor units of the currency. Null: no budget.",
    )


class StudyChanges(RequestBody):
    """The description of a study. Omitted fields stay unchanged."""

    title = serializers.CharField(max_length=200, required=False)
    description = serializers.CharField(required=False, allow_blank=True)
    researchers = serializers.CharField(max_length=300, required=False, allow_blank=True)
    contact = serializers.CharField(max_length=300, required=False, allow_blank=True)
    payment = serializers.CharField(max_length=500, required=False, allow_blank=True)
    retention = serializers.CharField(max_length=500, required=False, allow_blank=True)


class StudyFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Filters of studies."""

    is_simulated = StrictBooleanFilter()
    created_after = TimeFilter(field_name="created_at", lookup_expr="gt")

    class Meta:
        model = Study
        fields = ["language"]


class StudyList(ListEndpoint):
    """List the studies that you can read, newest first."""

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
        """Create a study. You become its owner."""
        data = self.validated(NewStudy)
        study = services.create(by=self.user, **data)
        shown = Study.objects.with_role(self.user).get(pk=study.pk)
        where = request.build_absolute_uri(reverse("api_study", args=[study.slug]))
        return Response(StudyRow(shown).data, status=201, headers={"Location": where})


class StudyDetail(Endpoint):
    """A study. An archived one can be deleted, and not changed."""

    needs = {
        "GET": Need(Role.VIEWER),
        "PATCH": Need(Role.OWNER, Scope.WRITE),
        "DELETE": Need(Role.OWNER, Scope.MANAGE),
    }
    open_when_archived = frozenset({"DELETE"})
    parameters = frozenset({"confirm"})
    serializer_class = StudyRow

    def get(self, request: Request, study: str) -> Response:
        """Show a study."""
        return Response(StudyRow(self.study).data)

    @extend_schema(request=StudyChanges, responses=StudyRow)
    def patch(self, request: Request, study: str) -> Response:
        """Change the description of a study and of its researchers."""
        data = self.validated(StudyChanges)
        studies = Study.objects.with_role(self.user).filter(pk=self.study.pk)
        with self.unchanged(studies, StudyRow) as held:
            services.describe(study=held, **data)
            return Response(StudyRow(held).data)

    @extend_schema(parameters=[CONFIRM], responses={202: None})
    def delete(self, request: Request, study: str) -> Response:
        """Delete a study with all its data.

        This is not possible if something is published or paid, or if work is in progress. The data are deleted in the
        background.
        """
        confirmation = request.query_params.get("confirm", "")
        try:
            services.request_deletion(study=self.study, confirmation=confirmation, by=self.user)
        except services.NotConfirmedError as error:
            detail = {"parameter": "confirm", "detail": str(error), "code": "invalid"}
            raise Problem("invalid", str(error), errors=[detail]) from None
        except StudyInUseError as error:
            raise Problem("conflict", str(error)) from None
        return Response(status=202)


class Archived(Endpoint):
    """The archiving of a study."""

    needs = {"POST": Need(Role.OWNER, Scope.MANAGE)}
    open_when_archived = frozenset({"POST"})
    serializer_class = StudyRow

    @extend_schema(request=None, responses=StudyRow)
    def post(self, request: Request, study: str) -> Response:
        """Archive a study. It can be read but not changed until it is restored."""
        try:
            services.archive(study=self.study, by=self.user)
        except StudyInUseError as error:
            raise Problem("conflict", str(error)) from None
        return Response(StudyRow(Study.objects.with_role(self.user).get(pk=self.study.pk)).data)


class Restored(Endpoint):
    """The restoring of an archived study."""

    needs = {"POST": Need(Role.OWNER, Scope.MANAGE)}
    open_when_archived = frozenset({"POST"})
    serializer_class = StudyRow

    @extend_schema(request=None, responses=StudyRow)
    def post(self, request: Request, study: str) -> Response:
        """Restore an archived study, so that it can be changed again."""
        services.restore(study=self.study)
        return Response(StudyRow(Study.objects.with_role(self.user).get(pk=self.study.pk)).data)


class MemberRow(serializers.ModelSerializer[Membership]):
    """A member of a study."""

    email = serializers.EmailField(source="user.email")
    name = serializers.CharField(source="user.name")
    role = RoleField()

    class Meta:
        model = Membership
        fields = ["user", "email", "name", "role", "added_at"]


class NewMember(RequestBody):
    """The email address of a person with an account on this server, and their role in the study."""

    email = serializers.EmailField(max_length=254)
    role = RoleField()


class NewRole(RequestBody):
    """The new role."""

    role = RoleField()


class MemberList(ListEndpoint):
    """List the members of a study."""

    needs = {"GET": Need(Role.VIEWER), "POST": Need(Role.OWNER, Scope.MANAGE)}
    queryset = Membership.objects.select_related("user")
    open_when_archived = frozenset({"POST", "PUT", "DELETE"})
    serializer_class = MemberRow

    @extend_schema(request=NewMember, responses={201: MemberRow})
    def post(self, request: Request, study: str) -> Response:
        """Add a member, or change their role.

        The person needs an account, which an operator creates.
        """
        data = self.validated(NewMember)
        user = User.objects.filter(email__iexact=data["email"]).first()
        if user is None:
            message = "Nobody here has this address."
            raise Problem("invalid", message, errors=[{"pointer": "#/email", "detail": message, "code": "unknown"}])
        return Response(MemberRow(_set_role(self, user, data["role"])).data, status=201)


class MemberDetail(Endpoint):
    """A member of a study."""

    needs = {
        "GET": Need(Role.VIEWER),
        "PUT": Need(Role.OWNER, Scope.MANAGE),
        "DELETE": Need(Role.OWNER, Scope.MANAGE),
    }
    open_when_archived = frozenset({"POST", "PUT", "DELETE"})
    serializer_class = MemberRow

    def rows(self, user: int) -> QuerySet[Membership]:
        """Return the membership that the address names."""
        return Membership.objects.select_related("user").filter(study=self.study, user=user)

    def get(self, request: Request, study: str, user: int) -> Response:
        """Show a member."""
        return Response(MemberRow(self.one(self.rows(user))).data)

    @extend_schema(request=NewRole, responses=MemberRow)
    def put(self, request: Request, study: str, user: int) -> Response:
        """Change the role of a member."""
        role = self.validated(NewRole)["role"]
        with self.unchanged(self.rows(user), MemberRow) as held:
            return Response(MemberRow(_set_role(self, held.user, role)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, study: str, user: int) -> Response:
        """Remove a member from the study. Their work in it is kept."""
        held = self.one(self.rows(user))
        try:
            services.remove_member(study=self.study, user=held.user)
        except services.LastOwnerError as error:
            raise Problem("conflict", str(error)) from None
        return Response(status=204)


def _set_role(endpoint: Endpoint, user: User, role: Role) -> Membership:
    try:
        return services.set_role(study=endpoint.study, user=user, role=role, by=endpoint.user)
    except services.LastOwnerError as error:
        raise Problem("conflict", str(error)) from None
