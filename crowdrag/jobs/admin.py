"""Runs in the operator's admin."""

from django.contrib import admin

from crowdrag.studies.admin import UneditedAdmin

from .models import Artifact, Run, ScheduledTask, Unit, Upload, WorkerHeartbeat


@admin.register(Run)
class RunAdmin(UneditedAdmin):
    """Runs."""

    list_display = ("key", "study", "kind", "queue", "state", "created_by", "created_at", "finished_at")
    list_filter = ("state", "kind", "queue")
    list_select_related = ("study", "created_by")
    search_fields = ("key", "study__slug", "study__title")
    ordering = ("-created_at", "-id")


@admin.register(Unit)
class UnitAdmin(UneditedAdmin):
    """Units of runs."""

    list_display = ("run", "position", "state", "fence", "attempts", "lost", "worker", "due_at", "lease_until")
    list_filter = ("state", "run__queue")
    list_select_related = ("run",)
    search_fields = ("run__key", "worker")
    ordering = ("-id",)


@admin.register(Artifact)
class ArtifactAdmin(UneditedAdmin):
    """Files of runs."""

    list_display = ("name", "run", "media_type", "size", "created_at")
    list_select_related = ("run",)
    search_fields = ("name", "run__key")
    ordering = ("-id",)


@admin.register(Upload)
class UploadAdmin(UneditedAdmin):
    """Input files."""

    list_display = ("name", "study", "size", "uploaded_by", "uploaded_at")
    list_select_related = ("study", "uploaded_by")
    search_fields = ("name", "sha256")
    ordering = ("-id",)


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatAdmin(UneditedAdmin):
    """Heartbeats of workers."""

    list_display = ("name", "queue", "at")
    list_filter = ("queue",)
    ordering = ("-at", "-id")


@admin.register(ScheduledTask)
class ScheduledTaskAdmin(UneditedAdmin):
    """Scheduled tasks."""

    list_display = ("name", "at")
    ordering = ("name",)
