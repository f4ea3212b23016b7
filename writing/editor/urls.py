"""Addresses: the editor."""

from django.urls import path

from . import views

urlpatterns = [
    path("work/<slug:taking_part>/writing/<str:task>/write/", views.editor, name="writing_editor"),
    path("work/<slug:taking_part>/writing/<str:task>/sessions/", views.session, name="writing_session"),
    path("work/<slug:taking_part>/writing/<str:task>/finish/", views.finish, name="writing_finish"),
]
