"""The app's pages."""

from django.urls import path

from . import views

urlpatterns = [
    path("hooks/prolific/", views.prolific_webhook, name="prolific_hook"),
    path("studies/<slug:slug>/recruitment/", views.recruitment_list, name="recruitments"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/", views.recruitment_page, name="recruitment"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/new/", views.new_draft, name="recruitment_new"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/send/", views.resend_draft, name="recruitment_resend"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/ask/", views.refresh, name="recruitment_refresh"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/places/", views.open_places, name="recruitment_places"),
    path(
        "studies/<slug:slug>/recruitment/<str:purpose>/actions/<int:action>/again/",
        views.retry_action,
        name="platform_action_retry",
    ),
    path(
        "studies/<slug:slug>/recruitment/<str:purpose>/actions/<int:action>/drop/",
        views.drop_action,
        name="platform_action_drop",
    ),
    path(
        "studies/<slug:slug>/recruitment/<str:purpose>/submissions/<str:session>/",
        views.submission_page,
        name="recruitment_submission",
    ),
    path("studies/<slug:slug>/recruitment/<str:purpose>/<str:step>/", views.take_step, name="recruitment_transition"),
]
