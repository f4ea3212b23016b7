"""What is shown when something went wrong; none of it needs the database."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from ..access import public


@public
def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400."""
    return render(request, "errors/400.html", status=400)


@public
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403, with the reason where one was given."""
    return render(request, "errors/403.html", {"reason": str(exception or "")}, status=403)


@public
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404."""
    return render(request, "errors/404.html", status=404)


@public
def server_error(request: HttpRequest) -> HttpResponse:
    """500."""
    return render(request, "errors/500.html", status=500)
