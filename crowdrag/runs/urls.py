"""Pages of long work."""

from django.urls import path

from .views import files, listing, page, services

urlpatterns = [
    path("services/", services.services, name="services"),
    path("studies/<slug:slug>/runs/", listing.runs, name="runs"),
    path("studies/<slug:slug>/runs/<uuid:key>/", page.page, name="run"),
    path("studies/<slug:slug>/runs/<uuid:key>/progress/", page.moving, name="run_progress"),
    path("studies/<slug:slug>/runs/<uuid:key>/cancel/", page.cancel, name="run_cancel"),
    path("studies/<slug:slug>/runs/<uuid:key>/resume/", page.resume, name="run_resume"),
    path("studies/<slug:slug>/runs/<uuid:key>/files/<str:name>", files.download, name="run_file"),
]
