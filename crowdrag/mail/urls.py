"""The app's pages."""

from django.urls import URLPattern, URLResolver, path

from . import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("work/<slug:taking_part>/email/", views.address, name="mail_address"),
    path("work/<slug:taking_part>/email/remove/", views.remove_address, name="mail_address_remove"),
    path("mail/stop/<uuid:key>/", views.stop, name="mail_stop"),
]
