"""What a web process says of itself to those who decide whether it is started again, and whether people come to it."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from crowdrag.operations import health
from crowdrag.runtime import graceful_shutdown

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = dict(health._cache._checks) | {"migrations": health.MigrationCheck(), "storage": health.StorageCheck()}
    monkeypatch.setattr(health, "_cache", health.HealthCache(checks))


@pytest.fixture
def nobody_listens() -> Iterator[str]:
    """An address that refuses connections."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def ready(client: Client, query: str = "", **headers: str) -> tuple[int, dict[str, Any]]:
    answer = client.get(f"/readyz{query}", headers=headers or None)
    assert "no-store" in answer["Cache-Control"]
    return answer.status_code, answer.json()


def test_a_process_with_all_it_needs_is_ready(client: Client) -> None:
    everything = {"database": "ok", "migrations": "ok", "pages": "ok", "writing": "ok", "broker": "ok", "storage": "ok"}
    assert ready(client) == (200, {"status": "ready", "checks": everything})
    assert ready(client, "?all")[0] == 200


def test_that_it_lives_asks_nobody(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert client.get("/healthz").content == b"ok\n"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_needs_no_name_of_the_site_and_no_tls(client: Client, settings: Any, path: str) -> None:
    settings.ALLOWED_HOSTS = ["study.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    assert client.get(path, headers={"host": "10.1.2.3:8000"}).status_code == 200
    assert client.get("/login/", headers={"host": "10.1.2.3:8000"}).status_code in (301, 400)


def test_a_migration_that_is_not_applied_keeps_people_away(client: Client) -> None:
    MigrationRecorder.Migration.objects.filter(app="writing").order_by("-name").first().delete()
    status, said = ready(client)
    assert (status, said["status"], said["checks"]["migrations"]) == (503, "not ready", "missing")
    assert said["checks"]["database"] == "ok"


def test_migrations_of_a_later_release_do_not(client: Client) -> None:
    MigrationRecorder.Migration.objects.create(app="writing", name="9999_of_the_next_release")
    assert ready(client)[0] == 200


def test_a_database_that_is_away_keeps_people_away_and_the_process_lives(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, nobody_listens: str
) -> None:
    host, port = nobody_listens.split(":")
    connection.close()
    for name, value in (("HOST", host), ("PORT", port)):
        monkeypatch.setitem(connection.settings_dict, name, value)
    status, said = ready(client)
    lives = client.get("/healthz").status_code
    monkeypatch.undo()
    connection.close()
    assert (status, said["checks"]["database"], said["checks"]["migrations"], lives) == (503, "missing", "missing", 200)
    assert host not in str(said)
    assert "database" in caplog.text


def test_without_a_broker_people_are_served_and_the_operator_is_told(
    client: Client, monkeypatch: pytest.MonkeyPatch, nobody_listens: str
) -> None:
    monkeypatch.setattr("crowdrag.celery.app.conf.broker_url", f"redis://{nobody_listens}/0")
    status, said = ready(client)
    assert (status, said["status"], said["checks"]["broker"]) == (200, "degraded", "missing")
    assert ready(client, "?all")[0] == 503


def test_without_a_place_for_files_likewise(client: Client, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file"  # a folder cannot be made there, whoever asks
    status, said = ready(client)
    assert (status, said["status"], said["checks"]["storage"]) == (200, "degraded", "missing")
    assert ready(client, "?all")[0] == 503


def test_a_storage_that_does_not_answer_keeps_nobody_waiting(
    client: Client, monkeypatch: pytest.MonkeyPatch, settings: Any, nobody_listens: str
) -> None:
    """An object store that takes the connection and says nothing, as one behind a broken network does."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.STORAGES = settings.STORAGES | {
            "default": {
                "BACKEND": "storages.backends.s3.S3Storage",
                "OPTIONS": {
                    "bucket_name": "files",
                    "endpoint_url": f"http://127.0.0.1:{silent.getsockname()[1]}",
                    "access_key": "a",
                    "secret_key": "b",
                },
            }
        }
        monkeypatch.setattr(health, "STORAGE_TIMEOUT", 0.3)
        status, said = ready(client)
    assert (status, said["checks"]["storage"]) == (200, "missing")


def test_a_process_on_its_way_out_is_not_ready_but_lives(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graceful_shutdown, "_flag", bytearray(b"\x01"))
    status, said = ready(client)
    assert (status, said["status"]) == (503, "draining")
    assert client.get("/healthz").status_code == 200


def test_whoever_asks_often_costs_one_look() -> None:
    looks: list[int] = []
    looker = health.HealthCache(dict.fromkeys(health.NEEDED, lambda: not looks.append(1)))
    for now in (10.0, 10.5, 11.0, 12.5):
        assert looker.look(now=now).serves
    assert len(looks) == 2 * len(health.NEEDED)


def test_a_process_without_its_static_files_would_fail_every_page(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    hashed = {"BACKEND": "crowdrag.static_files.HashedStaticFilesStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = settings.STORAGES | {"staticfiles": hashed}
    assert (ready(client)[0], ready(client)[1]["checks"]["pages"]) == (503, "missing")
