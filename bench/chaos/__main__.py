"""Run the chaos benchmark.

    python -m bench.chaos --minutes 60 --seed 1

The command ends with status 1 if anything acknowledged is lost or doubled, anything is assigned too often or too
seldom, work is stuck, a bill is missing in the ledger, an invariant of the data is broken, or a client got no answer.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from bench._disk import small_disk
from bench.chaos import client, comparison, promises, study
from bench.chaos.adversary import Adversary
from bench.chaos.client import Journal
from bench.chaos.comparison import Money, Row
from bench.chaos.system import ChaosSystem, Clock, ModelServer
from crowdrag.runtime import environment
from crowdrag.runtime.data_folder import REPOSITORY

CLIENTS = ("judges", "writers", "researchers")
#: What a client journals when it could not go on.
UNANSWERED = ("problem", "gave up")
DISK_MB = 3000
#: Minutes after the load until everybody has ended what they began.
SETTLES = 12.0


def main() -> int:
    """Run it and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.chaos", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="duration of the load (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of clients and adversary (default: 1)")
    parser.add_argument("--keep", type=Path, help="a new folder in which everything is kept")
    parser.add_argument("--all", action="store_true", help="also run the tests that prove the other promises (hours)")
    options = parser.parse_args()
    place = options.keep or Path(tempfile.mkdtemp(prefix="crowdrag-chaos-"))
    place.mkdir(exist_ok=True)
    try:
        found = run(place, options.minutes, options.seed)
    finally:
        if options.keep is None:
            shutil.rmtree(place, ignore_errors=True)
    report(found)
    is_well = promises.report(found, run_all=options.all)
    return 0 if found["is_well"] and is_well else 1


def run(place: Path, minutes: float, seed: int) -> dict[str, Any]:
    """Start a system, put it under load, harm it, let it settle; return what was found."""
    disk = place / "disk"
    for folder in (disk, place / "journals"):
        folder.mkdir()
    with small_disk(disk, DISK_MB) as is_mounted, closing(Clock()) as clock:
        system, model = ChaosSystem(disk / "var", clock), ModelServer(place, seed)
        clients: list[subprocess.Popen[bytes]] = []
        try:
            system.start()
            _prepare(system, model, place, minutes, seed)
            outages = Outages(system)
            clients = [_client(name, place) for name in CLIENTS]
            adversary = Adversary(
                system, model, Journal(place / "journals" / "adversary.jsonl"),
                disk=disk if is_mounted else None, backup=place / "backup.tar", seed=seed,
            )  # fmt: skip
            adversary.run(minutes * 60)
            outages.stop()
            settled = _settle(system, clients, place)
            found = _found(system, model, adversary, place)
            found |= {
                "minutes": minutes, "seed": seed, "outages": outages, "settled": settled, "is_mounted": is_mounted,
                "clock": clock.is_movable,
            }  # fmt: skip
        finally:
            for process in clients:
                process.kill()
                process.wait()
            model.kill()
            system.end()
    rows: list[Row] = [*found["rows"], *found["restored"]]
    is_clean = not any(row.lost or row.doubled or row.over or row.under for row in rows)
    is_ended = not any(found["stuck"].values()) and not any(line["what"] in UNANSWERED for line in found["lines"])
    found["is_well"] = is_clean and is_ended and found["money"].is_well and not found["broken"]
    return found


def _prepare(system: ChaosSystem, model: ModelServer, place: Path, minutes: float, seed: int) -> None:
    """Create the study, and write down what the clients need to know."""
    os.environ |= environment.missing_variables(system.folder)
    import django

    django.setup()
    from django.db import connection

    order = study.create(minutes=minutes, model_url=model.url, writers=study.WRITERS)
    connection.close()
    cookies = [os.environ["SESSION_COOKIE_NAME"], os.environ["CSRF_COOKIE_NAME"]]
    order |= {"port": system.port, "cookies": cookies, "folder": str(place), "seed": seed}
    (place / "order.json").write_text(json.dumps(order))


def _client(name: str, place: Path) -> subprocess.Popen[bytes]:
    with (place / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", f"bench.chaos.{name}", str(place / "order.json")], cwd=REPOSITORY, stdout=log,
            stderr=log, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip


class Outages(threading.Thread):
    """Asks every half second whether the system is ready."""

    def __init__(self, system: ChaosSystem) -> None:
        super().__init__(daemon=True)
        self.system, self.asked, self.answered, self.longest = system, 0, 0, 0.0
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        """Ask."""
        last = time.monotonic()
        while not self._ended.wait(0.5):
            self.asked += 1
            with (
                suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{self.system.port}/readyz", timeout=2) as answer,
            ):
                if answer.status == 200:
                    self.answered += 1
                    last = time.monotonic()
            self.longest = max(self.longest, time.monotonic() - last)

    def stop(self) -> None:
        """End."""
        self._ended.set()
        self.join()


def _settle(system: ChaosSystem, clients: list[subprocess.Popen[bytes]], place: Path) -> float:
    """Let everybody end what they began; return how many seconds that took."""
    began = time.monotonic()
    (place / "finish").touch()
    for process in clients:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(1.0, began + SETTLES * 60 - time.monotonic()))
    # Reviewers have gone: whatever they rejected after the last judge is judged again.
    clients.append(_client("judges", place))
    with suppress(subprocess.TimeoutExpired):
        clients[-1].wait(SETTLES * 60)
    (place / "over").touch()
    for process in clients:
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
    # Runs that nobody follows, such as an analysis that began by itself.
    url = system.folder.database_url()
    while any(comparison.stuck(url).values()) and time.monotonic() - began < SETTLES * 60 + 120:
        time.sleep(1)
    return time.monotonic() - began


def _found(system: ChaosSystem, model: ModelServer, adversary: Adversary, place: Path) -> dict[str, Any]:
    url, lines = system.folder.database_url(), client.read(place / "journals")
    checked = subprocess.run(
        [sys.executable, "-m", "crowdrag.runtime.cli", "check_invariants", "--json"],
        env=system.environment(), cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    broken = (
        json.loads(checked.stdout)["invariants"] if checked.stdout.strip() else [{"name": checked.stderr, "broken": 1}]
    )
    restored, restore = _restored(adversary, lines, place)
    return {
        "lines": lines,
        "rows": [*comparison.compare(url, lines), comparison.files(url, system.folder.files)],
        "restored": restored,
        "restore": restore,
        "money": comparison.money(url, model.bill),
        "stuck": comparison.stuck(url),
        "checked": broken,
        "broken": [each for each in broken if each["broken"]],
        "harms": adversary.done,
    }


def _restored(adversary: Adversary, lines: list[dict[str, Any]], place: Path) -> tuple[list[Row], str]:
    """Restore the backup into a second folder and compare it with what was acknowledged before it began."""
    if adversary.backed_up is None:
        return [], "no backup succeeded"
    second = ChaosSystem(place / "second")
    try:
        began = time.monotonic()
        second.crowdrag("restore", str(adversary.backup))
        seconds = time.monotonic() - began
        second.crowdrag("check_invariants")
        second.up("--only", "sweep")
        rows = comparison.compare(second.folder.database_url(), lines, until=adversary.backed_up[0])
    finally:
        second.end()
    for row in rows:
        row.over = row.under = None
    took = adversary.backed_up[1] - adversary.backed_up[0]
    return rows, f"a backup of {took:.0f} s under load, restored in {seconds:.0f} s, all invariants hold"


def report(found: dict[str, Any]) -> None:
    """Print the tables."""
    lines, outages = found["lines"], found["outages"]
    harms = found["harms"]
    print(f"\nChaos: {found['minutes']:g} minutes, seed {found['seed']}, {os.cpu_count()} cores, {platform.machine()}")
    print(f"settled after {found['settled']:.0f} s more; load average {os.getloadavg()[0]:.1f} at the end")
    print(f"\nHarms ({harms.total()}):")
    for harm, count in sorted(harms.items()):
        print(f"  {count:5d}  {harm}")
    if not found["is_mounted"]:
        print("         not possible here: a full disk (this account may not mount a file system)")
    if not found["clock"]:
        print("         not possible here: moving the clock (there is no C compiler)")
    share = outages.answered / max(1, outages.asked)
    print(f"  ready in {share:.0%} of the time, asked every half second; longest outage {outages.longest:.0f} s")
    lost = sum(line["what"] == "lost answer" for line in lines)
    sent, resent = (sum(line[name] for line in lines if line["what"] == "counted") for name in ("sent", "resent"))
    print(f"  {sent:,} requests of pages and scripts, {resent:,} sent again; {lost:,} answers lost on the way")
    _table("At the end", found["rows"])
    _table(f"In the backup ({found['restore']})", found["restored"])
    money: Money = found["money"]
    print(
        f"\nLedger: {money.booked:.4f} booked for {money.billed:.4f} billed (minor units); {money.attempts:,} attempts "
        f"for {money.requests:,} billed requests, {money.unknown:,} of unknown outcome, booked at their bound; "
        f"{'the counter is their sum' if money.is_balanced else 'THE COUNTER DIFFERS'}"
    )
    print("Stuck: " + ", ".join(f"{count} {name}" for name, count in found["stuck"].items()))
    print(f"Invariants: {len(found['checked'])} checked, {len(found['broken'])} broken")
    for each in found["broken"]:
        print(f"  BROKEN {each['name']}: {each.get('examples')}")
    for what in ("refused", *UNANSWERED, "failed"):
        about = [f"{line.get('who', '')} {line['about']}" for line in lines if line["what"] == what]
        if about:
            print(f"\n{len(about)} times {what}, for example:")
            for text in dict.fromkeys(text[:160] for text in about[:8]):
                print(f"  {text}")
    print()


def _table(title: str, rows: list[Row]) -> None:
    print(f"\n{title}\n  {'':32}{'acknowledged':>13}{'lost':>7}{'doubled':>9}{'over':>7}{'left':>7}")
    for row in rows:
        over, under = ("-" if group is None else str(len(group)) for group in (row.over, row.under))
        print(f"  {row.name:32}{row.acknowledged:13,}{len(row.lost):7}{len(row.doubled):9}{over:>7}{under:>7}")
    for row in rows:
        for fault in row.faults:
            print(f"    {fault}")


if __name__ == "__main__":
    sys.exit(main())
