"""Endpoints of notes of staff."""

from typing import Any, ClassVar

import django_filters
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody

from ..enums import AuditedContent, Role
from ..participants.models import Participant
from . import services
from .models import StaffNote

READ, WRITE = Need(Role.REVIEWER), Need(Role.REVIEWER, Scope.WRITE)


class NoteRow(serializers.ModelSerializer[StaffNote]):
    """A note of staff on a participant or on their work. Participants never see it."""

    participant = serializers.CharField(source="participant.external_id", help_text="Pseudonym of the participant.")
    by = serializers.EmailField(source="by.email", default=None, allow_null=True)

    class Meta:
        model = StaffNote
        fields = ["id", "participant", "about", "text", "at", "by"]
        extra_kwargs = {"about": {"help_text": "ID of the task or questionnaire. Empty: a note on the participant."}}


class NewNote(RequestBody):
    """A note to write."""

    participant = serializers.CharField(max_length=200, help_text="Pseudonym of the participant.")
    about = serializers.CharField(
        max_length=200,
        required=False,
        allow_blank=True,
        default="",
        help_text="ID of the task or questionnaire. Empty: a note on the participant.",
    )
    text = serializers.CharField(max_length=services.MAX_LENGTH)


class NoteFilter(django_filters.FilterSet):  # type: ignore[misc] # it comes without types
    """Filters of notes."""

    participant = django_filters.CharFilter(
        field_name="participant__external_id", max_length=200, help_text="Pseudonym of the participant."
    )
    about = django_filters.CharFilter(max_length=200, help_text="ID of the task or questionnaire.")

    class Meta:
        model = StaffNote
        fields: ClassVar[list[str]] = []


class NoteList(ListEndpoint):
    """List the notes of staff in a study."""

    needs: ClassVar = {"GET": READ, "POST": WRITE}
    shows = AuditedContent.REVIEW
    queryset = StaffNote.objects.all()
    serializer_class = NoteRow
    filterset_class = NoteFilter
    order = ("id",)

    def rows(self) -> QuerySet[StaffNote]:
        """Return the notes of the study."""
        return StaffNote.objects.filter(participant__study=self.study).select_related("participant", "by")

    @extend_schema(request=NewNote, responses={201: NoteRow})
    def post(self, request: Request, study: str) -> Response:
        """Write a note on a participant or on their work. Repeating the request has no further effect."""
        data = self.validated(NewNote)
        people = Participant.objects.filter(study=self.study, external_id=data["participant"])
        person = people.order_by("pk").first()
        if person is None:
            detail = {"pointer": "#/participant", "detail": "No such participant.", "code": "unknown"}
            raise Problem("invalid", "This study has no such participant.", errors=[detail])
        try:
            note = services.add(
                participant=person, about=data["about"], text=data["text"], by=self.user, now=timezone.now()
            )
        except services.NoteError as error:
            raise Problem("conflict", str(error)) from None
        return Response(NoteRow(note).data, status=201)


class NoteDetail(Endpoint):
    """A note of staff."""

    needs: ClassVar = {"DELETE": WRITE}
    serializer_class = NoteRow

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, study: str, note: int, **named: Any) -> Response:
        """Remove a note. Only its author and owners of the study can."""
        rows = StaffNote.objects.filter(participant__study=self.study).select_related("participant")
        try:
            services.remove(note=self.one(rows, pk=note), by=self.user)
        except services.NoteError as error:
            raise Problem("forbidden", str(error)) from None
        return Response(status=204)
