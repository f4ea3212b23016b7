"""URLs of running campaigns."""

from django.urls import include, path

from . import views

# Actions on a running campaign.
RUNNING = [
    path("pause/", views.pause, name="campaign_pause"),
    path("close/", views.close, name="campaign_close"),
    path("reopen/", views.reopen, name="campaign_reopen"),
    path("extend/", views.extend, name="campaign_extend"),
]
# Progress pages.
STANDING = [
    path("", views.campaign_page, name="campaign"),
    path("live/", views.live, name="campaign_live"),
    path("quality/", views.quality, name="campaign_quality"),
    path("participants/", views.participants, name="campaign_participants"),
    path("judges/", views.judges, name="campaign_judges"),
    path("tables/<str:name>.csv", views.table, name="campaign_table"),
]
urlpatterns = [
    path("studies/<slug:slug>/campaigns/", views.campaigns, name="campaigns"),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", include(STANDING)),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", include(RUNNING)),
]
