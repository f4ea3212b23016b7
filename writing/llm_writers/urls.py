"""URLs of models as writers."""

from django.urls import path

from . import api, views

urlpatterns = [
    path("studies/<slug:slug>/writing/models/", views.writers, name="model_writers"),
    path("studies/<slug:slug>/writing/models/new/", views.order, name="model_campaign_new"),
    path("studies/<slug:slug>/writing/models/<uuid:key>/", views.campaign, name="model_campaign"),
    path("api/v1/studies/<slug:study>/writing/models/", api.ModelWriters.as_view(), name="api_model_writers"),
    path(
        "api/v1/studies/<slug:study>/writing/models/estimate/",
        api.ModelWritersEstimated.as_view(),
        name="api_model_writers_estimate",
    ),
    path(
        "api/v1/studies/<slug:study>/writing/models/runs/<uuid:key>/answers/",
        api.WriterAnswers.as_view(),
        name="api_model_writers_answers",
    ),
]
