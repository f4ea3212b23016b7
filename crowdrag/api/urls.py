"""URLs of the API's core. Endpoints of other apps are in their own urls, also under `api/v1/`."""

from django.urls import path

from . import views

urlpatterns = [
    path("api/", views.explorer, name="api"),
    path("api/problems/", views.problems, name="api_problems"),
    path("api/v1/schema/", views.schema, name="api_schema"),
]
