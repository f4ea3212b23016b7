"""The app's URLs, by feature. Those of judges are included in crowdrag/urls.py, before all others."""

from django.urls import include, path

from .judging import urls as judging
from .quality import urls as quality

# Training comes before the URLs with a questionnaire's id.
PEOPLE = [*quality.PEOPLE, *judging.PEOPLE]
urlpatterns = [
    path("", include("annotation.llm_judges.urls")),
    path("", include("annotation.campaigns.urls")),
    path("", include("annotation.progress.urls")),
    path("", include("annotation.quality.urls")),
    path("", include("annotation.quality.screening.urls")),
    path("", include("annotation.judging.urls")),
]
