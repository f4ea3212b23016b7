"""A browser without a window: persistent connection, cookies, forms and JSON."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

TIMEOUT = 60.0


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


class Browser:
    """One person's browser, with one connection, which it makes anew when it breaks."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}
        #: Sent with every request that is not a GET.
        self.headers: dict[str, str] = {}
        self.requests = 0
        self._connection: http.client.HTTPConnection | None = None

    def get(self, path: str, **headers: str) -> Answer:
        """GET a path; follow no redirect."""
        return self.send("GET", path, None, headers)

    def follow(self, path: str) -> Answer:
        """GET a path and what it redirects to."""
        for _ in range(8):
            answer = self.get(path)
            if answer.status not in (301, 302, 303, 307, 308):
                return answer
            place = urlsplit(answer.headers["Location"])
            path = place.path + (f"?{place.query}" if place.query else "")
        raise OSError(f"too many redirects: {path}")

    def post(self, path: str, data: Any = None, **headers: str) -> Answer:
        """POST JSON."""
        body = json.dumps(data).encode()
        return self.send("POST", path, body, {"Content-Type": "application/json", **self.headers, **headers})

    def submit(self, path: str, **fields: str) -> Answer:
        """POST a form."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.send("POST", path, urlencode(fields).encode(), {**kind, **self.headers})

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        """Send a request and return its answer.

        As browsers do, it is sent once more if the server has closed an idle connection.

        Raises
        ------
        OSError
            if there is no answer.
        """
        sent = {
            "Host": f"localhost:{self.port}",
            "Accept-Encoding": "gzip",
            "Accept": "text/html,application/json",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            **headers,
        }
        while True:
            is_used = self._connection is not None
            try:
                return self._sent(method, path, body, sent)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                is_idle = isinstance(error, ConnectionError)  # closed before any byte of an answer
                if not (is_used and is_idle):
                    raise error if isinstance(error, OSError) else OSError(repr(error)) from error

    def _sent(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        self.requests += 1
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.headers.get("Content-Encoding") == "gzip":
            import gzip

            content = gzip.decompress(content)
        for cookie in response.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name.strip()] = value.strip()
        if response.will_close:
            self.close()
        return Answer(response.status, response.headers, content)

    def close(self) -> None:
        """Close the connection; the cookies stay."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
