"""URLs of model judges."""

from django.urls import include, path

from . import api, views

JUDGES = [
    path("", views.judges, name="model_judges"),
    path("new/", views.order, name="model_judges_new"),
    path("measure/", views.measure, name="model_judges_measure"),
    path("train/", views.train, name="model_judges_train"),
    path("<uuid:key>/", views.run, name="model_judges_run"),
]
JUDGES_API = [
    path("", api.ModelJudges.as_view(), name="api_model_judges"),
    path("estimate/", api.ModelJudgesEstimated.as_view(), name="api_model_judges_estimate"),
    path("train/", api.JudgesTrained.as_view(), name="api_model_judges_train"),
    path("measure/", api.JudgesMeasured.as_view(), name="api_model_judges_measure"),
    path("measure/estimate/", api.MeasuringEstimated.as_view(), name="api_model_judges_measure_estimate"),
    path("runs/<uuid:key>/answers/", api.JudgeAnswers.as_view(), name="api_model_judges_answers"),
    path("runs/<uuid:key>/measured/", api.JudgeMeasured.as_view(), name="api_model_judges_measured"),
]
urlpatterns = [
    path("api/v1/studies/<slug:study>/judges/", include(JUDGES_API)),
    path("studies/<slug:slug>/judges/", include(JUDGES)),
]
