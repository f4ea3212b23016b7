"""Addresses: a writer's pages around the editor."""

from django.urls import path

from . import views

urlpatterns = [
    path("work/<slug:taking_part>/writing/", views.start, name="writing_start"),
    path("work/<slug:taking_part>/writing/<str:task>/", views.step, name="writing_task"),
    path("work/<slug:taking_part>/writing/<str:task>/entry/", views.entry, name="writing_entry"),
    path("work/<slug:taking_part>/writing/<str:task>/exit/", views.leave, name="writing_exit"),
    path("work/<slug:taking_part>/writing/<str:task>/done/", views.done, name="writing_done"),
    path("work/<slug:taking_part>/writing/<str:task>/return/", views.give_back, name="writing_return"),
]
