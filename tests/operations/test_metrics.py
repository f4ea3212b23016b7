"""Figures for a monitoring system: who may read them, whether they are true, also from several processes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from prometheus_client.parser import text_string_to_metric_families

from crowdrag.operations import metrics
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
TOKEN = "a-token-of-the-monitoring-system"


def figures(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """All samples by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@override_settings(METRICS_TOKEN=TOKEN, METRICS_ADDRESSES=["10.1.0.0/16", "2001:db8::/32"])
@pytest.mark.parametrize(
    ("given", "address", "status"),
    [
        (f"Bearer {TOKEN}", "198.51.100.1", 200),
        (f"bearer {TOKEN}", "198.51.100.1", 200),
        ("Bearer another", "198.51.100.1", 401),
        ("Bearer ", "198.51.100.1", 401),
        (f"Basic {TOKEN}", "198.51.100.1", 401),
        ("", "10.1.2.3", 200),
        ("", "2001:db8::7", 200),
        ("", "10.2.0.1", 401),
        ("", "", 401),
    ],
)
def test_figures_are_for_who_has_the_token_or_comes_from_there(
    client: Client, given: str, address: str, status: int
) -> None:
    answer = client.get("/metrics", headers={"authorization": given} if given else {}, REMOTE_ADDR=address)
    assert answer.status_code == status
    assert (b"crowdrag_" in answer.content) == (status == 200)


@override_settings(METRICS_TOKEN="", METRICS_ADDRESSES=[])
def test_without_settings_operators_alone_read_figures(client: Client) -> None:
    for headers in ({}, {"authorization": "Bearer "}, {"x-forwarded-for": "127.0.0.1"}):
        assert client.get("/metrics", headers=headers).status_code == 401
    client.force_login(UserFactory())
    assert client.get("/metrics").status_code == 401
    client.force_login(UserFactory(is_staff=True))
    assert client.get("/metrics").status_code == 200


def test_requests_are_counted_by_page_and_never_by_what_people_ask_for(client: Client) -> None:
    client.force_login(UserFactory(is_staff=True))
    before = figures(client.get("/metrics").content.decode())
    for path in ("/login/", "/login/", "/no/such/page-1/", "/no/such/page-2/"):
        client.get(path)
    client.generic("BREW", "/login/")
    after = figures(client.get("/metrics").content.decode())
    grown = {key: value - before.get(key, 0) for key, value in after.items() if value != before.get(key, 0)}

    def counted(view: str, method: str, status: str) -> Any:
        labels = (("method", method), ("status", status), ("view", view))
        return grown.get(("crowdrag_http_requests_total", labels))

    assert counted("login", "GET", "3xx") == 2  # who is signed in is sent on
    assert counted("none", "GET", "4xx") == 2
    assert counted("login", "other", "3xx") or counted("login", "other", "4xx")
    assert grown["crowdrag_http_request_seconds_count", (("view", "login"),)] == 3
    assert not any("page-1" in str(key) for key in after)


def test_figures_of_the_database_are_there(client: Client) -> None:
    client.force_login(UserFactory(is_staff=True))
    found = {name for name, _labels in figures(client.get(reverse("metrics")).content.decode())}
    assert found >= {
        "crowdrag_info",
        "crowdrag_queue_units",
        "crowdrag_queue_oldest_seconds",
        "crowdrag_workers_alive",
        "crowdrag_units_hanging",
        "crowdrag_runs_active",
        "crowdrag_database_bytes",
        "crowdrag_disk_free_bytes",
        "crowdrag_sign_ins_failed_day",
    }


def test_a_quantile_is_the_end_of_its_range() -> None:
    infinite = float("inf")
    buckets = [(0.1, 5.0), (0.5, 9.0), (infinite, 10.0)]
    assert metrics.quantile(buckets, 0.5) == 0.1
    assert metrics.quantile(buckets, 0.9) == 0.5
    assert metrics.quantile(buckets, 0.95) is None  # longer than the longest range
    assert metrics.quantile([], 0.5) is None
    assert metrics.quantile([(0.1, 0.0), (infinite, 0.0)], 0.5) is None


COUNT = """
import django; django.setup()
from crowdrag.operations import metrics
for _ in range(int({n})):
    metrics.count_answer(view="page", method="GET", status=200, seconds=0.03)
if {n} == 0:
    row, = metrics.request_rates()
    print(row["view"], row["n"], row["p95"])
"""


@pytest.mark.extended
def test_several_processes_answer_for_each_other(tmp_path: Path) -> None:
    environment = os.environ | {
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "crowdrag.settings",
    }

    def run(number: int) -> str:
        command = [sys.executable, "-c", COUNT.format(n=number)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    run(3)
    run(4)  # the first has ended, and what it counted is not lost
    assert run(0).split() == ["page", "7.0", "0.05"]


def test_a_method_that_nobody_knows_is_one_of_the_others() -> None:
    metrics.count_answer(view="some", method="BREW", status=204, seconds=0.1)
    labels = {
        sample.labels.get("method") for sample in metrics.request_samples() if sample.labels.get("view") == "some"
    }
    assert labels == {"other", None}
