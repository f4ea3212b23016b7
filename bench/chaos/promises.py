"""What is promised, D1 to D28: what proves each promise, and its figure where the run itself measures it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.chaos.comparison import Row
from crowdrag.runtime.data_folder import REPOSITORY
from tests.runtime.conftest import SESSION_ONLY

Found = dict[str, Any]
#: All forms of the tests, the long ones too.
PYTEST = "pytest -q -m 'soak or not soak' --timeout 7200"


@dataclass(frozen=True)
class Promise:
    """A promise.

    `proof` names what proves it at its full figure: tests (paths below `tests/`), or `bench NAME`. `measured` returns
    the figure of a chaos run, and whether it is reached; None where the run measures nothing of it.
    """

    number: int
    says: str
    proof: str
    measured: Callable[[Found], tuple[str, bool]] | None = None
    #: Why it does not apply.
    why_not: str = ""

    @property
    def command(self) -> list[str]:
        """The command that proves it."""
        if self.proof.startswith("bench "):
            return [sys.executable, "-m", *self.proof.split()]
        paths = [f"tests/{path}" for path in self.proof.split()]
        return [sys.executable, "-m", *shlex.split(PYTEST), *paths]

    @property
    def shown_command(self) -> str:
        """The command to copy."""
        return f"python {shlex.join(self.command[1:])}"


def _row(found: Found, name: str) -> Row:
    row: Row = next(row for row in found["rows"] if row.name == name)
    return row


def _harms(found: Found, *names: str) -> int:
    return sum(count for harm, count in found["harms"].items() if harm.startswith(names))


def _figure(found: Found, *names: str) -> tuple[str, bool]:
    """Return the sums of some rows."""
    rows = [_row(found, name) for name in names]
    lost, doubled = sum(len(row.lost) for row in rows), sum(len(row.doubled) for row in rows)
    count = sum(row.acknowledged for row in rows)
    return f"{count:,} acknowledged, {lost} lost, {doubled} doubled", not lost and not doubled


def _claims(found: Found) -> tuple[str, bool]:
    rows = [_row(found, "questionnaires claimed"), _row(found, "writing tasks claimed")]
    over, under = (sum(len(getattr(row, name) or ()) for row in rows) for name in ("over", "under"))
    twice = len(rows[0].doubled)
    claims = sum(row.acknowledged for row in rows)
    text = f"{claims:,} claims: {over} over-assigned, {under} places left, {twice} given twice to one person"
    return text, not over and not under and not twice


def _late_work(found: Found) -> tuple[str, bool]:
    text, is_well = _figure(found, "questionnaires submitted", "decisions about judging")
    stuck = found["stuck"]["questionnaires past their lease"]
    return f"{text}; {stuck} stuck after the last lease", is_well and not stuck


def _events(found: Found) -> tuple[str, bool]:
    text, is_well = _figure(found, "events of the editor", "batches of the editor")
    return f"{_harms(found, 'killed web')} kills of the web server; {text}", is_well


def _database(found: Found) -> tuple[str, bool]:
    text, is_well = _figure(found, "events of the editor", "answers of judges")
    return f"{_harms(found, 'killed postgres')} kills of PostgreSQL; {text}", is_well


def _once(found: Found) -> tuple[str, bool]:
    lost = sum(line["what"] == "lost answer" for line in found["lines"])
    doubled = sum(len(row.doubled) for row in found["rows"])
    return f"{lost:,} answers lost after the commit and the request sent again: {doubled} effects doubled", not doubled


def _clock(found: Found) -> tuple[str, bool]:
    moves = _harms(found, "moved the clock")
    if not moves:
        return "the clock could not be moved here", True
    gaps = len(_row(found, "batches of the editor").doubled)
    return f"{moves} moves by up to 26 h: {gaps} batches out of order", not gaps


def _jobs(found: Found) -> tuple[str, bool]:
    text, is_well = _figure(found, "runs started", "runs done")
    money, kills = found["money"], _harms(found, "killed worker", "stopped a worker")
    stuck = found["stuck"]["units of runs not ended"]
    answers, models = found["money"].requests, _row(found, "answers of models")
    ledger = (
        f"{answers:,} billed requests booked at {money.booked / money.billed:.3f} of the bill" if money.billed else ""
    )
    doubled = f"{len(models.doubled)} of {models.acknowledged:,} answers stored twice"
    text = f"{kills} kills of workers; {text}, {stuck} units stuck; {doubled}; {ledger}"
    return text, is_well and money.is_well and not models.doubled and not stuck


def _broker(found: Found) -> tuple[str, bool]:
    harms = _harms(found, "killed valkey", "cut the broker", "emptied the broker", "stopped a worker")
    left = found["stuck"]["runs not ended"]
    return f"{harms} harms of the broker and stops of workers: {left} runs not ended", not left


def _budget(found: Found) -> tuple[str, bool]:
    money = found["money"]
    word = "within" if money.is_within_budget else "OVER"
    return f"{money.attempts:,} attempts at a server that fails: {word} the budget", money.is_within_budget


def _files(found: Found) -> tuple[str, bool]:
    return _figure(found, "files of releases downloaded", "releases published", "files of runs")


def _backup(found: Found) -> tuple[str, bool]:
    rows: list[Row] = found["restored"]
    lost = sum(len(row.lost) for row in rows)
    known = sum(row.acknowledged for row in rows)
    return f"{found['restore']}: {known:,} acknowledged before it, {lost} lost", bool(rows) and not lost


PROMISES = (
    Promise(1, "10,000 claims on 1,000 places fill each once",
            "annotation/judging/test_concurrency.py writing/assignments/test_concurrency.py", _claims),
    Promise(2, "The same on SQLite", "", why_not="there is no SQLite: PostgreSQL runs in every mode (ADR 1)"),
    Promise(3, "Killed, late and returned work: k accepted, nothing late is lost, no place stuck",
            "annotation/judging/test_chaos.py", _late_work),
    Promise(4, "Any order of events of paid work keeps all rules",
            "annotation/judging/test_state_machine.py writing/assignments/test_state_machine.py"),
    Promise(5, "The web server is killed while people type: no acknowledged event is lost or doubled",
            "writing/editor/test_ingestion_chaos.py", _events),
    Promise(6, "PostgreSQL is killed while people work: nothing acknowledged is lost", "runtime/test_recovery.py",
            _database),
    Promise(7, "An answer is lost after the commit: sending again has one effect",
            "api/test_idempotency.py writing/editor/test_session_state_machine.py annotation/judging/test_locks.py",
            _once),
    Promise(8, "Offline, restarted, signed out, two tabs: no character is lost, and nothing is called saved too early",
            "pages/test_editor_network.py pages/test_editor_faults.py pages/test_judging_saving.py"),
    Promise(9, "A killed browser loses half a second at most",
            "pages/test_editor_faults.py::test_a_browser_that_is_killed_loses_half_a_second_at_most"),
    Promise(10, "Large batches are split, and a full store of the browser is told",
            "pages/test_editor_faults.py::test_megabytes_are_pasted "
            "pages/test_editor_faults.py::test_storage_that_takes_nothing_is_told_and_nothing_is_lost"),
    Promise(11, "10,000 random edit scripts are rebuilt exactly", "pages/test_recorder.py"),
    Promise(12, "A wall clock that jumps changes no order",
            "pages/test_editor_faults.py::test_a_clock_that_is_set_is_told_and_the_order_stays "
            "writing/editor/test_ingestion.py jobs/test_clock_set_back.py", _clock),
    Promise(13, "Workers are killed: no job is lost, no result stored twice, the ledger is never below the bill",
            "jobs/test_chaos.py llm/test_processes.py analysis/experiments/test_kills.py", _jobs),
    Promise(14, "The broker dies, hangs or forgets: every job ends, and pages need no broker", "jobs/test_chaos.py",
            _broker),
    Promise(15, "Messages delivered again and again have one effect",
            "jobs/test_chaos.py::test_messages_delivered_again_and_again_have_one_effect"),
    Promise(16, "A model server that misbehaves: bounded cost, no endless retry, no key in a log",
            "llm/test_faulty_servers.py llm/test_ledger.py", _budget),
    Promise(17, "Exports and releases are whole, of one moment, in little memory", "bench release", _files),
    Promise(18, "Latency under load", "bench ingest judging"),
    Promise(19, "The API keeps its description, for every role", "api/test_schema.py"),
    Promise(20, "Every address opens for those who may, and for nobody else",
            "api/test_matrix.py studies/test_access.py"),
    Promise(21, "Hostile texts run nowhere",
            "pages/test_hostile_values.py pages/test_ui.py analysis/reports/test_hostile.py"),
    Promise(22, "No cell of an export begins a formula", "analysis/releases/formats/test_cells.py"),
    Promise(23, "No connection to a blocked address", "llm/test_addresses.py webhooks/test_transport.py"),
    Promise(24, "Accessible by axe, and by keyboard alone",
            "pages/test_axe.py pages/test_judging_journey.py pages/test_writing_journey.py"),
    Promise(25, "After an erasure nothing of a person is left", "analysis/erasure/test_nothing_left.py"),
    Promise(26, "Texts that tell a judge what to say: the effect is measured, with intervals",
            "annotation/llm_judges/test_injection.py"),
    Promise(27, "Upgrade with work in progress; a backup restores an equal system",
            "runtime/test_upgrade.py runtime/test_backup.py runtime/test_drill.py", _backup),
    Promise(28, "Each check finds the damage that it looks for (`make mutants` puts faults into the code)",
            "bench/test_chaos_comparison.py"),
)  # fmt: skip


def table() -> str:
    """Return the promises as a table of Markdown, which docs/explanation/reliability.md holds."""
    lines = ["| | promise | proof | in `make chaos` |", "|---|---|---|---|"]
    for promise in PROMISES:
        if promise.why_not:
            lines.append(f"| D{promise.number} | {promise.says} | does not apply: {promise.why_not} | |")
            continue
        proof = f"`python -m {promise.proof}`" if promise.proof.startswith("bench ") else _paths(promise)
        measured = "measured" if promise.measured is not None else ""
        lines.append(f"| D{promise.number} | {promise.says} | {proof} | {measured} |")
    return "\n".join(lines)


def _paths(promise: Promise) -> str:
    return ", ".join(dict.fromkeys(f"`tests/{path.partition('::')[0]}`" for path in promise.proof.split()))


def report(found: Found, *, run_all: bool) -> bool:
    """Print a line for each promise; return whether each figure that was measured is reached."""
    is_well = True
    print("Promises (measured in this run, or the command that measures it):")
    for promise in PROMISES:
        if promise.why_not:
            print(f"  D{promise.number:<3} does not apply: {promise.why_not}")
            continue
        if promise.measured is not None:
            figure, is_reached = promise.measured(found)
            is_well &= is_reached
            print(f"  D{promise.number:<3} {'ok' if is_reached else 'BROKEN'}: {promise.says}. {figure}")
        else:
            print(f"  D{promise.number:<3} {promise.says}.")
        if run_all:
            is_well &= _prove(promise)
        elif promise.measured is None:
            print(f"       {promise.shown_command}")
    return is_well


def _prove(promise: Promise) -> bool:
    """Run what proves a promise; print its last line."""
    # Not those of the system that was measured.
    environment = {name: value for name, value in os.environ.items() if name not in SESSION_ONLY}
    environment["PYTHONPATH"] = str(REPOSITORY)
    done = subprocess.run(promise.command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    last = (done.stdout.strip() or done.stderr.strip() or "no output").splitlines()[-1]
    print(f"       {'ok' if done.returncode == 0 else 'FAILED'}: {last}   ({promise.shown_command})", flush=True)
    return done.returncode == 0
