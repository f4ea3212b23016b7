"""Pages of studies and people."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
