"""The app's pages."""

from django.urls import path

from .views import campaigns, judging

urlpatterns = [
    path("studies/<slug:slug>/campaigns/", campaigns.campaigns, name="campaigns"),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", campaigns.campaign, name="campaign"),
    path("work/<slug:taking_part>/judging/<int:campaign>/", judging.start, name="judging_start"),
    path(
        "work/<slug:taking_part>/judging/<int:campaign>/<str:assignment>/",
        judging.questionnaire,
        name="judging_questionnaire",
    ),
]
