"""The app's pages."""

from django.urls import path

from .views import hook, orders, page, submission

urlpatterns = [
    path("hooks/prolific/", hook.prolific, name="prolific_hook"),
    path("studies/<slug:slug>/recruitment/", page.listing, name="recruitments"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/", page.recruitment, name="recruitment"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/new/", page.new, name="recruitment_new"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/send/", page.send, name="recruitment_send"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/ask/", page.ask, name="recruitment_ask"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/places/", page.places, name="recruitment_places"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/orders/<int:order>/again/", orders.again, name="order_again"),
    path("studies/<slug:slug>/recruitment/<str:purpose>/orders/<int:order>/drop/", orders.drop, name="order_drop"),
    path(
        "studies/<slug:slug>/recruitment/<str:purpose>/submissions/<str:session>/",
        submission.submission,
        name="recruitment_submission",
    ),
    path("studies/<slug:slug>/recruitment/<str:purpose>/<str:step>/", page.step, name="recruitment_step"),
]
