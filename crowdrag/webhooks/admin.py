"""The operator's admin pages: read-only, without secrets."""

from django.contrib import admin

from crowdrag.studies.admin import ReadOnlyAdmin

from .models import Delivery, Message, Webhook


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Webhooks."""

    list_display = ("address", "study", "state", "succeeded_at", "failed_at")
    list_select_related = ("study",)
    exclude = ("secret", "former_secret")


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    """Messages."""

    list_display = ("name", "event", "study", "created_at")
    list_select_related = ("study",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """Deliveries."""

    list_display = ("message", "webhook", "state", "tries", "status", "problem")
    list_select_related = ("message", "webhook")
