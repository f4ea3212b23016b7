"""Releases of a study: drafts, building, publishing, taking back."""

from collections.abc import Callable
from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies import codes
from crowdrag.studies.enums import Role
from writing.enums import Origin

from ..domain.pages import releases as page
from ..domain.releases import building, drafting, publishing
from ..domain.releases.choices import Choices, Logs, Passages, Pseudonyms, Timing
from ..domain.releases.formats.about import is_orcid
from ..enums import ReleaseState
from ..models import Release

CHANGED = Need(Role.EDITOR, Scope.WRITE)
BUILT = Need(Role.EDITOR, Scope.RUN)
PUBLISHED = Need(Role.OWNER, Scope.MANAGE)
DOI = r"^10\.[0-9]{4,9}/[^\s\"<>]+$"


class ReleaseRow(serializers.ModelSerializer[Release]):
    """A release as its study's members see it."""

    run = serializers.UUIDField(source="run.key", default=None, allow_null=True, help_text="Which built it.")
    creators = serializers.ListField(child=serializers.DictField())
    choices = serializers.DictField(help_text="What it holds.")
    figures = serializers.DictField(help_text="How much is in it.")
    left_out = serializers.ListField(child=serializers.DictField(), help_text="What is not in it, and why.")

    class Meta:
        model = Release
        fields = ["number", "state", "title", "description", "creators", "doi", "notes", "choices", "embargo_until",
                  "run", "figures", "left_out", "digest", "schema_version", "created_at", "built_at", "published_at",
                  "marked_at", "people_gone", "withdrawn_at", "withdrawn_reason"]  # fmt: skip


def a_valid_orcid(given: str) -> None:
    """Refuse what is no ORCID iD."""
    if given and not is_orcid(given):
        raise serializers.ValidationError(
            "An ORCID iD has four groups of four, the last one a check digit, as in 0000-0002-1825-0097."
        )


class Creator(RequestBody):
    """Somebody who made it."""

    name = serializers.CharField(max_length=200)
    affiliation = serializers.CharField(max_length=300, required=False, allow_blank=True)
    orcid = serializers.CharField(max_length=19, required=False, allow_blank=True, validators=[a_valid_orcid])


def _licence_field() -> serializers.CharField:
    return serializers.CharField(
        max_length=100, required=False, allow_blank=True, help_text="An SPDX licence expression.",
        validators=[codes.validate_licence],
    )  # fmt: skip


class Chosen(RequestBody):
    """What a release is to hold; what is left out is as usual, of a draft that is changed as it was."""

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
        help_text="Whose labels, grades and tables are in; left out of a new release: the latest analysis.",
    )
    timing = serializers.ChoiceField(Timing.choices, required=False)
    pseudonyms = serializers.ChoiceField(Pseudonyms.choices, required=False)


class ChangedRelease(RequestBody):
    """What is said of a release and what it is to hold; what is left out stays as it is."""

    title = serializers.CharField(max_length=300, required=False)
    description = serializers.CharField(max_length=20_000, required=False, allow_blank=True)
    creators = serializers.ListField(child=Creator(), required=False, max_length=200)
    doi = serializers.RegexField(DOI, max_length=200, required=False, allow_blank=True)
    notes = serializers.CharField(max_length=20_000, required=False, allow_blank=True)
    embargo_until = serializers.DateTimeField(required=False, allow_null=True)
    choices = Chosen(required=False)


class NewRelease(ChangedRelease):
    """The next version of a study."""

    title = serializers.CharField(max_length=300)


class Reason(RequestBody):
    """Why a release is taken back; it stands on its page."""

    reason = serializers.CharField(max_length=5000)


class ReleaseFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Which releases."""

    state = django_filters.ChoiceFilter(choices=ReleaseState.choices)

    class Meta:
        model = Release
        fields = ["state"]


class Releases(ListEndpoint):
    """List the releases of a study, the newest first."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "POST": CHANGED}
    queryset = Release.objects.select_related("run")
    serializer_class = ReleaseRow
    filterset_class = ReleaseFilter
    order = ("-number", "-id")

    @extend_schema(request=NewRelease, responses={201: ReleaseRow})
    def post(self, request: Request, study: str) -> Response:
        """Make a draft of the next version."""
        given = self.given(NewRelease)
        usual = {"runs": page.latest_analysis(self.study)}
        choices = Choices.from_json(usual | _plain(given.pop("choices", {})))
        made = _done(drafting.create, "refused", study=self.study, choices=choices, by=self.user, **given)
        where = request.build_absolute_uri(reverse("api_release", args=[self.study.slug, made.number]))
        return Response(ReleaseRow(made).data, status=201, headers={"Location": where})


class OneRelease(Endpoint):
    """One release."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PATCH": CHANGED, "DELETE": CHANGED}
    serializer_class = ReleaseRow

    def get(self, request: Request, study: str, number: int) -> Response:
        """Show a release."""
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)

    @extend_schema(request=ChangedRelease, responses=ReleaseRow)
    def patch(self, request: Request, study: str, number: int) -> Response:
        """Change what is not published. One that is built already is a draft again."""
        given = self.given(ChangedRelease)
        with self.unchanged(_of(self).filter(number=number), ReleaseRow) as held:
            choices = Choices.from_json(held.choices | _plain(given.pop("choices", {})))
            _done(drafting.change, "conflict", release=held, choices=choices, **given)
            return Response(ReleaseRow(self.one(_of(self), number=number)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, study: str, number: int) -> Response:
        """Throw away what was never published."""
        _done(drafting.discard, "conflict", release=self.one(_of(self), number=number))
        return Response(status=204)


class Built(Endpoint):
    """The building of a release."""

    needs: ClassVar = {"POST": BUILT, "DELETE": BUILT}
    serializer_class = ReleaseRow

    @extend_schema(request=None, responses={202: ReleaseRow})
    def post(self, request: Request, study: str, number: int) -> Response:
        """Start building a draft; its `run` stands among the study's runs."""
        release = self.one(_of(self), number=number)
        page = request.build_absolute_uri(reverse("public_release", args=[self.study.slug, number]))
        _done(building.start, "conflict", release=release, by=self.user, address=page)
        return Response(ReleaseRow(self.one(_of(self), number=number)).data, status=202)

    @extend_schema(responses={200: ReleaseRow})
    def delete(self, request: Request, study: str, number: int) -> Response:
        """Stop building: it is a draft again."""
        _done(building.stop, "conflict", release=self.one(_of(self), number=number), by=self.user)
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)


class Published(Endpoint):
    """A release that is published."""

    needs: ClassVar = {"POST": PUBLISHED}

    @extend_schema(request=None, responses=ReleaseRow)
    def post(self, request: Request, study: str, number: int) -> Response:
        """Publish a release that is built. From now on it is what it is."""
        release = self.one(_of(self), number=number)
        _done(publishing.publish, "conflict", release=release, by=self.user)
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)


class Unembargoed(Endpoint):
    """A release whose files are given out."""

    needs: ClassVar = {"POST": PUBLISHED}

    @extend_schema(request=None, responses=ReleaseRow)
    def post(self, request: Request, study: str, number: int) -> Response:
        """Give the files of a published release out from now on."""
        _done(publishing.lift_embargo, "conflict", release=self.one(_of(self), number=number))
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)


class Withdrawn(Endpoint):
    """A release that was taken back."""

    needs: ClassVar = {"POST": PUBLISHED}

    @extend_schema(request=Reason, responses=ReleaseRow)
    def post(self, request: Request, study: str, number: int) -> Response:
        """Take a published release back: its page stays and says why, its files are given to nobody any more."""
        release, reason = self.one(_of(self), number=number), self.given(Reason)["reason"]
        _done(publishing.withdraw, "conflict", release=release, reason=reason, by=self.user)
        return Response(ReleaseRow(self.one(_of(self), number=number)).data)


def _of(endpoint: Endpoint) -> QuerySet[Release]:
    return Release.objects.filter(study=endpoint.study).select_related("study", "run")


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    """Return choices as they are kept: keys of runs are texts."""
    runs = {"runs": [str(key) for key in given["runs"]]} if "runs" in given else {}
    return {**given, **runs}


def _done(change: Callable[..., Any], code: str, **given: Any) -> Any:
    """Have something done with a release, or say why it cannot be."""
    try:
        return change(**given)
    except drafting.ChoiceError as error:
        raise Problem("refused", str(error)) from None
    except drafting.ReleaseError as error:
        raise Problem(code, str(error)) from None
