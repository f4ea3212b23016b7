"""URLs of the replay of a log."""

from django.urls import path

from ..converters import IDENTIFIER  # noqa: F401 -- the import registers it
from . import views

urlpatterns = [
    path("studies/<slug:slug>/responses/<identifier:external_id>/replay/log/", views.replay_log, name="replay_log"),
    path("studies/<slug:slug>/responses/<identifier:external_id>/replay/", views.replay, name="replay"),
]
