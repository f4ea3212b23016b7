"""Pages of runs."""

from django.urls import path

from . import api, downloads, views

urlpatterns = [
    path("services/", views.services, name="services"),
    path("studies/<slug:slug>/runs/", views.run_list, name="runs"),
    path("studies/<slug:slug>/runs/<uuid:key>/", views.run_page, name="run"),
    path("studies/<slug:slug>/runs/<uuid:key>/progress/", views.run_progress, name="run_progress"),
    path("studies/<slug:slug>/runs/<uuid:key>/cancel/", views.cancel, name="run_cancel"),
    path("studies/<slug:slug>/runs/<uuid:key>/resume/", views.resume, name="run_resume"),
    path("studies/<slug:slug>/runs/<uuid:key>/files/<str:name>", downloads.download, name="run_file"),
    path("api/v1/studies/<slug:study>/uploads/", api.Uploads.as_view(), name="api_uploads"),
    path("api/v1/studies/<slug:study>/runs/", api.Runs.as_view(), name="api_runs"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/", api.OneRun.as_view(), name="api_run"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/cancel/", api.RunCancellation.as_view(), name="api_run_cancel"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/resume/", api.RunResumption.as_view(), name="api_run_resume"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/artifacts/", api.Artifacts.as_view(), name="api_artifacts"),
    path(
        "api/v1/studies/<slug:study>/runs/<uuid:key>/artifacts/<str:name>",
        downloads.ArtifactFile.as_view(),
        name="api_artifact",
    ),
]
