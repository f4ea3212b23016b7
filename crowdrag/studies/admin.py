"""The operator's admin pages of studies and participants.

The stubs of Django's admin classes take a type argument that does not exist at run time: hence the ignored type-arg.
"""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from . import access
from .enums import AuditedContent
from .models import Consent, ConsentText, Participant, Study

admin.site.site_header = admin.site.site_title = "CrowdRAG"
admin.site.index_title = "Administration"


class OfPeople:
    """Rows with participants' data or identities: each access is recorded."""

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Show the list."""
        return _noted(request, super().changelist_view(request, *args, **kwargs))  # type: ignore[misc]

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        """Show one row."""
        access.audit_subject(request, None, int(object_id) if object_id.isdecimal() else None)
        return _noted(request, super().change_view(request, object_id, *args, **kwargs))  # type: ignore[misc]


def _noted(request: HttpRequest, answer: Any) -> Any:
    if answer.status_code not in access.UNAUDITED_STATUSES:
        access.record_access(request, None, AuditedContent.ADMIN)
    return answer


class UneditedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that only the system writes: they can be viewed and deleted."""

    def has_add_permission(self, *args: Any) -> bool:
        """Return False: rows are never added by hand."""
        return False

    def has_change_permission(self, *args: Any) -> bool:
        """Return False: rows are never changed by hand."""
        return False


class ReadOnlyAdmin(UneditedAdmin):
    """Rows that can only be viewed."""

    def has_delete_permission(self, *args: Any) -> bool:
        """Return False: rows are never deleted by hand, since erasure has its own procedure."""
        return False


@admin.register(Study)
class StudyAdmin(UneditedAdmin):
    """Studies; the study's own pages change it and its members."""

    list_display = ["slug", "title", "language", "is_simulated", "created_at"]
    search_fields = ["slug", "title"]


@admin.register(Participant)
class ParticipantAdmin(OfPeople, ReadOnlyAdmin):
    """Participants; the platform ID is not shown."""

    list_display = ["external_id", "study", "kind", "is_simulated", "created_at"]
    list_filter = ["kind", "is_simulated", "study"]
    search_fields = ["external_id"]
    exclude = ["identity", "identity_hash"]


@admin.register(ConsentText)
class ConsentTextAdmin(ReadOnlyAdmin):
    """Consent texts; a change makes a new version."""

    list_display = ["study", "name", "version", "text_licence", "created_at"]


@admin.register(Consent)
class ConsentAdmin(OfPeople, ReadOnlyAdmin):
    """Consents of participants."""

    list_display = ["participant", "text", "given_at", "withdrawn_at"]
    raw_id_fields = ["participant", "text"]
