"""The app's pages."""

from django.urls import path

from . import views

urlpatterns = [
    path("studies/<slug:slug>/payments/", views.payments, name="payments"),
    path("studies/<slug:slug>/payments/participants.csv", views.overview_csv, name="payments_csv"),
    path("studies/<slug:slug>/payments/<uuid:key>/", views.payment_list, name="payment_list"),
    path("studies/<slug:slug>/payments/<uuid:key>/file/", views.payment_file, name="payment_file"),
    path("studies/<slug:slug>/payments/<uuid:key>/paid/", views.mark_paid, name="payment_list_paid"),
    path("studies/<slug:slug>/payments/<uuid:key>/take-back/", views.take_back, name="payment_list_take_back"),
    path("studies/<slug:slug>/payments/<uuid:key>/cancel/", views.cancel, name="payment_list_cancel"),
]
