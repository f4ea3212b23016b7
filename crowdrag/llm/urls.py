"""Pages of the gateway."""

from django.urls import path

from . import views

urlpatterns = [
    path("models/", views.models, name="models"),
    path("models/<int:pk>/try/", views.try_out, name="model_test"),
    path("studies/<slug:slug>/models/", views.study_models, name="study_models"),
]
