"""The page of all components."""

from django.urls import path

from . import views

urlpatterns = [path("components/", views.components, name="components")]
