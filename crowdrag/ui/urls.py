"""The page of all components, and the documentation site."""

from django.urls import path

from . import views

urlpatterns = [
    path("components/", views.components, name="components"),
    path("docs/", views.documentation_site, name="documentation"),
    path("docs/<path:path>", views.documentation_site, name="documentation"),
]
