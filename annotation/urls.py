"""The app's pages."""

from django.urls import path

from .views import campaigns

urlpatterns = [
    path("studies/<slug:slug>/campaigns/", campaigns.campaigns, name="campaigns"),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", campaigns.campaign, name="campaign"),
]
