"""Whether this web process can serve: asked by the supervisor and by load balancers."""

from django.db import connection
from django.http import HttpRequest, HttpResponse

from ..access import public


@public
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 once the database answers a query; 500 comes by itself when it does not."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return HttpResponse("ok\n", content_type="text/plain")
