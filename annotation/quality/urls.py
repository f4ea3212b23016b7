"""URLs of attention checks, known labels and training."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, views

# Judges' pages; crowdrag/urls.py includes them before all others.
PEOPLE: list[URLPattern | URLResolver] = [
    path("<slug:taking_part>/judging/<int:campaign_id>/training/", views.train, name="judging_training"),
]
# A campaign's checks and screening.
QUALITY: list[URLPattern | URLResolver] = [
    path("checks/", views.checks, name="campaign_checks"),
    path("checks/add/", views.add, name="campaign_checks_add"),
    path("checks/<int:item_id>/", views.item_page, name="campaign_checks_item"),
]
API: list[URLPattern | URLResolver] = [
    path("known/", api.KnownItems.as_view(), name="api_known_labels"),
    path("known/<int:item>/", api.OneKnownItem.as_view(), name="api_known_label"),
    path("known-proposals/", api.Proposals.as_view(), name="api_known_label_proposals"),
]
urlpatterns = [
    path("api/v1/studies/<slug:study>/campaigns/<int:campaign>/", include(API)),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", include(QUALITY)),
]
