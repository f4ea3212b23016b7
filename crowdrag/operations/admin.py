"""The operator's admin pages of operations, read-only."""

from django.contrib import admin

from crowdrag.studies.admin import ReadOnlyAdmin

from .models import Backup, Machine, Removal


@admin.register(Backup)
class BackupAdmin(ReadOnlyAdmin):
    """Backups and drills."""

    list_display = ("at", "kind", "file", "is_good", "seconds")
    list_filter = ("kind", "is_good")
    ordering = ("-at", "-id")


@admin.register(Machine)
class MachineAdmin(ReadOnlyAdmin):
    """Machines."""

    list_display = ("name", "at")
    ordering = ("name",)


@admin.register(Removal)
class RemovalAdmin(ReadOnlyAdmin):
    """Removals."""

    list_display = ("at", "by", "rule", "study_slug")
    list_select_related = ("by",)
    ordering = ("-at", "-id")
