"""URLs of a campaign's setup."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, content_api, views

# Pages of a campaign's setup.
DRAFT = [
    path("setup/", views.setup, name="campaign_setup"),
    path("edit/", views.edit, name="campaign_edit"),
    path("edit/questions/", views.asked, name="campaign_questions"),
    path("edit/instructions/", views.instructions, name="campaign_instructions"),
    path("edit/consent/", views.consent, name="campaign_consent"),
    path("edit/goal/", views.goal, name="campaign_goal"),
    path("edit/expert-items/", views.expert_items, name="campaign_expert_items"),
    path("preview/", views.preview, name="campaign_preview"),
    path("preview/<int:number>/", views.questionnaire, name="campaign_try"),
    path("launch/", views.launch_page, name="campaign_launch"),
    path("duplicate/", views.duplicate, name="campaign_duplicate"),
    path("delete/", views.delete, name="campaign_delete"),
    path("archive/", views.archive, name="campaign_archive"),
    path("restore/", views.restore, name="campaign_restore"),
]
API: list[URLPattern | URLResolver] = [
    path("", api.OneCampaign.as_view(), name="api_campaign"),
    path("design/", content_api.Designed.as_view(), name="api_campaign_design"),
    path("questions/", content_api.Questions.as_view(), name="api_campaign_questions"),
    path("instructions/", content_api.Instructed.as_view(), name="api_campaign_instructions"),
    path("consent/", content_api.Consent.as_view(), name="api_campaign_consent"),
    path("checks/", content_api.Checks.as_view(), name="api_campaign_checks"),
    path("goal/", content_api.Goal.as_view(), name="api_campaign_goal"),
    path("goal/looks/", content_api.GoalLooks.as_view(), name="api_campaign_goal_looks"),
    path("forecast/", api.Forecast.as_view(), name="api_campaign_forecast"),
    path("draw/", api.Drawn.as_view(), name="api_campaign_draw"),
    path("extension/", api.Extended.as_view(), name="api_campaign_extension"),
    path("clone/", api.Cloned.as_view(), name="api_campaign_clone"),
    path("open/", api.Opened.as_view(), name="api_campaign_open"),
    path("pause/", api.Paused.as_view(), name="api_campaign_pause"),
    path("close/", api.Closed.as_view(), name="api_campaign_close"),
    path("reopen/", api.Reopened.as_view(), name="api_campaign_reopen"),
]
urlpatterns = [
    path("api/v1/studies/<slug:study>/campaigns/", api.Campaigns.as_view(), name="api_campaigns"),
    path("api/v1/studies/<slug:study>/campaigns/<int:campaign>/", include(API)),
    path("studies/<slug:slug>/campaigns/new/", views.new, name="campaign_new"),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", include(DRAFT)),
]
