"""The operator's view of studies and people.

Django's admin classes take a type argument in the stubs and none at run time: hence the ignored type-arg.
"""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.utils.translation import gettext_lazy as _

from .models import Consent, ConsentText, Membership, Participant, Study, User


class UneditedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that only the system writes: to look at, and to delete."""

    def has_add_permission(self, *args: Any) -> bool:
        """Nothing is added by hand."""
        return False

    def has_change_permission(self, *args: Any) -> bool:
        """Nothing is changed by hand."""
        return False


class ReadOnlyAdmin(UneditedAdmin):
    """Rows that are looked at here, nothing more."""

    def has_delete_permission(self, *args: Any) -> bool:
        """Nothing is deleted by hand: erasure has its own way."""
        return False


@admin.register(User)
class EmailUserAdmin(UserAdmin):  # type: ignore[type-arg]
    """Users by e-mail address."""

    list_display = ["email", "name", "is_active", "is_staff", "last_login"]
    search_fields = ["email", "name"]
    ordering = ["email"]
    fieldsets = [
        (None, {"fields": ["email", "password", "name"]}),
        (_("Rights"), {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]}),
        (_("Dates"), {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [
        (None, {"classes": ["wide"], "fields": ["email", "name", "usable_password", "password1", "password2"]})
    ]


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    """A study's members."""

    model = Membership
    fk_name = "study"
    extra = 0
    autocomplete_fields = ["user"]
    fields = ["user", "role", "added_at"]


@admin.register(Study)
class StudyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Studies."""

    list_display = ["slug", "title", "language", "is_simulated", "created_at"]
    search_fields = ["slug", "title"]
    inlines = [MembershipInline]


@admin.register(Participant)
class ParticipantAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Participants; the platform's id stays closed."""

    list_display = ["external_id", "study", "kind", "is_simulated", "created_at"]
    list_filter = ["kind", "is_simulated", "study"]
    search_fields = ["external_id"]
    exclude = ["identity", "identity_hash"]


@admin.register(ConsentText)
class ConsentTextAdmin(ReadOnlyAdmin):
    """Consent texts; a change makes a new version."""

    list_display = ["study", "name", "version", "text_licence", "created_at"]


@admin.register(Consent)
class ConsentAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Who consented to what."""

    list_display = ["participant", "text", "given_at", "withdrawn_at"]
    raw_id_fields = ["participant", "text"]
