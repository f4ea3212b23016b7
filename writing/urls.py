"""The app's pages."""

from django.urls import path

from .views import editor, imports, log, responses, sittings, topics

urlpatterns = [
    path("studies/<slug:slug>/import/", imports.imports, name="import"),
    path("studies/<slug:slug>/import/<slug:name>/", imports.importing, name="importing"),
    path("studies/<slug:slug>/topics/", topics.topics, name="topics"),
    path("studies/<slug:slug>/topics/<str:external_id>/", topics.topic, name="topic"),
    path("studies/<slug:slug>/responses/<str:external_id>/", responses.response, name="response"),
    path("work/<slug:taking_part>/writing/<str:task>/write/", editor.editor, name="writing_editor"),
    path("work/<slug:taking_part>/writing/<str:task>/sittings/", sittings.sitting, name="writing_sitting"),
    path("work/<slug:taking_part>/writing/<str:task>/finish/", sittings.finish, name="writing_finish"),
    path("writing/log/", log.log, name="writing_log"),
]
