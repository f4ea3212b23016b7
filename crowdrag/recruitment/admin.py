"""The operator's admin pages: read-only, since changes would bypass the platform."""

from django.contrib import admin

from crowdrag.studies.admin import OfPeople, ReadOnlyAdmin

from .models import PlatformAction, PlatformEvent, PlatformStudy, Submission


@admin.register(PlatformStudy)
class PlatformStudyAdmin(ReadOnlyAdmin):
    """Studies on platforms."""

    list_display = ("name", "study", "purpose", "status", "places")


@admin.register(Submission)
class SubmissionAdmin(OfPeople, ReadOnlyAdmin):
    """Submissions."""

    list_display = ("external_id", "platform_study", "status", "status_at")
    exclude = ("identity_hash",)


@admin.register(PlatformAction)
class PlatformActionAdmin(OfPeople, ReadOnlyAdmin):
    """Platform actions."""

    list_display = ("key", "kind", "state", "tries", "error")


@admin.register(PlatformEvent)
class PlatformEventAdmin(OfPeople, ReadOnlyAdmin):
    """Events."""

    list_display = ("kind", "status", "sent_at", "handled_at", "note")
    exclude = ("identity_hash",)
