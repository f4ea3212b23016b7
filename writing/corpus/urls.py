"""URLs of topics and responses."""

from django.urls import path

from ..converters import IDENTIFIER  # noqa: F401 -- the import registers it
from . import api, views

urlpatterns = [
    path("studies/<slug:slug>/topics/", views.topics, name="topics"),
    # An ID may contain slashes, so longer URLs must come before the URL that ends with the ID.
    path("studies/<slug:slug>/topics/<identifier:external_id>/", views.topic, name="topic"),
    path("studies/<slug:slug>/responses/", views.responses, name="responses"),
    path("studies/<slug:slug>/responses/<identifier:external_id>/", views.response, name="response"),
    path("api/v1/studies/<slug:study>/topics/", api.Topics.as_view(), name="api_topics"),
    path(
        "api/v1/studies/<slug:study>/topics/<identifier:external_id>/passages/",
        api.Passages.as_view(),
        name="api_passages",
    ),
    path("api/v1/studies/<slug:study>/topics/<identifier:external_id>/", api.OneTopic.as_view(), name="api_topic"),
    path("api/v1/studies/<slug:study>/responses/", api.Responses.as_view(), name="api_responses"),
    path(
        "api/v1/studies/<slug:study>/responses/<identifier:external_id>/log/",
        api.Log.as_view(),
        name="api_response_log",
    ),
    path(
        "api/v1/studies/<slug:study>/responses/<identifier:external_id>/",
        api.OneResponse.as_view(),
        name="api_response",
    ),
]
