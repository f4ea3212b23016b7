"""The baseline for event ingestion: CrowdRAG's URLs plus one view that does a single INSERT."""

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

TABLE = "CREATE TABLE bench_bare (id bigserial PRIMARY KEY, body bytea NOT NULL, at timestamptz DEFAULT now())"


@csrf_exempt
def bare(request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO bench_bare (body) VALUES (%s)", [request.body])
    return HttpResponse(b"ok")


urlpatterns = [path("bare/", bare), path("", include("crowdrag.urls"))]
handler404 = "crowdrag.ui.views.not_found"
