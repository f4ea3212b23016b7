"""API of possible personal data in texts to be released: findings and decisions."""

from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody, StrictBooleanFilter
from crowdrag.studies.enums import AuditedContent, Role

from ...enums import PersonalKind, PersonalVerdict, TextSource
from . import services
from .models import PersonalDataFinding

MOST = 2**63 - 1


class WithTexts(serializers.ListSerializer[Any]):
    """Reads the texts of a page together."""

    def to_representation(self, data: Any) -> Any:
        """Return the rows with the text around each place."""
        return super().to_representation(services.shown(data))


class FindingRow(serializers.Serializer[services.FindingInText]):
    """A finding: a place in a text that looks like personal data, with the present text around it."""

    id = serializers.IntegerField(source="finding.pk")
    source = serializers.ChoiceField(TextSource.choices, source="finding.source")  # type: ignore[assignment] # a field, and no attribute
    kind = serializers.ChoiceField(PersonalKind.choices, source="finding.kind")
    participant = serializers.CharField(
        source="finding.participant.external_id", help_text="Pseudonym of the participant."
    )
    field = serializers.CharField(
        source="finding.field", help_text="For survey answers: the name of the question. Otherwise empty."
    )
    start = serializers.IntegerField(
        source="finding.start", help_text="Start position in the text, in Unicode code points."
    )
    end = serializers.IntegerField(source="finding.end")
    before = serializers.CharField()
    found = serializers.CharField(
        source="match",
    )
    after = serializers.CharField()
    is_there = serializers.BooleanField(help_text="Whether the text still contains the finding at this position.")
    in_passages = serializers.BooleanField(
        source="finding.in_passages",
        help_text=(
            "Whether the same text is also in a retrieved passage. It is then most likely about a public person."
        ),
    )
    found_at = serializers.DateTimeField(source="finding.found_at")
    verdict = serializers.CharField(source="finding.verdict", help_text="The decision. Empty: no decision yet.")
    reason = serializers.CharField(source="finding.reason")
    decided_at = serializers.DateTimeField(source="finding.decided_at", allow_null=True)
    by = serializers.EmailField(source="finding.decided_by.email", default=None, allow_null=True)

    class Meta:
        list_serializer_class = WithTexts


class FindingFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Filters of findings."""

    undecided = StrictBooleanFilter(
        method="only_undecided", help_text="True: only findings without a decision. False: only findings with one."
    )
    source = django_filters.ChoiceFilter(choices=TextSource.choices)
    kind = django_filters.ChoiceFilter(choices=PersonalKind.choices)
    verdict = django_filters.ChoiceFilter(choices=PersonalVerdict.choices)
    participant = django_filters.CharFilter(
        field_name="participant__external_id", max_length=200, help_text="Pseudonym of the participant."
    )

    class Meta:
        model = PersonalDataFinding
        fields: ClassVar[list[str]] = []

    def only_undecided(self, rows: Any, _name: str, is_undecided: bool) -> QuerySet[PersonalDataFinding]:
        """Keep those that wait, or those that do not."""
        return rows.undecided() if is_undecided else rows.exclude(verdict="")  # type: ignore[no-any-return]


class Verdict(RequestBody):
    """A decision about one or several findings. A later decision replaces it."""

    findings = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MOST), min_length=1, max_length=1000
    )
    verdict = serializers.ChoiceField(PersonalVerdict.choices)
    reason = serializers.CharField(
        max_length=500, required=False, allow_blank=True, default="",
        help_text="Required if the verdict is `KEEP`.",
    )  # fmt: skip


class DecidedRow(serializers.Serializer[Any]):
    """The result of a decision."""

    decided = serializers.IntegerField(
        help_text=("Number of decided findings. Findings that are not in the study are ignored.")
    )


class Findings(ListEndpoint):
    """List the places that look like personal data, with the text around each. The build of a release finds them."""

    needs: ClassVar = {"GET": Need(Role.REVIEWER)}
    shows = AuditedContent.PEOPLE
    queryset = PersonalDataFinding.objects.select_related("participant", "decided_by")
    serializer_class = FindingRow
    filterset_class = FindingFilter


class Verdicts(Endpoint):
    """Decisions about findings of personal data."""

    needs: ClassVar = {"POST": Need(Role.REVIEWER, Scope.WRITE)}

    @extend_schema(request=Verdict, responses=DecidedRow)
    def post(self, request: Request, study: str) -> Response:
        """Decide about findings for all future releases: release the place, redact it, or leave out the whole text."""
        body = self.validated(Verdict)
        verdict = PersonalVerdict(body.pop("verdict"))
        try:
            done = services.decide(study=self.study, verdict=verdict, by=self.user, **body)
        except services.VerdictError as error:
            pointer = "#/reason" if verdict == PersonalVerdict.KEEP else "#/verdict"
            errors = [{"pointer": pointer, "detail": str(error), "code": "refused"}]
            raise Problem("refused", str(error), errors=errors) from None
        return Response(DecidedRow({"decided": done}).data)
