"""Wrong variables of the environment are named before anything starts."""

import os
import time
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from crowdrag.runtime import cli, doctor, environment, operator_services, settings_check
from crowdrag.runtime.data_folder import DataFolder, Problem
from tests.runtime.conftest import System, free_port

VARIABLES = {variable.name: variable for group in settings_check.groups().values() for variable in group}


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name in VARIABLES or name.startswith("CROWDRAG_"):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("EMAIL_URL", "smtp.example.org", "smtp+tls://user:secret@smtp.example.org:587"),
        ("EMAIL_URL", "filemail://folder/x", "filemail:////folder/x"),
        ("EMAIL_URL", "smtp://host:port", "consolemail://"),
        ("EMAIL_TIMEOUT", "abc", "30"),
        ("EMAIL_TIMEOUT", "0", "1"),
        ("CROWDRAG_PROXIES", "x", "0"),
        ("CROWDRAG_PROXIES", "-1", "2"),
        ("LOG_LEVEL", "LOUD", "WARNING"),
        ("LOG_LEVEL", "info", "INFO"),
        ("WEB_WORKERS", "two", "2"),
        ("PORT", "99999", "65535"),
        ("HTTPS", "maybe", "True"),
        ("CROWDRAG_METRICS_ADDRESSES", "10.1.0.0/99", "10.1.0.0/16,::1"),
        ("CROWDRAG_IDENTITY_KEY", "too short", "A" * 43 + "="),
        ("CROWDRAG_DRAIN_SECONDS", "inf", "0.5"),
        ("DATABASE_URL", "sqlite:///x", "postgresql://postgres@/crowdrag?host=/tmp/x"),
        ("DATABASE_URL", "host/crowdrag", "postgres://u:p[@a:1,b:2/crowdrag"),
        ("BROKER_URL", "localhost:6379", "redis+socket:///tmp/valkey.sock"),
        ("BROKER_URL", "redis://localhost:port", "rediss://:password@localhost:6379/0"),
        ("CROWDRAG_LLM_URL", "localhost:8080", "http://127.0.0.1:8080/v1"),
        ("STORAGE_URL", "http://bucket", "s3://bucket"),
    ],
)
def test_a_wrong_value_is_named_and_a_right_one_is_not(
    monkeypatch: pytest.MonkeyPatch, name: str, wrong: str, right: str
) -> None:
    monkeypatch.setenv(name, wrong)
    (problem,) = settings_check.problems()
    assert problem.startswith(name)
    assert (f"{name}={wrong}" in problem) is (name not in environment.SECRET)
    with pytest.raises(Problem, match=name):
        settings_check.require_valid()
    monkeypatch.setenv(name, right)
    settings_check.require_valid()


def test_all_wrong_values_are_named_at_once_with_the_file_that_holds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS", "maybe")
    monkeypatch.setenv("BROKER_URL", "nothing")
    monkeypatch.setenv("BROKER_URL_FILE", "/run/secrets/broker_url")
    with pytest.raises(Problem) as problem:
        settings_check.require_valid()
    assert all(part in str(problem.value) for part in ("HTTPS=maybe", "BROKER_URL", "/run/secrets/broker_url"))


def test_every_type_in_the_reference_is_known() -> None:
    assert {variable.type for variable in VARIABLES.values()} - {""} == set(settings_check.TYPES)


def test_numbers_without_a_value_are_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_WORKERS", "")
    monkeypatch.setenv("EMAIL_URL", "")
    settings_check.require_valid()
    assert "WEB_WORKERS" not in os.environ
    assert os.environ["EMAIL_URL"] == ""


def test_unknown_names_get_the_closest_known_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CROWDRAG_LLM_KEY_ACME", "CROWDRAG_PROXIES", "CROWDRAG_IDENTITY_KEY_FILE", "CROWDRAG_TOKEN"):
        monkeypatch.setenv(name, "1")
    assert settings_check.unknown_names() == []
    monkeypatch.setenv("CROWDRAG_PROXY", "1")
    (warning,) = settings_check.unknown_names()
    assert "CROWDRAG_PROXY " in warning
    assert "CROWDRAG_PROXIES" in warning


def test_another_identity_key_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = DataFolder(tmp_path)
    folder.create()
    environment.refuse_other_identity_key(folder)
    monkeypatch.setenv("CROWDRAG_IDENTITY_KEY", Fernet.generate_key().decode())
    settings_check.require_valid(folder)
    environment.note_identity_key(folder)
    settings_check.require_valid(folder)
    monkeypatch.setenv("CROWDRAG_IDENTITY_KEY", Fernet.generate_key().decode())
    with pytest.raises(Problem, match="CROWDRAG_IDENTITY_KEY"):
        settings_check.require_valid(folder)
    assert doctor.settings(folder).state == doctor.WRONG


def test_the_key_of_an_existing_database_counts_before_it_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = DataFolder(tmp_path)
    environment.read_keys(folder)
    monkeypatch.setenv("CROWDRAG_IDENTITY_KEY", Fernet.generate_key().decode())
    environment.refuse_other_identity_key(folder)  # nothing was encrypted with it
    folder.postgres.mkdir()
    (folder.postgres / "PG_VERSION").write_text("18\n")
    with pytest.raises(Problem):
        environment.refuse_other_identity_key(folder)


@pytest.mark.parametrize("words", [["up"], ["demo"], ["serve", "web"], ["backup", "/tmp/x.tar"], ["manage", "migrate"]])
def test_commands_refuse_wrong_settings(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS", "maybe")
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 1


@pytest.mark.parametrize("words", [["down"], ["up", "--help"]])
def test_some_commands_work_with_wrong_settings(words: list[str], tmp_path: Path) -> None:
    done = System(tmp_path)
    assert "HTTPS" not in done.crowdrag(*words, HTTPS="maybe")


def test_the_doctor_names_wrong_and_unknown_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    assert doctor.settings(folder).state == doctor.OK
    monkeypatch.setenv("CROWDRAG_PROXY", "1")
    assert doctor.settings(folder).state == doctor.NOTE
    monkeypatch.setenv("HTTPS", "maybe")
    found = doctor.settings(folder)
    assert found.state == doctor.WRONG
    assert "HTTPS=maybe" in found.advice


@pytest.mark.parametrize(("name", "scheme"), [("BROKER_URL", "redis"), ("DATABASE_URL", "postgresql")])
def test_a_service_that_does_not_answer_is_named_without_its_password(
    name: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"127.0.0.1:{free_port()}/0"
    monkeypatch.setenv(name, f"{scheme}://user:secret@{place}")
    began = time.monotonic()
    with pytest.raises(Problem, match=name) as problem:
        operator_services.require_answers(["web", "sweep"], patience=0)
    assert time.monotonic() - began < 10
    assert place in str(problem.value)
    assert "secret" not in str(problem.value)


def test_a_web_machine_starts_without_its_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKER_URL", f"redis://127.0.0.1:{free_port()}/0")
    operator_services.require_answers(["web", "llm"], patience=0)


@pytest.mark.extended
def test_a_start_with_an_unreachable_broker_fails_and_names_it(system: System) -> None:
    said = system.crowdrag("up", "--port", "0", fails=True, BROKER_URL=f"redis://127.0.0.1:{free_port()}/0")
    assert "BROKER_URL" in said
    assert "Traceback" not in said
