"""The operators' pages: which emails were sent. Addresses are shown to nobody."""

from django.contrib import admin

from crowdrag.studies.admin import ReadOnlyAdmin

from .models import Mail


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    """How far an email has got."""

    list_display = ("event", "participant", "state", "tries", "problem", "created_at", "sent_at")
    list_filter = ("state", "event")
    list_select_related = ("participant",)
