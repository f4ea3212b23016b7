"""URLs of the editor."""

from django.urls import path

from . import views

urlpatterns = [
    path("work/<slug:taking_part>/writing/<str:task_id>/write/", views.editor, name="writing_editor"),
    path("work/<slug:taking_part>/writing/<str:task_id>/sessions/", views.session, name="writing_session"),
    path("work/<slug:taking_part>/writing/<str:task_id>/finish/", views.finish, name="writing_finish"),
]
