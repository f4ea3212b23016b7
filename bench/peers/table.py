"""Rows of the measurement, and the table for the documentation."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from bench.peers import measurements as m

if TYPE_CHECKING:
    from bench.peers import Figures
    from bench.peers.tool import Tool


def rows(compared: tuple[Tool, ...], figures: dict[str, Figures]) -> Iterator[dict]:
    """Yield a row for each comparison with a peer, and for what must hold of ourselves."""
    ours, *peers = (tool.title for tool in compared)
    mine = figures[ours]
    for peer in peers:
        its = figures[peer]
        for clients in m.CLIENTS:
            us, them = mine.loads[clients], its.loads[clients]
            yield _row(
                f"answers a second with {clients} clients, over {peer}", us.rate / them.rate, 1,
                f"{us.rate:.1f} and {them.rate:.1f}; p95 of a judgment {us.quantile(95) * 1000:.0f} and "
                f"{them.quantile(95) * 1000:.0f} ms; errors {len(us.errors)} and {len(them.errors)} {them.errors[:2]}",
            )  # fmt: skip
        yield _row(
            f"bytes of the judging page, {peer} over ours", its.page.bytes / mine.page.bytes, 1,
            f"{its.page.bytes / 1000:.0f} and {mine.page.bytes / 1000:.0f} kB, {its.page.requests} and "
            f"{mine.page.requests} requests",
        )  # fmt: skip
    for tool in compared:
        its = figures[tool.title]
        target = 1 if tool.title == ours else 0
        race, killed, export = its.race, its.killed, its.export
        yield _row(
            f"pairs with exactly {m.K} annotations after the race, {tool.title}", race.exact / race.pairs, target,
            f"{race.over} annotations too many, {race.under} too few in {race.seconds:.1f} s, "
            f"{len(race.errors)} errors {race.errors[:2]}",
        )  # fmt: skip
        yield _row(
            f"acknowledged answers that are there once after {m.KILLS} kills, {tool.title}",
            1 - (killed.lost + killed.doubled) / killed.acknowledged, target,
            f"{killed.lost} lost and {killed.doubled} doubled of {killed.acknowledged}; answers again after "
            f"{statistics.median(killed.restarts):.1f} s",
        )  # fmt: skip
        yield _row(
            f"acknowledged answers that are exported, {tool.title}",
            1 - export.missing / max(export.answers + export.missing, 1), target,
            f"{export.answers} answers in {export.seconds:.2f} s, {export.size / 1000:.0f} kB",
        )  # fmt: skip


def _row(name: str, ratio: float, target: float, detail: str) -> dict:
    return {"name": name, "ratio": ratio, "target": target, "detail": detail}


def table(compared: tuple[Tool, ...], figures: dict[str, Figures]) -> str:
    """Return the table as Markdown: a column for each tool."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, load average {os.getloadavg()[0]:.1f}"
    lines = [
        f"{time.strftime('%Y-%m-%d')}, {machine}.",
        "",
        _line("", (f"{tool.title} {tool.version}" for tool in compared)),
        _line("---", ("---:" for _ in compared)),
    ]
    shown: list[tuple[str, Callable[[Figures], str]]] = []
    for clients in m.CLIENTS:
        shown += [
            (f"Answers a second, {clients} clients", lambda f, c=clients: f"{f.loads[c].rate:.1f}"),
            (f"Requests a second, {clients} clients", lambda f, c=clients: f"{f.loads[c].request_rate:.0f}"),
            (
                f"Time of a judgment, {clients} clients: p50 / p95",
                lambda f, c=clients: f"{f.loads[c].quantile(50) * 1000:.0f} / {f.loads[c].quantile(95) * 1000:.0f} ms",
            ),
            (f"Errors, {clients} clients", lambda f, c=clients: str(len(f.loads[c].errors))),
        ]
    shown += [
        (f"Race: pairs with exactly {m.K} of {m.RACE_TOPICS * 10}", lambda f: str(f.race.exact)),
        ("Race: annotations too many / too few", lambda f: f"{f.race.over} / {f.race.under}"),
        ("Race: duration", lambda f: f"{f.race.seconds:.1f} s"),
        (
            f"{m.KILLS} kills: answers lost / doubled",
            lambda f: f"{f.killed.lost} / {f.killed.doubled} of {f.killed.acknowledged}",
        ),
        ("Kill to first page", lambda f: f"{statistics.median(f.killed.restarts):.1f} s"),
        ("Export: answers", lambda f: str(f.export.answers)),
        ("Export: acknowledged answers missing", lambda f: str(f.export.missing)),
        ("Export: time for 1,000 answers", lambda f: f"{f.export.seconds / f.export.answers * 1e6:.0f} ms"),
        ("Export: bytes of an answer", lambda f: f"{f.export.size / f.export.answers:.0f}"),
        ("Page: requests", lambda f: str(f.page.requests)),
        ("Page: transferred", lambda f: f"{f.page.bytes / 1000:.0f} kB"),
        ("Page: if all text were compressed", lambda f: f"{f.page.compressed / 1000:.0f} kB"),
        ("Page: usable after", lambda f: f"{f.page.seconds:.2f} s"),
        ("Page: usable after, at 1.6 Mbit/s", lambda f: f"{f.page.slow_seconds:.1f} s"),
    ]
    lines += [_line(name, (say(figures[tool.title]) for tool in compared)) for name, say in shown]
    return "\n".join(lines)


def setups(compared: tuple[Tool, ...]) -> str:
    """Return how each tool was set up, as Markdown."""
    lines = [_line("", iter(("packages", "server", "k annotations for each pair"))), _line("---", iter(["---"] * 3))]
    for tool in compared:
        packages = ", ".join(f"`{package}`" for package in tool.packages) or "this version"
        lines.append(_line(tool.title, iter((packages, tool.setup, tool.assignment))))
    return "\n".join(lines)


def _line(first: str, cells: Iterator[str]) -> str:
    return f"| {first} | {' | '.join(cells)} |"
