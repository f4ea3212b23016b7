"""Every page of a study and every list of the API, of a study with a million judgments: first pages and far down.

The addresses come from the URL configuration (`_addresses.py`), so a new page is measured without being named here.
Separate database and broker, gunicorn as in `crowdrag up`, one request at a time. Environment variables:
CROWDRAG_BENCH_JUDGMENTS, the number of judgments (1,000,000); CROWDRAG_BENCH_OTHERS, the number of all other rows
(1,000); CROWDRAG_BENCH_REQUESTS, the requests per address (20); CROWDRAG_BENCH_ONLY, a part of the names to measure.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bench._system import system, web
from crowdrag.runtime.data_folder import DataFolder

if TYPE_CHECKING:
    from bench._addresses import Addresses
    from bench._large_study import LargeStudy
    from crowdrag.studies.models import User
    from tests.writing.editor.served_editor import Server

JUDGMENTS = int(os.environ.get("CROWDRAG_BENCH_JUDGMENTS", "1000000"))
OTHERS = int(os.environ.get("CROWDRAG_BENCH_OTHERS", "1000"))
REQUESTS = int(os.environ.get("CROWDRAG_BENCH_REQUESTS", "20"))
ONLY = os.environ.get("CROWDRAG_BENCH_ONLY", "")
LIMIT, PATIENCE, WARM = 0.100, 60.0, 3
#: The share of addresses with GET that the made-up study has rows for. The row says which others there are.
OPENED = 0.75


def run() -> Iterator[dict]:
    """Measure once in a separate folder."""
    with system(CROWDRAG_API_PER_MINUTE="0") as folder:
        yield from _measured(folder)


def _measured(folder: DataFolder) -> Iterator[dict]:
    from django.db import connection

    from annotation.progress import answer_tallies, figures
    from bench._addresses import find_addresses
    from bench._large_study import create
    from tests.factories import NOW

    began = time.perf_counter()
    large = create(JUDGMENTS, OTHERS)
    # What the sweep keeps within a minute.
    answer_tallies.refresh_due(now=NOW)
    figures.refresh_due(now=NOW)
    made = time.perf_counter() - began
    with web(folder) as server:
        headers = _headers(large.owner, server)
        connection.close()
        found = find_addresses(large, _asks(server, headers))
        yield _row_of_addresses(found)
        connection.close()
        for name, address in sorted((found.opened | _filters(large)).items()):
            if ONLY in name:
                yield _row(name, *_asked(server, address, headers), made)


def _row_of_addresses(found: Addresses) -> dict[str, Any]:
    names = {name.split(",")[0] for name in found.opened}
    return {
        "name": "pages and endpoints of a study that were opened, of those that take GET and send no file",
        "ratio": len(names) / (len(names) + len(found.missing)),
        "target": OPENED,
        "detail": f"{len(names)} opened; files: {', '.join(found.downloads)}; nothing to show in this study: "
        f"{', '.join(found.missing)}",
    }


def _row(name: str, seconds: list[float], rows: int, made: float) -> dict[str, Any]:
    p95 = statistics.quantiles(seconds, n=20)[-1]
    return {
        "name": f"{name}: {LIMIT * 1000:.0f} ms over p95",
        "ratio": LIMIT / p95,
        "target": 1,
        "detail": f"p50 {statistics.median(seconds) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms, longest "
        f"{max(seconds) * 1000:.0f} ms of {len(seconds)}; {rows} rows a page; {JUDGMENTS} judgments made in "
        f"{made:.0f} s; load average {os.getloadavg()[0]:.1f}",
    }


def _asks(server: Server, headers: dict[str, str]) -> Callable[[str], tuple[int, bool]]:
    """Return a function that requests an address: its status, and whether it sends a file."""

    def ask(address: str) -> tuple[int, bool]:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        try:
            line.request("GET", address, headers=headers)
            answer = line.getresponse()
            answer.read()
            return answer.status, "attachment" in answer.headers.get("Content-Disposition", "")
        finally:
            line.close()

    return ask


def _asked(server: Server, address: str, headers: dict[str, str]) -> tuple[list[float], int]:
    """Request a list repeatedly, following its pages. Return the durations and the number of rows on the first page."""
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    seconds, rows, following = [], 0, address
    for n in range(REQUESTS + WARM):
        began = time.perf_counter()
        line.request("GET", following, headers=headers)
        try:
            answer = line.getresponse()
        except TimeoutError:
            return [PATIENCE, PATIENCE], rows
        body = answer.read()
        took = time.perf_counter() - began
        assert answer.status in {200, 301, 302}, (address, answer.status, body[:300])
        if n >= WARM:  # by then, each process has compiled everything
            seconds.append(took)
        if address.startswith("/api/"):
            page = json.loads(body)
            if isinstance(page, dict) and "next" in page:
                rows = rows or len(page["results"])
                told = urlsplit(page["next"] or address)
                following = f"{told.path}?{told.query}"
    line.close()
    return seconds, rows


def _filters(large: LargeStudy) -> dict[str, str]:
    """Return the list of judgments with filters that match nearly all, few, or none."""
    from django.urls import reverse

    listed = reverse("api_judgments", args=[large.study.slug])
    filters = {
        "of the campaign": f"campaign={large.running.pk}",
        "of one question": "dimension=running-question-0",
        "of one person": "participant=running-5",
        "of one question that nobody asked": "dimension=none",
        "of one topic": "topic=no-such-topic",
        "of models": "judges=MODEL",
        "that count": "counted=true",
        "that do not": "counted=false",
        "as many as may be": "limit=200",
    }
    return {f"api_judgments, {name}": f"{listed}?{query}" for name, query in filters.items()}


def _headers(user: User, server: Server) -> dict[str, str]:
    """Return headers with a script's token for the API and a browser's session for pages."""
    from django.test import Client

    from tests.api.conftest import by_token

    client = Client()
    client.force_login(user)
    cookies = server.cookies(client.cookies[server.env["SESSION_COOKIE_NAME"]].value)
    return {"Authorization": by_token(user)._credentials["HTTP_AUTHORIZATION"], "Cookie": cookies, "Host": "localhost"}
