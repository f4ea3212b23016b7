"""The operator's admin pages of payments, read-only."""

from django.contrib import admin

from crowdrag.studies.admin import ReadOnlyAdmin

from .models import PaymentList


@admin.register(PaymentList)
class PaymentListAdmin(ReadOnlyAdmin):
    """Payment lists."""

    list_display = ("study", "method", "state", "reference", "created_at", "created_by", "paid_at", "paid_by")
    list_select_related = ("study", "created_by", "paid_by")
