"""The app's pages and endpoints."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, views

API: list[URLPattern | URLResolver] = [
    path("", api.OneWebhook.as_view(), name="api_webhook"),
    path("secret/", api.WebhookSecret.as_view(), name="api_webhook_secret"),
    path("switch/", api.WebhookSwitch.as_view(), name="api_webhook_switch"),
    path("test/", api.WebhookTest.as_view(), name="api_webhook_test"),
    path("deliveries/", api.Deliveries.as_view(), name="api_deliveries"),
    path("deliveries/<int:delivery>/again/", api.DeliveryRetry.as_view(), name="api_delivery_again"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:slug>/webhooks/", views.webhooks, name="webhooks"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/", views.webhook, name="webhook"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/secret/", views.renew_secret, name="webhook_secret"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/test/", views.send_test, name="webhook_test"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/switch/", views.switch, name="webhook_switch"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/remove/", views.remove, name="webhook_remove"),
    path(
        "studies/<slug:slug>/webhooks/<uuid:key>/redeliver/<int:delivery>/", views.redeliver, name="webhook_redeliver"
    ),
    path("api/v1/studies/<slug:study>/webhooks/", api.Webhooks.as_view(), name="api_webhooks"),
    path("api/v1/studies/<slug:study>/webhooks/<uuid:key>/", include(API)),
]
