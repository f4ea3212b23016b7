"""URLs of imports."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("studies/<slug:slug>/import/", views.imports, name="import"),
    path("studies/<slug:slug>/import/runs/<uuid:key>/delete/", views.import_delete, name="import_delete"),
    path("studies/<slug:slug>/paste-topics/", views.import_paste, name="import_paste"),
    path("studies/<slug:slug>/import/<slug:name>/", views.import_form, name="import_form"),
    path("studies/<slug:slug>/import/<slug:name>/<int:key>/", views.import_columns, name="import_columns"),
    path("api/v1/studies/<slug:study>/imports/", api.Importers.as_view(), name="api_imports"),
    path("api/v1/studies/<slug:study>/imports/<slug:name>/", api.Import.as_view(), name="api_import"),
]
