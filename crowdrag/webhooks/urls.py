"""The app's pages."""

from django.urls import URLPattern, URLResolver, path

from .views import listing, page

urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:slug>/webhooks/", listing.webhooks, name="webhooks"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/", page.webhook, name="webhook"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/secret/", page.new_secret, name="webhook_secret"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/test/", page.test, name="webhook_test"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/switch/", page.switch, name="webhook_switch"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/remove/", page.remove, name="webhook_remove"),
    path("studies/<slug:slug>/webhooks/<uuid:key>/again/<int:delivery>/", page.again, name="webhook_again"),
]
