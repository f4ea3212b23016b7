"""The app's URLs by feature. The URL for the editor's events is in crowdrag/urls.py, before all others.

An ID may contain slashes, so longer URLs (of a replay) must come before URLs that end with the ID (of a response).
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
