"""URLs of the writing plan."""

from django.urls import include, path

from ..converters import IDENTIFIER  # noqa: F401 -- the import registers it
from . import api, views

PLAN = [
    path("", api.Plan.as_view(), name="api_plan"),
    path("forecast/", api.PlanForecast.as_view(), name="api_plan_forecast"),
    path("open/", api.PlanOpened.as_view(), name="api_plan_open"),
    path("close/", api.PlanClosed.as_view(), name="api_plan_close"),
    path("instructions/", api.WriterInstructions.as_view(), name="api_plan_instructions"),
    path("consent/", api.WriterConsent.as_view(), name="api_plan_consent"),
    path("questions/<str:kind>/", api.WriterQuestions.as_view(), name="api_plan_questions"),
    path("styles/", api.Styles.as_view(), name="api_plan_styles"),
    path("styles/<identifier:name>/", api.OneStyle.as_view(), name="api_plan_style"),
]
urlpatterns = [
    path("studies/<slug:slug>/writing/plan/", views.plan_page, name="writing_plan"),
    path("studies/<slug:slug>/writing/plan/state/", views.change_state, name="writing_plan_state"),
    path("studies/<slug:slug>/writing/plan/preview/", views.preview, name="writing_plan_preview"),
    path("studies/<slug:slug>/writing/plan/instructions/", views.instructions, name="writing_plan_instructions"),
    path("studies/<slug:slug>/writing/plan/consent/", views.consent, name="writing_plan_consent"),
    path("studies/<slug:slug>/writing/plan/questions/<str:kind>/", views.questions, name="writing_plan_questions"),
    path("studies/<slug:slug>/writing/plan/style/", views.style, name="writing_plan_style_new"),
    path("studies/<slug:slug>/writing/plan/style/<identifier:name>/", views.style, name="writing_plan_style"),
    path("api/v1/studies/<slug:study>/writing/plan/", include(PLAN)),
]
