"""URLs of screening."""

from django.urls import URLPattern, URLResolver, include, path

from . import api, decision_views, views

# Pages of one submitted questionnaire.
SCREENED = [
    path("", views.assignment_page, name="screening_assignment"),
    path("lock/", views.lock, name="screening_lock"),
    path("skip/", views.skip, name="screening_skip"),
    path("decide/", decision_views.decide, name="screening_decide"),
    path("assign/", views.assign, name="screening_assign"),
    path("undo/", decision_views.undo_one, name="screening_undo_one"),
    path("include/", decision_views.include, name="screening_include"),
    path("pay/", decision_views.pay, name="screening_pay"),
    path("reverse/", decision_views.reverse_rejection, name="screening_reverse"),
    path("restore/", decision_views.restore, name="screening_restore"),
]
# A campaign's checks and screening.
QUALITY: list[URLPattern | URLResolver] = [
    path("screening/", views.screening, name="screening"),
    path("screening/next/", views.following, name="screening_next"),
    path("screening/bulk/", views.bulk_decision, name="screening_bulk"),
    path("screening/undo/", views.undo_decisions, name="screening_undo"),
    path("screening/accept/", views.accept_clean, name="screening_accept_clean"),
    path("screening/<str:assignment_id>/", include(SCREENED)),
]
SCREENING_API = [
    path("accept/", api.Accepted.as_view(), name="api_assignment_accept"),
    path("reject/", api.Rejected.as_view(), name="api_assignment_reject"),
    path("undo/", api.Undone.as_view(), name="api_assignment_undo"),
    path("assignee/", api.Assigned.as_view(), name="api_assignment_assignee"),
    path("inclusion/", api.Included.as_view(), name="api_assignment_inclusion"),
    path("pay/", api.Paid.as_view(), name="api_assignment_pay"),
    path("take-up/", api.Restored.as_view(), name="api_assignment_take_up"),
    path("hold/", api.Held.as_view(), name="api_assignment_hold"),
]
API: list[URLPattern | URLResolver] = [
    # Before the URLs with an assignment's id. Ids are random, so none is `next`.
    path("assignments/next/", api.Following.as_view(), name="api_assignment_next"),
    path("assignments/<str:assignment>/", include(SCREENING_API)),
    path("accept-clean/", api.Clean.as_view(), name="api_accept_clean"),
]
urlpatterns = [
    path("api/v1/studies/<slug:study>/campaigns/<int:campaign>/", include(API)),
    path("studies/<slug:slug>/campaigns/<int:campaign_id>/", include(QUALITY)),
]
