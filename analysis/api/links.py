"""Private links to a release: who has one, a new one, ending one."""

from datetime import timedelta
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..domain.releases import drafting, linking
from ..models import Release, ReleaseLink

SEEN = Need(Role.EDITOR)
# It gives files to people outside: a token that only changes the study does not.
GIVEN = Need(Role.EDITOR, Scope.MANAGE)
MOST_DAYS = 365


class LinkRow(serializers.ModelSerializer[ReleaseLink]):
    """A private link. Its address was said once, when it was made."""

    by = serializers.EmailField(source="created_by.email", default=None, allow_null=True)

    class Meta:
        model = ReleaseLink
        fields = ["id", "label", "by", "created_at", "expires_at", "revoked_at", "used_at"]
        extra_kwargs = {"label": {"help_text": "For whom."}, "used_at": {"help_text": "When last, about."}}


class MadeLink(LinkRow):
    """A link that was just made."""

    address = serializers.SerializerMethodField(help_text="Said this once, and kept nowhere.")

    class Meta(LinkRow.Meta):
        fields = [*LinkRow.Meta.fields, "address"]

    def get_address(self, _link: ReleaseLink) -> str | None:
        """Return where it leads; None when the request is sent again."""
        return self.context.get("address")


class NewLink(RequestBody):
    """For whom, and for how long."""

    label = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")  # type: ignore[assignment] # a field, and no attribute
    days = serializers.IntegerField(min_value=1, max_value=MOST_DAYS, required=False, default=30)


class Links(ListEndpoint):
    """List the private links to a release, those that ended too."""

    needs: ClassVar = {"GET": SEEN, "POST": GIVEN}
    queryset = ReleaseLink.objects.all()
    serializer_class = LinkRow

    def rows(self) -> QuerySet[ReleaseLink]:
        """Return the links to the release that the address names."""
        return _of(self)

    @extend_schema(request=NewLink, responses={201: MadeLink})
    def post(self, request: Request, study: str, number: int) -> Response:
        """Make a link that gives out the files of a release before, or instead of, publishing it.

        The answer holds its address, this once; what is sent again under the same key is answered without it.
        """
        given = self.given(NewLink)
        release = self.one(Release.objects.filter(study=self.study), number=number)
        until = timezone.now() + timedelta(days=given["days"])
        try:
            made, key = linking.make(release=release, expires_at=until, label=given["label"], by=self.user)
        except drafting.ReleaseError as error:
            raise Problem("conflict", str(error)) from None
        address = request.build_absolute_uri(reverse("private_release", args=[key]))
        where = request.build_absolute_uri(reverse("api_release_link", args=[self.study.slug, number, made.pk]))
        response = Response(_told(made, address), status=201, headers={"Location": where})
        response.kept_data = _told(made)  # type: ignore[attr-defined]
        return response


class OneLink(Endpoint):
    """A private link to a release."""

    needs: ClassVar = {"GET": SEEN, "DELETE": GIVEN}
    serializer_class = LinkRow

    def get(self, request: Request, study: str, number: int, link: int) -> Response:
        """Show a private link."""
        return Response(LinkRow(self.one(_of(self), pk=link)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, study: str, number: int, link: int) -> Response:
        """End a private link: it opens nothing any more, and stays listed. Twice is once."""
        linking.revoke(link=self.one(_of(self), pk=link))
        return Response(status=204)


def _told(made: ReleaseLink, address: str | None = None) -> Any:
    return MadeLink(made, context={"address": address}).data


def _of(endpoint: Endpoint) -> QuerySet[ReleaseLink]:
    release = endpoint.one(Release.objects.filter(study=endpoint.study), number=endpoint.kwargs["number"])
    return ReleaseLink.objects.filter(release=release).select_related("created_by")
