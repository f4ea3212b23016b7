"""URLs of a writer's pages around the editor."""

from django.urls import path

from . import views

urlpatterns = [
    path("work/<slug:taking_part>/writing/", views.start, name="writing_start"),
    path("work/<slug:taking_part>/writing/<str:task_id>/", views.step, name="writing_task"),
    path("work/<slug:taking_part>/writing/<str:task_id>/entry/", views.entry, name="writing_entry"),
    path("work/<slug:taking_part>/writing/<str:task_id>/exit/", views.leave, name="writing_exit"),
    path("work/<slug:taking_part>/writing/<str:task_id>/done/", views.done, name="writing_done"),
    path("work/<slug:taking_part>/writing/<str:task_id>/return/", views.give_back, name="writing_return"),
]
