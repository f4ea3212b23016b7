"""Judging in the operator's admin. Everything is read-only."""

from django.contrib import admin

from crowdrag.studies.admin import OfPeople, ReadOnlyAdmin

from .models import Assignment, Campaign, Dimension, Instructions, Judgment, Questionnaire


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    """Campaigns."""

    list_display = ["name", "study", "kind", "judges", "inference", "k", "state", "is_simulated"]
    list_filter = ["kind", "judges", "state", "study"]


@admin.register(Dimension, Instructions)
class VersionedAdmin(ReadOnlyAdmin):
    """All versions of dimensions and instructions."""

    list_display = ["name", "version", "study", "created_at"]
    list_filter = ["study"]


@admin.register(Questionnaire)
class QuestionnaireAdmin(ReadOnlyAdmin):
    """Questionnaires."""

    list_display = ["external_id", "campaign", "created_at"]
    list_filter = ["campaign"]
    search_fields = ["external_id"]


@admin.register(Assignment)
class AssignmentAdmin(OfPeople, ReadOnlyAdmin):
    """Assignments with their states."""

    list_display = ["id", "questionnaire_id", "participant", "state", "is_included", "submitted_at"]
    list_filter = ["state", "is_included", "questionnaire__campaign"]
    list_select_related = ["participant"]


@admin.register(Judgment)
class JudgmentAdmin(OfPeople, ReadOnlyAdmin):
    """Judgments as given."""

    list_display = ["id", "assignment_id", "item_id", "dimension", "value", "repeat", "judged_at"]
    list_filter = ["dimension"]
    list_select_related = ["dimension"]
    show_full_result_count = False
