"""The URL of sample data."""

from django.urls import path

from . import views

urlpatterns = [path("studies/<slug:slug>/sample/", views.copy_sample, name="copy_sample")]
