"""The compose file: what it starts are commands that start, its checks are checks that hold, its stops are stops.

No container is run here. Every service of ours is run as a process instead, by its own command, told what the file and
the example of its environment tell it; addresses and folders are those of the tests.
"""

import os
import re
import signal
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import jsonschema
import pytest
import redis
import yaml
from django.db import connection

from crowdrag.runtime import valkey
from crowdrag.runtime.data_folder import REPOSITORY
from crowdrag.runtime.layouts import PARTS
from crowdrag.runtime.parts import START_WITHIN
from tests.runtime.conftest import eventually, free_port

PLACE = REPOSITORY / "docs" / "deployment"
MADE = (PLACE / "Containerfile").read_text()
COMPOSE = yaml.safe_load((PLACE / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "crowdrag" in service["image"]}
PARTS_OF = {name: service["command"][1] for name, service in OURS.items() if service["command"][0] == "serve"}

# What a service may say, as far as this file uses it (the Compose Specification, "services").
CONDITIONS = ["service_started", "service_healthy", "service_completed_successfully"]
TIME = {"type": "string", "pattern": r"^(\d+(ms|s|m|h))+$"}
STRINGS = {"type": "array", "items": {"type": "string"}}
SERVICE = {
    "type": "object",
    "required": ["image"],
    "additionalProperties": False,
    "properties": {
        **dict.fromkeys(("command", "env_file", "secrets", "tmpfs", "volumes", "ports", "expose"), STRINGS),
        **dict.fromkeys(("profiles", "cap_drop", "security_opt"), STRINGS),
        **{name: {"type": "string"} for name in ("image", "shm_size")},
        **{name: {"type": "boolean"} for name in ("init", "read_only")},
        **{name: {"type": "object"} for name in ("logging", "deploy")},
        "environment": {"type": "object", "additionalProperties": {"type": "string"}},
        "restart": {"enum": ["no", "always", "on-failure", "unless-stopped"]},
        "stop_grace_period": TIME,
        "stop_signal": {"type": "string", "pattern": "^SIG"},
        "depends_on": {
            "anyOf": [
                STRINGS,
                {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "required": ["condition"],
                        "properties": {"condition": {"enum": CONDITIONS}},
                    },
                },
            ]
        },
        "healthcheck": {
            "type": "object",
            "required": ["test"],
            "additionalProperties": False,
            "properties": {
                "test": {"type": "array", "items": {"type": "string"}, "contains": {"const": "CMD"}},
                **dict.fromkeys(("interval", "timeout", "start_period"), TIME),
                "retries": {"type": "integer"},
            },
        },
    },
}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_says_what_compose_reads(name: str) -> None:
    jsonschema.validate(SERVICES[name], SERVICE)
    for needed in SERVICES[name].get("depends_on", []):
        assert needed in SERVICES
        condition = SERVICES[name]["depends_on"][needed]["condition"] if name != "proxy" else ""
        assert condition != "service_healthy" or "healthcheck" in SERVICES[needed]
    assert set(SERVICES[name].get("secrets", [])) <= COMPOSE["secrets"].keys()
    for volume in SERVICES[name].get("volumes", []):
        source = volume.split(":")[0]
        assert source[0] in "./$" or source in COMPOSE["volumes"], source


def test_every_part_has_a_service_and_the_web_two() -> None:
    assert sorted(PARTS_OF.values()) == sorted([*PARTS, "web"])
    assert SERVICES.keys() >= {"proxy", "postgres", "valkey", "storage", "prepare"}


def test_the_proxy_sends_people_to_every_web_process_and_to_no_other() -> None:
    webs = {f"{name}:8000" for name, part in PARTS_OF.items() if part == "web"}
    for file in ("Caddyfile", "nginx.conf"):
        assert set(re.findall(r"web-\d+:8000", (PLACE / file).read_text())) == webs
    assert set(SERVICES["proxy"]["depends_on"]) == {web.split(":")[0] for web in webs}
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]


def test_a_backup_before_an_upgrade_does_not_migrate() -> None:
    """What `docker compose run` starts before a command is what its service needs: of the image that is set by then."""
    assert "prepare" not in SERVICES["tools"]["depends_on"]
    assert all("prepare" in SERVICES[name]["depends_on"] for name in PARTS_OF)


def test_no_backup_and_no_secret_gets_into_an_image() -> None:
    """Folders beside the compose file that services are given hold what people wrote, keys or gigabytes."""
    beside = {source["file"].split("/")[0] for source in COMPOSE["secrets"].values()}
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            beside |= set(re.findall(r"^\$\{\w+:-\./(\w+)\}:", volume))
    assert beside == {"backups", "models", "secrets"}
    ignored = (PLACE / "Containerfile.dockerignore").read_text().splitlines()
    assert {f"docs/deployment/{name}" for name in beside} <= set(ignored)


def test_what_git_does_not_keep_gets_into_no_image() -> None:
    """What was made in the folder that one builds in: data, keys, and what another machine's build left."""
    ignored = (PLACE / "Containerfile.dockerignore").read_text().splitlines()
    lines = (REPOSITORY / ".gitignore").read_text().splitlines()
    made = [line.strip("/").replace("*", "x") for line in lines if line and not line.startswith("#")]
    kept = [name for name in [*made, ".env"] if not any(fnmatch(name, line.removeprefix("**/")) for line in ignored)]
    assert kept == []


def test_releases_share_the_layer_of_what_they_depend_on() -> None:
    """It is nearly all of an image: made anew, and fetched anew by every machine, only when it changes."""
    stages = dict(re.findall(r"^FROM \S+ AS (\S+)\n((?:(?!FROM ).*\n)*)", MADE, re.MULTILINE))
    parents = {child: parent for parent, child in re.findall(r"^FROM (\S+) AS (\S+)$", MADE, re.MULTILINE)}
    for image in ("base", "neural"):
        (source,) = re.findall(r"^COPY --from=(\S+) /opt/venv /opt/venv$", stages[image], re.MULTILINE)
        while source in stages:
            copied = re.findall(r"^COPY (?!--from)(.+) \S+$", stages[source], re.MULTILINE)
            assert set(copied) <= {"requirements.lock", "constraints.txt"}, f"{image} takes it from {source}"
            source = parents[source]


def test_nobody_is_called_unwell_who_is_only_starting() -> None:
    for name in PARTS_OF:
        assert seconds(SERVICES[name]["healthcheck"]["start_period"]) >= START_WITHIN, name


def test_a_stop_takes_no_longer_than_it_may() -> None:
    """Draining and what a part needs after it: whoever waits less kills it in the middle of a request."""
    drain = float(dict(example())["CROWDRAG_DRAIN_SECONDS"])
    for name, part in PARTS_OF.items():
        needed = 25 + (drain if part == "web" else 0) if part != "sweep" else 10
        assert seconds(SERVICES[name]["stop_grace_period"]) >= needed, name


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def example() -> list[tuple[str, str]]:
    lines = (PLACE / "example.env").read_text().splitlines()
    return [(name, value) for name, _, value in (line.partition("=") for line in lines if line and line[0] != "#")]


def test_the_image_has_a_python_that_the_lock_is_for() -> None:
    wanted = re.search(r'requires-python = ">=([\d.]+)"', (REPOSITORY / "pyproject.toml").read_text())
    given = re.search(r"ARG PYTHON=([\d.]+)", MADE)
    assert wanted is not None
    assert given is not None
    assert [int(part) for part in given[1].split(".")] >= [int(part) for part in wanted[1].split(".")]
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", MADE, re.MULTILINE):
        assert all((REPOSITORY / name).exists() for name in source.split())


def test_secrets_are_made_once_and_fit(tmp_path: Path) -> None:
    from cryptography.fernet import Fernet

    make = ["sh", str(PLACE / "secrets.sh"), str(tmp_path / "secrets")]
    subprocess.run(make, check=True, capture_output=True)
    made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    files = {secret["file"].removeprefix("secrets/") for secret in COMPOSE["secrets"].values()}
    assert made.keys() == files | {"storage.env", "valkey_password"}
    Fernet(made["identity_key"])
    assert len(made["secret_key"]) >= 50
    assert len({*made.values()}) == len(made)
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0
    password = urlsplit(made["database_url"]).password
    assert password is not None
    assert password.replace("%3D", "=") == made["database_password"]
    subprocess.run(make, check=True, capture_output=True)
    assert made == {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}


@pytest.mark.extended
def test_the_broker_wants_the_password_that_the_address_holds(tmp_path: Path) -> None:
    subprocess.run(["sh", str(PLACE / "secrets.sh"), str(tmp_path / "secrets")], check=True, capture_output=True)
    command = [part.replace("/run/secrets", str(tmp_path / "secrets")) for part in SERVICES["valkey"]["command"]]
    address = urlsplit((tmp_path / "secrets" / "broker_url").read_text())
    port = free_port()
    server = subprocess.Popen([str(valkey.server()), *command[1:], "--port", str(port)], stdout=subprocess.DEVNULL)
    try:
        url = f"redis://:{address.password}@127.0.0.1:{port}/0"
        with redis.Redis.from_url(url) as known, redis.Redis(port=port) as unknown:
            eventually(lambda: _answers(known))
            with pytest.raises(redis.AuthenticationError):
                unknown.ping()
    finally:
        server.kill()
        server.wait()


def _answers(client: Any) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


class Standing:
    """One service's command as a process."""

    def __init__(self, name: str, root: Path) -> None:
        self.service = SERVICES[name]
        secrets = root / "secrets"
        subprocess.run(["sh", str(PLACE / "secrets.sh"), str(secrets)], check=True, capture_output=True)
        database = urlunsplit(
            urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
        )
        (secrets / "database_url").write_text(database)
        given = {**dict(example()), **self.service["environment"]}
        given |= {key: value.replace("/run/secrets", str(secrets)) for key, value in given.items()}
        # Not those of the tests' session: a process has what the file gives it, and what a machine gives.
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "HOME", "LD_LIBRARY_PATH") if key in os.environ}
        self.port = str(free_port())
        self.env = kept | given | {
            "CROWDRAG_DATA_DIR": str(root / "data"), "CROWDRAG_STATIC_ROOT": str(root / "static"),
            "STATICFILES_STORAGE": "django.contrib.staticfiles.storage.StaticFilesStorage", "BROKER_URL": broker(),
            "STORAGE_URL": "", "PORT": self.port, "CROWDRAG_DRAIN_SECONDS": "1",
            "CROWDRAG_STATIC_SHARED": str(root / "shared"),
        }  # fmt: skip

    def popen(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "crowdrag.runtime.cli", *arguments]
        return subprocess.Popen(
            command, env=self.env, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def start(self) -> subprocess.Popen[str]:
        return self.popen(*self.service["command"])

    def is_healthy(self) -> bool:
        cmd, program, *arguments = self.service["healthcheck"]["test"]
        assert (cmd, program) == ("CMD", "crowdrag")
        check = self.popen(*arguments)
        check.communicate()
        return check.returncode == 0


def broker() -> str:
    """A database of its own on the broker: nobody else's messages are to be taken."""
    url = os.environ["BROKER_URL"]
    return f"{url}?virtual_host=9" if "socket" in url else urlunsplit(urlsplit(url)._replace(path="/9"))


@pytest.fixture
def standing(request: pytest.FixtureRequest, tmp_path: Path) -> Standing:
    return Standing(request.param, tmp_path)


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("standing", [name for name in PARTS_OF if name != "web-2"], indirect=True)
def test_a_service_comes_up_is_healthy_and_stops_in_its_time(standing: Standing) -> None:
    process = standing.start()
    try:
        eventually(lambda: process.poll() is not None or standing.is_healthy(), within=120)
        assert process.poll() is None, process.communicate()[0]
        process.send_signal(getattr(signal, standing.service.get("stop_signal", "SIGTERM")))
        said, _ = process.communicate(timeout=seconds(standing.service["stop_grace_period"]))
        assert process.returncode == 0, said
    finally:
        process.kill()
        process.wait()


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("standing", ["prepare"], indirect=True)
def test_preparing_ends_with_tables_and_files_in_their_places(standing: Standing, tmp_path: Path) -> None:
    process = standing.start()
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0, said
    assert (tmp_path / "shared" / "js" / "main.js").exists()
