"""Members of a study and their roles."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.studies.domain import members
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Membership, User

from ..endpoints.endpoint import Endpoint, Listing, Need
from ..endpoints.fields import RoleField
from ..endpoints.problems import Problem
from ..endpoints.reading import Given
from ..enums import Scope


class MemberRow(serializers.ModelSerializer[Membership]):
    """A member as they are shown."""

    email = serializers.EmailField(source="user.email")
    name = serializers.CharField(source="user.name")
    role = RoleField()

    class Meta:
        model = Membership
        fields = ["user", "email", "name", "role", "added_at"]


class NewMember(Given):
    """Somebody with an account here, and the role that they get."""

    email = serializers.EmailField(max_length=254)
    role = RoleField()


class NewRole(Given):
    """The role that somebody gets."""

    role = RoleField()


class Members(Listing):
    """List the members of a study."""

    needs = {"GET": Need(Role.VIEWER), "POST": Need(Role.OWNER, Scope.MANAGE)}
    queryset = Membership.objects.select_related("user")
    serializer_class = MemberRow

    @extend_schema(request=NewMember, responses={201: MemberRow})
    def post(self, request: Request, study: str) -> Response:
        """Make somebody a member, or change their role.

        They need an account: an operator makes it.
        """
        given = self.given(NewMember)
        user = User.objects.filter(email__iexact=given["email"]).first()
        if user is None:
            said = "Nobody here has this address."
            raise Problem("invalid", said, errors=[{"pointer": "#/email", "detail": said, "code": "unknown"}])
        return Response(MemberRow(_set_role(self, user, given["role"])).data, status=201)


class OneMember(Endpoint):
    """One member of a study."""

    needs = {
        "GET": Need(Role.VIEWER),
        "PUT": Need(Role.OWNER, Scope.MANAGE),
        "DELETE": Need(Role.OWNER, Scope.MANAGE),
    }
    serializer_class = MemberRow

    def rows(self, user: int) -> QuerySet[Membership]:
        """Return the membership that the address names."""
        return Membership.objects.select_related("user").filter(study=self.study, user=user)

    def get(self, request: Request, study: str, user: int) -> Response:
        """Show a member."""
        return Response(MemberRow(self.one(self.rows(user))).data)

    @extend_schema(request=NewRole, responses=MemberRow)
    def put(self, request: Request, study: str, user: int) -> Response:
        """Give a member another role."""
        role = self.given(NewRole)["role"]
        with self.unchanged(self.rows(user), MemberRow) as held:
            return Response(MemberRow(_set_role(self, held.user, role)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, study: str, user: int) -> Response:
        """Take somebody out of the study. What they did in it stays."""
        held = self.one(self.rows(user))
        try:
            members.remove(study=self.study, user=held.user)
        except members.LastOwnerError as error:
            raise Problem("conflict", str(error)) from None
        return Response(status=204)


def _set_role(endpoint: Endpoint, user: User, role: Role) -> Membership:
    try:
        return members.set_role(study=endpoint.study, user=user, role=role, by=endpoint.user)
    except members.LastOwnerError as error:
        raise Problem("conflict", str(error)) from None
