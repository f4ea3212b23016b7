"""The app's pages and endpoints."""

from django.urls import URLPattern, URLResolver, include, path

from .api import webhooks as api
from .views import listing, page

API: list[URLPattern | URLResolver] = [
    path("", api.OneWebhook.as_view(), name="api_webhook"),
    path("secret/", api.Secret.as_view(), name="api_webhook_secret"),
    path("switch/", api.Switched.as_view(), name="api_webhook_switch"),
    path("test/", api.Test.as_view(), name="api_webhook_test"),
    path("deliveries/", api.Deliveries.as_view(), name="api_deliveries"),
    path("deliveries/<int:delivery>/again/", api.Again.as_view(), name="api_delivery_again"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:slug>/webhooks/", listing.webhooks, name="webhooks"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/", page.webhook, name="webhook"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/secret/", page.new_secret, name="webhook_secret"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/test/", page.test, name="webhook_test"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/switch/", page.switch, name="webhook_switch"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/remove/", page.remove, name="webhook_remove"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/again/<int:delivery>/", page.again, name="webhook_again"),
    path("api/v1/studies/<slug:study>/webhooks/", api.Webhooks.as_view(), name="api_webhooks"),
    path("api/v1/studies/<slug:study>/webhooks/<uuid:key>/", include(API)),
]
