"""The operator's admin pages: which emails were sent. Addresses are never shown."""

from django.contrib import admin

from crowdrag.studies.admin import ReadOnlyAdmin

from .models import Mail


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    """The delivery state of emails."""

    list_display = ("event", "participant", "state", "tries", "problem", "created_at", "sent_at")
    list_filter = ("state", "event")
    list_select_related = ("participant",)
