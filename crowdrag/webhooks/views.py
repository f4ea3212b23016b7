"""Pages of webhooks: the list, and one webhook with its deliveries."""

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from . import outbox, services
from .enums import CHOSEN, DeliveryState
from .forms import WebhookForm
from .models import Delivery, Webhook


@study_page(Role.OWNER)
@never_cache
def webhooks(request: HttpRequest, study: Study) -> HttpResponse:
    """List the webhooks of a study; create one, and show its secret once."""
    if request.method != "POST":
        return _show_list(request, study, WebhookForm(initial={"events": CHOSEN}))
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _show_list(request, study, form, status=422)
    try:
        created = services.create(study=study, by=request.user, now=timezone.now(), **form.cleaned_data)  # type: ignore[arg-type]
    except services.WebhookError as error:
        form.add_error(None, str(error))
        return _show_list(request, study, form, status=422)
    return _show_list(request, study, WebhookForm(initial={"events": CHOSEN}), created=created)


def _show_list(
    request: HttpRequest,
    study: Study,
    form: WebhookForm,
    *,
    created: services.CreatedWebhook | None = None,
    status: int = 200,
) -> HttpResponse:
    rows = Webhook.objects.filter(study=study).newest_first()
    context = {"webhooks": rows, "form": form, "made": created, "section": "webhooks"}
    return render(request, "webhooks/list.html", context, status=status)


ROWS = 50


@study_page(Role.OWNER)
@never_cache
def webhook(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Show a webhook with its deliveries; change it."""
    subscription = get_object_or_404(Webhook, study=study, key=key)
    if request.method != "POST":
        return _show_webhook(request, subscription)
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _show_webhook(request, subscription, form, status=422)
    try:
        services.change(webhook=subscription, **form.cleaned_data)
    except services.WebhookError as error:
        form.add_error(None, str(error))
        return _show_webhook(request, get_object_or_404(Webhook, study=study, key=key), form, status=422)
    messages.success(request, "The webhook is saved.")
    return redirect("webhook", study.slug, key)


@study_page(Role.OWNER)
@require_POST
@never_cache
def renew_secret(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Create a new secret, and show it once."""
    subscription = get_object_or_404(Webhook, study=study, key=key)
    renewed = services.renew_secret(webhook=subscription, now=timezone.now())
    return _show_webhook(request, renewed.webhook, created=renewed)


@study_page(Role.OWNER)
@require_POST
def send_test(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Send a test message."""
    subscription = get_object_or_404(Webhook, study=study, key=key)
    if subscription.is_on:
        outbox.publish_test(webhook=subscription, now=timezone.now())
        messages.success(request, "A test message is being sent. Check the result in a moment.")
    else:
        messages.error(request, "The webhook is turned off. Turn it on first.")
    return redirect("webhook", study.slug, key)


@study_page(Role.OWNER)
@require_POST
def switch(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Switch a webhook off; with `on`, switch it on again."""
    subscription = get_object_or_404(Webhook, study=study, key=key)
    if "on" in request.POST:
        services.switch_on(webhook=subscription, now=timezone.now())
        messages.success(request, "The webhook is on. Pending messages are sent now.")
    else:
        services.switch_off(webhook=subscription)
        messages.success(
            request,
            "The webhook is off. Pending messages are kept. Events that happen while it is off are not sent later.",
        )
    return redirect("webhook", study.slug, key)


@study_page(Role.OWNER)
@require_POST
def remove(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Delete a webhook."""
    services.remove(webhook=get_object_or_404(Webhook, study=study, key=key))
    messages.success(request, "The webhook is removed. No more messages are sent to its URL.")
    return redirect("webhooks", study.slug)


@study_page(Role.OWNER)
@require_POST
def redeliver(request: HttpRequest, study: Study, key: UUID, delivery: int) -> HttpResponse:
    """Send a message again."""
    delivery_row = get_object_or_404(
        Delivery.objects.select_related("webhook"), pk=delivery, webhook__key=key, webhook__study=study
    )
    try:
        services.send_again(delivery=delivery_row, now=timezone.now())
        messages.success(request, "The message is sent again with the same ID.")
    except services.WebhookError as error:
        messages.error(request, str(error))
    return redirect("webhook", study.slug, key)


def _show_webhook(
    request: HttpRequest,
    subscription: Webhook,
    form: WebhookForm | None = None,
    *,
    created: services.CreatedWebhook | None = None,
    status: int = 200,
) -> HttpResponse:
    deliveries = Delivery.objects.filter(webhook=subscription).select_related("message").newest_first()
    state = request.GET.get("state", "")
    if state in DeliveryState.values:
        deliveries = deliveries.filter(state=state)
    context = {
        "webhook": subscription,
        "page": Paginator(deliveries, ROWS).get_page(request.GET.get("page")),
        "states": DeliveryState.choices,
        "chosen": state,
        "form": form or WebhookForm(initial={name: getattr(subscription, name) for name in WebhookForm.base_fields}),
        "is_changing": form is not None,
        "made": created,
        "section": "webhooks",
    }
    return render(request, "webhooks/webhook.html", context, status=status)
