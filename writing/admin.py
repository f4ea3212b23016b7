"""The read-only admin of writing."""

from django.contrib import admin

from crowdrag.studies.admin import OfPeople, ReadOnlyAdmin

from .models import Passage, Response, Style, Survey, Topic, WritingLog, WritingTask


@admin.register(Topic)
class TopicAdmin(ReadOnlyAdmin):
    """All versions of topics."""

    list_display = ["external_id", "version", "query", "study"]
    list_filter = ["study"]
    search_fields = ["external_id", "query"]


@admin.register(Passage)
class PassageAdmin(ReadOnlyAdmin):
    """All versions of passages."""

    list_display = ["external_id", "version", "study"]
    list_filter = ["study"]
    search_fields = ["external_id"]
    show_full_result_count = False


@admin.register(Style, Survey)
class VersionedAdmin(ReadOnlyAdmin):
    """All versions of styles and surveys."""

    list_display = ["name", "version", "study", "created_at"]
    list_filter = ["study"]


@admin.register(WritingTask)
class WritingTaskAdmin(OfPeople, ReadOnlyAdmin):
    """Writing tasks and their states."""

    list_display = ["external_id", "topic", "style", "participant", "state"]
    list_filter = ["state", "study"]
    list_select_related = ["topic", "style", "participant"]
    search_fields = ["external_id"]


@admin.register(Response)
class ResponseAdmin(OfPeople, ReadOnlyAdmin):
    """Responses."""

    list_display = ["external_id", "topic", "style", "participant", "origin", "words", "is_included"]
    list_filter = ["origin", "is_included", "study"]
    list_select_related = ["topic", "style", "participant"]
    search_fields = ["external_id"]


@admin.register(WritingLog)
class WritingLogAdmin(OfPeople, ReadOnlyAdmin):
    """Logs, without their content."""

    list_display = ["task", "source", "started_at"]
    list_filter = ["source"]
    list_select_related = ["task"]
