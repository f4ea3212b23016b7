"""Addresses: imports."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("studies/<slug:slug>/import/", views.imports, name="import"),
    path("studies/<slug:slug>/import/<slug:name>/", views.importing, name="importing"),
    path("api/v1/studies/<slug:study>/imports/", api.Importers.as_view(), name="api_imports"),
    path("api/v1/studies/<slug:study>/imports/<slug:name>/", api.Import.as_view(), name="api_import"),
]
