"""The app's addresses, by feature. Where the editor's events come in stands in crowdrag/urls.py, before all others.

An id may hold slashes, so that addresses which go on after one (a replay's) stand before its own (a response's).
"""

from django.urls import include, path

urlpatterns = [
    path("", include("writing.corpus.imports.urls")),
    path("", include("writing.llm_writers.urls")),
    path("", include("writing.plans.urls")),
    path("", include("writing.progress.urls")),
    path("", include("writing.replay.urls")),
    path("", include("writing.corpus.urls")),
    path("", include("writing.review.urls")),
    path("", include("writing.assignments.urls")),
    path("", include("writing.editor.urls")),
]
