"""Addresses of the gateway's pages."""

from django.urls import path

from .views import endpoints, study

urlpatterns = [
    path("models/", endpoints.page, name="models"),
    path("models/<int:pk>/try/", endpoints.try_out, name="model_try"),
    path("studies/<slug:slug>/models/", study.page, name="study_models"),
]
