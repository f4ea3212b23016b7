"""A WSGI application for tests of the web server: it says how long the body was that it got."""

import time
from collections.abc import Callable, Iterable
from typing import Any


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    path = environ["PATH_INFO"]
    if path == "/large":
        body = b"x" * (2 * 1024 * 1024)
    elif path == "/unread":
        body = b"refused"
    else:
        time.sleep(float(environ.get("HTTP_X_SLEEP", "0")))
        body = str(len(environ["wsgi.input"].read())).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
