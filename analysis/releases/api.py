"""Releases of a study: drafts, building, publishing, taking back; their files, and private links to them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse as api_reverse

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.jobs import downloads
from crowdrag.studies import codes
from crowdrag.studies.enums import AuditedContent, Role
from writing.enums import Origin

from ..enums import ReleaseState
from . import builds, services, storage
from . import queries as page
from .choices import Choices, Logs, Passages, Pseudonyms, Timing
from .formats.about import is_orcid
from .models import Release, ReleaseFile, ReleaseLink

CHANGED = Need(Role.EDITOR, Scope.WRITE)
BUILT = Need(Role.EDITOR, Scope.RUN)
PUBLISHED = Need(Role.OWNER, Scope.MANAGE)
DOI = r"^10\.[0-9]{4,9}/[^\s\"<>]+$"


class ReleaseRow(serializers.ModelSerializer[Release]):
    """A release, as members of the study see it."""

    run = serializers.UUIDField(
        source="run.key",
        default=None,
        allow_null=True,
        help_text="Key of the run that built the release. Null: not built yet.",
    )
    creators = serializers.ListField(child=serializers.DictField())
    choices = serializers.DictField(help_text="What the release contains, with the same fields as in PATCH.")
    figures = serializers.DictField(help_text="Numbers of topics, responses, judgments and so on in the release.")
    left_out = serializers.ListField(
        child=serializers.DictField(), help_text="Data that were left out, with the reasons."
    )

    class Meta:
        model = Release
        fields = ["number", "state", "title", "description", "creators", "doi", "notes", "choices", "embargo_until",
                  "run", "figures", "left_out", "digest", "schema_version", "created_at", "built_at", "published_at",
                  "marked_at", "erased_participants", "withdrawn_at", "withdrawn_reason"]  # fmt: skip


def a_valid_orcid(orcid: str) -> None:
    """Refuse what is no ORCID iD."""
    if orcid and not is_orcid(orcid):
        raise serializers.ValidationError(
            "An ORCID iD has four groups of four digits. The last one is a check digit, for example "
            "0000-0002-1825-0097."
        )


class Creator(RequestBody):
    """A creator of the release, as cited."""

    name = serializers.CharField(max_length=200)
    affiliation = serializers.CharField(max_length=300, required=False, allow_blank=True)
    orcid = serializers.CharField(max_length=19, required=False, allow_blank=True, validators=[a_valid_orcid])


def _licence_field() -> serializers.CharField:
    return serializers.CharField(
        max_length=100, required=False, allow_blank=True, help_text="SPDX expression, for example `CC0-1.0`.",
        validators=[codes.validate_licence],
    )  # fmt: skip


class Chosen(RequestBody):
    """The content of a release. Omitted fields have their defaults, or stay unchanged when a draft is changed."""

    licence = _licence_field()
    log_licence = _licence_field()
    timing_licence = _licence_field()
    topics = serializers.BooleanField(required=False)
    passages = serializers.ChoiceField(Passages.choices, required=False)
    passage_terms = serializers.CharField(max_length=500, required=False, allow_blank=True)
    responses = serializers.BooleanField(required=False)
    origins = serializers.ListField(child=serializers.ChoiceField(Origin.choices), required=False, max_length=3)
    excluded = serializers.BooleanField(required=False)
    surveys = serializers.BooleanField(required=False)
    logs = serializers.ChoiceField(Logs.choices, required=False)
    judgments = serializers.BooleanField(required=False)
    justifications = serializers.BooleanField(required=False)
    comments = serializers.BooleanField(required=False)
    gold = serializers.BooleanField(required=False)
    grades = serializers.BooleanField(required=False)
    tables = serializers.BooleanField(required=False)
    runs = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        max_length=100,
        help_text="Runs whose labels, grades and tables to include. Default for a new release: the latest analysis.",
    )
    timing = serializers.ChoiceField(Timing.choices, required=False)
    pseudonyms = serializers.ChoiceField(Pseudonyms.choices, required=False)


class ChangedRelease(RequestBody):
    """Changes of the metadata and the content of a release. Omitted fields stay unchanged."""

    title = serializers.CharField(max_length=300, required=False)
    description = serializers.CharField(max_length=20_000, required=False, allow_blank=True)
    creators = serializers.ListField(child=Creator(), required=False, max_length=200)
    doi = serializers.RegexField(DOI, max_length=200, required=False, allow_blank=True)
    notes = serializers.CharField(max_length=20_000, required=False, allow_blank=True)
    embargo_until = serializers.DateTimeField(required=False, allow_null=True)
    choices = Chosen(required=False)


class NewRelease(ChangedRelease):
    """The next release of a study."""

    title = serializers.CharField(max_length=300)


class Reason(RequestBody):
    """The reason for a withdrawal. It is shown on the page of the release."""

    reason = serializers.CharField(max_length=5000)


class ReleaseFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Filters of releases."""

    state = django_filters.ChoiceFilter(choices=ReleaseState.choices)

    class Meta:
        model = Release
        fields = ["state"]


class Releases(ListEndpoint):
    """List the releases of a study, newest first."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": CHANGED}
    queryset = Release.objects.select_related("run")
    serializer_class = ReleaseRow
    filterset_class = ReleaseFilter
    order = ("-number", "-id")

    @extend_schema(request=NewRelease, responses={201: ReleaseRow})
    def post(self, request: Request, study: str) -> Response:
        """Create a draft of the next release."""
        body = self.validated(NewRelease)
        usual = {"runs": page.latest_analysis(self.study)}
        choices = Choices.from_json(usual | _plain(body.pop("choices", {})))
        release = _done(services.create, "refused", study=self.study, choices=choices, by=self.user, **body)
        where = request.build_absolute_uri(reverse("api_release", args=[self.study.slug, release.number]))
        return Response(ReleaseRow(release).data, status=201, headers={"Location": where})


class OneRelease(Endpoint):
    """A release."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PATCH": CHANGED, "DELETE": CHANGED}
    serializer_class = ReleaseRow

    def get(self, request: Request, study: str, number: int) -> Response:
        """Show a release."""
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)

    @extend_schema(request=ChangedRelease, responses=ReleaseRow)
    def patch(self, request: Request, study: str, number: int) -> Response:
        """Change a release that is not published. If it was built, it becomes a draft again."""
        body = self.validated(ChangedRelease)
        with self.unchanged(_of(self).filter(number=number), ReleaseRow) as held:
            choices = Choices.from_json(held.choices | _plain(body.pop("choices", {})))
            _done(services.change, "conflict", release=held, choices=choices, **body)
            return Response(ReleaseRow(self.one(_of(self), number=number)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, study: str, number: int) -> Response:
        """Delete a release that was never published."""
        _done(services.discard, "conflict", release=self.one(_of(self), number=number))
        return Response(status=204)


class Built(Endpoint):
    """The building of a release."""

    needs: ClassVar = {"POST": BUILT, "DELETE": BUILT}
    serializer_class = ReleaseRow

    @extend_schema(request=None, responses={202: ReleaseRow})
    def post(self, request: Request, study: str, number: int) -> Response:
        """Start building a draft. The build is the run named in `run`."""
        release = self.one(_of(self), number=number)
        page = request.build_absolute_uri(reverse("public_release", args=[self.study.slug, number]))
        _done(builds.start, "conflict", release=release, by=self.user, address=page)
        return Response(ReleaseRow(self.one(_of(self), number=number)).data, status=202)

    @extend_schema(responses={200: ReleaseRow})
    def delete(self, request: Request, study: str, number: int) -> Response:
        """Cancel the build. The release becomes a draft again."""
        _done(builds.stop, "conflict", release=self.one(_of(self), number=number), by=self.user)
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)


class Published(Endpoint):
    """The publication of a release."""

    needs: ClassVar = {"POST": PUBLISHED}

    @extend_schema(request=None, responses=ReleaseRow)
    def post(self, request: Request, study: str, number: int) -> Response:
        """Publish a release that was built. Its content can no longer be changed."""
        release = self.one(_of(self), number=number)
        _done(services.publish, "conflict", release=release, by=self.user)
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)


class Unembargoed(Endpoint):
    """The end of the embargo of a release."""

    needs: ClassVar = {"POST": PUBLISHED}

    @extend_schema(request=None, responses=ReleaseRow)
    def post(self, request: Request, study: str, number: int) -> Response:
        """End the embargo of a published release: everybody can download its files from now on."""
        _done(services.lift_embargo, "conflict", release=self.one(_of(self), number=number))
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)


class Withdrawn(Endpoint):
    """The withdrawal of a release."""

    needs: ClassVar = {"POST": PUBLISHED}

    @extend_schema(request=Reason, responses=ReleaseRow)
    def post(self, request: Request, study: str, number: int) -> Response:
        """Withdraw a published release. Its page stays and shows the reason. Its files can no longer be downloaded."""
        release, reason = self.one(_of(self), number=number), self.validated(Reason)["reason"]
        _done(services.withdraw, "conflict", release=release, reason=reason, by=self.user)
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)


def _of(endpoint: Endpoint) -> QuerySet[Release]:
    return Release.objects.filter(study=endpoint.study).select_related("study", "run")


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return choices as they are kept: keys of runs are texts."""
    runs = {"runs": [str(key) for key in values["runs"]]} if "runs" in values else {}
    return {**values, **runs}


def _done(change: Callable[..., Any], code: str, **arguments: Any) -> Any:
    """Have something done with a release, or say why it cannot be."""
    try:
        return change(**arguments)
    except services.ChoiceError as error:
        raise Problem("refused", str(error)) from None
    except services.ReleaseError as error:
        raise Problem(code, str(error)) from None


class FileRow(serializers.ModelSerializer[ReleaseFile]):
    """A file of a release. A file that was removed later keeps its name, size and checksum here."""

    address = serializers.SerializerMethodField(help_text="URL for downloads with a token, also before publication.")

    class Meta:
        model = ReleaseFile
        fields = ["path", "about", "media_type", "size", "sha256", "removed_at", "address"]

    def get_address(self, file: ReleaseFile) -> str:
        """URL for downloads with a token, also before publication."""
        here = self.context["view"].kwargs
        url_parameters = {"study": here["study"], "number": here["number"], "path": file.path}
        return str(api_reverse("api_release_file", kwargs=url_parameters, request=self.context["request"]))


class Files(ListEndpoint):
    """List the files of a release with their checksums."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = ReleaseFile.objects.all()
    serializer_class = FileRow

    def rows(self) -> QuerySet[ReleaseFile]:
        """Return the files of the release that the address names."""
        return ReleaseFile.objects.filter(release=_release(self))


class FileResponse(Endpoint):
    """Something that is sent as it is, whatever form a script says it accepts."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Take whatever is accepted."""
        return super().perform_content_negotiation(request, force=True)


class OneFile(FileResponse):
    """A file of a release."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.FILE

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, study: str, number: int, path: str) -> HttpResponseBase:
        """Download a file of a release, or a part of it with the header Range."""
        file = self.one(_release(self).files.select_related("release__study"), path=path)
        if file.removed_at is not None:
            raise Problem("gone", "This file was removed because somebody's data were erased. Use a later version.")
        self.about(None, file.pk)
        kept = downloads.DownloadableFile(
            str(file.file.name), file.download_name, file.media_type, file.size, file.sha256
        )
        return downloads.send_file(request._request, kept)


class Zip(FileResponse):
    """All files of a release."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    shows = AuditedContent.FILE

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request, study: str, number: int) -> HttpResponseBase:
        """Download all files of a release as one ZIP, also before publication. The header Range is not supported."""
        bundle = storage.zip_bundle(_release(self))
        if bundle is None:
            raise Problem("gone", "This release has no files: it is not built, or all files were removed.")
        self.about(None)
        return downloads.send_zip(request._request, bundle.parts, name=bundle.name, tag=bundle.tag)


def _release(endpoint: Endpoint) -> Release:
    rows = Release.objects.filter(study=endpoint.study)
    return endpoint.one(rows, number=endpoint.kwargs["number"])


SEEN = Need(Role.EDITOR)
# Links give access to people outside the study, so a token that may only change the study is not enough.
GIVEN = Need(Role.EDITOR, Scope.MANAGE)
MOST_DAYS = 365


class LinkRow(serializers.ModelSerializer[ReleaseLink]):
    """A private link to a release. Its URL was shown only once, when it was created."""

    by = serializers.EmailField(source="created_by.email", default=None, allow_null=True)

    class Meta:
        model = ReleaseLink
        fields = ["id", "label", "by", "created_at", "expires_at", "revoked_at", "used_at"]
        extra_kwargs = {
            "label": {"help_text": "A note on who gets the link."},
            "used_at": {"help_text": "Approximate time of last use."},
        }


class NewLinkRow(LinkRow):
    """A private link that was just created."""

    address = serializers.SerializerMethodField(
        help_text="URL of the link. It is shown only once and not stored. Null if the request is repeated."
    )

    class Meta(LinkRow.Meta):
        fields = [*LinkRow.Meta.fields, "address"]

    def get_address(self, _link: ReleaseLink) -> str | None:
        """URL of the link; null if the request is repeated."""
        return self.context.get("address")


class NewLink(RequestBody):
    """The recipient of a private link, and when it expires."""

    label = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")  # type: ignore[assignment] # a field, and no attribute
    days = serializers.IntegerField(min_value=1, max_value=MOST_DAYS, required=False, default=30)


class Links(ListEndpoint):
    """List the private links to a release, including revoked and expired ones."""

    needs: ClassVar = {"GET": SEEN, "POST": GIVEN}
    queryset = ReleaseLink.objects.all()
    serializer_class = LinkRow

    def rows(self) -> QuerySet[ReleaseLink]:
        """Return the links to the release that the address names."""
        return _links_of(self)

    @extend_schema(request=NewLink, responses={201: NewLinkRow})
    def post(self, request: Request, study: str, number: int) -> Response:
        """Create a private link to the files of a release, before or instead of publishing it.

        The answer contains the URL of the link, only this once. It is null if you repeat the request with the same
        Idempotency-Key.
        """
        body = self.validated(NewLink)
        release = self.one(Release.objects.filter(study=self.study), number=number)
        until = timezone.now() + timedelta(days=body["days"])
        try:
            link, key = services.create_link(release=release, expires_at=until, label=body["label"], by=self.user)
        except services.ReleaseError as error:
            raise Problem("conflict", str(error)) from None
        address = request.build_absolute_uri(reverse("private_release", args=[key]))
        where = request.build_absolute_uri(reverse("api_release_link", args=[self.study.slug, number, link.pk]))
        response = Response(_serialize_link(link, address), status=201, headers={"Location": where})
        response.kept_data = _serialize_link(link)  # type: ignore[attr-defined]
        return response


class OneLink(Endpoint):
    """A private link to a release."""

    needs: ClassVar = {"GET": SEEN, "DELETE": GIVEN}
    serializer_class = LinkRow

    def get(self, request: Request, study: str, number: int, link: int) -> Response:
        """Show a private link, without its URL."""
        return Response(LinkRow(self.one(_links_of(self), pk=link)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, study: str, number: int, link: int) -> Response:
        """Revoke a private link. It stays listed. Repeating the request has no further effect."""
        services.revoke_link(link=self.one(_links_of(self), pk=link))
        return Response(status=204)


def _serialize_link(link: ReleaseLink, address: str | None = None) -> Any:
    return NewLinkRow(link, context={"address": address}).data


def _links_of(endpoint: Endpoint) -> QuerySet[ReleaseLink]:
    release = endpoint.one(Release.objects.filter(study=endpoint.study), number=endpoint.kwargs["number"])
    return ReleaseLink.objects.filter(release=release).select_related("created_by")
