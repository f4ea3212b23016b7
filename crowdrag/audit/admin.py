"""The audit log in the operator's admin pages, read-only. The dashboards filter and export it."""

from django.contrib import admin

from crowdrag.accounts.models import SignInFailure
from crowdrag.studies.admin import ReadOnlyAdmin

from .models import AccessLogEntry


@admin.register(AccessLogEntry)
class AccessLogEntryAdmin(ReadOnlyAdmin):
    """Accesses to participants' data."""

    list_display = ("at", "by", "study_slug", "content", "page")
    list_filter = ("content",)
    list_select_related = ("by",)
    ordering = ("-at", "-id")


@admin.register(SignInFailure)
class SignInFailureAdmin(ReadOnlyAdmin):
    """Failed sign-ins."""

    list_display = ("at", "user", "address", "was_refused")
    list_select_related = ("user",)
    ordering = ("-at", "-id")
