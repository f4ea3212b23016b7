"""Every URL of the system; a test walks them for each role."""

from django.contrib import admin
from django.urls import include, path, re_path

from annotation.urls import PEOPLE
from crowdrag.api.views import UnknownAddress
from writing.editor.views import log

urlpatterns = [
    # Where the editor's events and judges' answers come in: more than all else comes, and patterns are tried in turn.
    path("writing/log/", log, name="writing_log"),
    path("work/", include(PEOPLE)),
    path("admin/", admin.site.urls),
    path("", include("crowdrag.studies.urls")),
    path("", include("crowdrag.accounts.urls")),
    path("", include("crowdrag.ui.urls")),
    path("", include("crowdrag.api.urls")),
    path("", include("crowdrag.mail.urls")),
    path("", include("crowdrag.webhooks.urls")),
    path("", include("crowdrag.operations.urls")),
    path("", include("crowdrag.jobs.urls")),
    path("", include("crowdrag.llm.urls")),
    path("", include("crowdrag.recruitment.urls")),
    path("", include("writing.urls")),
    path("", include("annotation.urls")),
    path("", include("analysis.urls")),
    # What no app's endpoints answer is said as the API says it.
    re_path("^api/v1/", UnknownAddress.as_view()),
]
handler400 = "crowdrag.ui.views.bad_request"
handler403 = "crowdrag.ui.views.forbidden"
handler404 = "crowdrag.ui.views.not_found"
handler500 = "crowdrag.ui.views.server_error"
