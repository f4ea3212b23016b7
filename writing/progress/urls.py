"""URLs of the progress of writing."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("studies/<slug:slug>/writing/", views.progress, name="writing_progress"),
    path("studies/<slug:slug>/writing/top-up/<int:writer>/", views.top_up, name="writing_top_up"),
    path("studies/<slug:slug>/writing/tables/<str:name>.csv", views.table, name="writing_table"),
    path("api/v1/studies/<slug:study>/writing/", api.Progress.as_view(), name="api_writing"),
    path("api/v1/studies/<slug:study>/writing/writers/", api.Writers.as_view(), name="api_writers"),
    path(
        "api/v1/studies/<slug:study>/writing/writers/<str:participant>/top-up/",
        api.ToppedUp.as_view(),
        name="api_writer_top_up",
    ),
]
