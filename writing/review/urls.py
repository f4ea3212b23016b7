"""URLs of the review of responses."""

from django.urls import path

from ..converters import IDENTIFIER  # noqa: F401 -- the import registers it
from . import api, views

REVIEWED = "api/v1/studies/<slug:study>/review/<identifier:task>/"
HANDED_IN = [
    path(REVIEWED + "accept/", api.Accepted.as_view(), name="api_review_accept"),
    path(REVIEWED + "reject/", api.Rejected.as_view(), name="api_review_reject"),
    path(REVIEWED + "send-back/", api.SentBack.as_view(), name="api_review_send_back"),
    path(REVIEWED + "undo/", api.Undone.as_view(), name="api_review_undo"),
    path(REVIEWED + "assignee/", api.Assigned.as_view(), name="api_review_assignee"),
    path(REVIEWED + "reverse/", api.Reversed.as_view(), name="api_review_reverse"),
    path(REVIEWED + "inclusion/", api.Included.as_view(), name="api_review_inclusion"),
    path(REVIEWED + "pay/", api.Paid.as_view(), name="api_review_pay"),
    path(REVIEWED + "hold/", api.Held.as_view(), name="api_review_hold"),
    path(REVIEWED, api.OneHandedIn.as_view(), name="api_review_task"),
]
urlpatterns = [
    path("studies/<slug:slug>/review/", views.review_queue, name="review_queue"),
    path("studies/<slug:slug>/review/next/", views.review_next, name="review_next"),
    path("studies/<slug:slug>/review/bulk/", views.review_bulk, name="review_bulk"),
    path("studies/<slug:slug>/review/undo/", views.review_undo, name="review_undo"),
    path("studies/<slug:slug>/review/<identifier:task_id>/assign/", views.review_assign, name="review_assign"),
    path("studies/<slug:slug>/review/<identifier:task_id>/undo/", views.review_undo_one, name="review_undo_one"),
    path("studies/<slug:slug>/review/<identifier:task_id>/lock/", views.review_lock, name="review_lock"),
    path("studies/<slug:slug>/review/<identifier:task_id>/skip/", views.review_skip, name="review_skip"),
    path("studies/<slug:slug>/review/<identifier:task_id>/decide/", views.review_decide, name="review_decide"),
    path("studies/<slug:slug>/review/<identifier:task_id>/include/", views.review_include, name="review_include"),
    path("studies/<slug:slug>/review/<identifier:task_id>/pay/", views.review_pay, name="review_pay"),
    path("studies/<slug:slug>/review/<identifier:task_id>/reverse/", views.review_reverse, name="review_reverse"),
    path("studies/<slug:slug>/review/<identifier:task_id>/", views.review_task, name="review_task"),
    path("api/v1/studies/<slug:study>/review/", api.HandedIn.as_view(), name="api_review"),
    # Must come before URLs with a task's name. No task is named `next` because names are random.
    path("api/v1/studies/<slug:study>/review/next/", api.Following.as_view(), name="api_review_next"),
    *HANDED_IN,
]
