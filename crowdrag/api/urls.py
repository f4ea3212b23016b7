"""Addresses of the API's core. Endpoints of other apps stand in their own urls, under `api/v1/` as well."""

from django.urls import path

from . import views

urlpatterns = [
    path("api/", views.explorer, name="api"),
    path("api/problems/", views.problems, name="api_problems"),
    path("api/v1/schema/", views.schema, name="api_schema"),
]
