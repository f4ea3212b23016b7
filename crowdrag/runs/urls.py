"""Pages of long work."""

from django.urls import path

from .api import runs, uploads
from .views import files, listing, page, services

urlpatterns = [
    path("services/", services.services, name="services"),
    path("studies/<slug:slug>/runs/", listing.runs, name="runs"),
    path("studies/<slug:slug>/runs/<uuid:key>/", page.page, name="run"),
    path("studies/<slug:slug>/runs/<uuid:key>/progress/", page.moving, name="run_progress"),
    path("studies/<slug:slug>/runs/<uuid:key>/cancel/", page.cancel, name="run_cancel"),
    path("studies/<slug:slug>/runs/<uuid:key>/resume/", page.resume, name="run_resume"),
    path("studies/<slug:slug>/runs/<uuid:key>/files/<str:name>", files.download, name="run_file"),
    path("api/v1/studies/<slug:study>/uploads/", uploads.Uploads.as_view(), name="api_uploads"),
    path("api/v1/studies/<slug:study>/runs/", runs.Runs.as_view(), name="api_runs"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/", runs.OneRun.as_view(), name="api_run"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/cancel/", runs.Cancelled.as_view(), name="api_run_cancel"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/resume/", runs.Resumed.as_view(), name="api_run_resume"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/artifacts/", runs.Artifacts.as_view(), name="api_artifacts"),
    path("api/v1/studies/<slug:study>/runs/<uuid:key>/artifacts/<str:name>", files.File.as_view(), name="api_artifact"),
]
