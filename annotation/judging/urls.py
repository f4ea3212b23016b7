"""URLs of questionnaires: judges' pages and API."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, views

# Pages of one assigned questionnaire.
QUESTIONNAIRE = [
    path("", views.questionnaire, name="judging_questionnaire"),
    path("answer/", views.answer, name="judging_answer"),
    path("check/", views.check, name="judging_check"),
    path("confidence/", views.confidence, name="judging_confidence"),
    path("problem/", views.problem, name="judging_problem"),
    path("passages/<int:item>/", views.passages, name="judging_passages"),
    path("time/", views.time, name="judging_time"),
    path("submit/", views.submit, name="judging_submit"),
    path("return/", views.give_back, name="judging_return"),
    path("done/", views.done, name="judging_done"),
]
# Judges' pages; crowdrag/urls.py includes them before all others.
PEOPLE: list[URLPattern | URLResolver] = [
    path("<slug:taking_part>/judging/<int:campaign_id>/", views.start, name="judging_start"),
    path("<slug:taking_part>/judging/<int:campaign_id>/<str:assignment_id>/", include(QUESTIONNAIRE)),
]
SCREENING_API = [
    path("", api.OneAssignment.as_view(), name="api_assignment"),
]
API: list[URLPattern | URLResolver] = [
    path("assignments/", api.Assignments.as_view(), name="api_assignments"),
    path("assignments/<str:assignment>/", include(SCREENING_API)),
]
urlpatterns = [
    path("api/v1/studies/<slug:study>/campaigns/<int:campaign>/", include(API)),
    path("api/v1/studies/<slug:study>/judgments/", api.Judgments.as_view(), name="api_judgments"),
]
