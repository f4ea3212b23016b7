"""Addresses."""

from django.urls import URLPattern, URLResolver, path

from .views import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
