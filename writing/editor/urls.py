"""Addresses: the editor."""

from django.urls import path

from . import views

urlpatterns = [
    path("work/<slug:taking_part>/writing/<str:task>/write/", views.editor, name="writing_editor"),
    path("work/<slug:taking_part>/writing/<str:task>/sittings/", views.sitting, name="writing_sitting"),
    path("work/<slug:taking_part>/writing/<str:task>/finish/", views.finish, name="writing_finish"),
]
