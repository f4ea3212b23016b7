"""The operators' pages: everything to be read but the secrets, nothing to be changed behind the platform's back."""

from django.contrib import admin

from crowdrag.studies.admin import ReadOnlyAdmin

from .models import Delivery, Message, Webhook


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Who is told."""

    list_display = ("address", "study", "state", "succeeded_at", "failed_at")
    list_select_related = ("study",)
    exclude = ("secret", "former_secret")


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    """What was told."""

    list_display = ("name", "event", "study", "created_at")
    list_select_related = ("study",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """How far it has got."""

    list_display = ("message", "webhook", "state", "tries", "status", "problem")
    list_select_related = ("message", "webhook")
