"""Other tools in the same run: Potato, Label Studio and doccano judge the same pairs, race, are killed, and export.

They are installed from PyPI into environments of their own, in `CROWDRAG_PEERS` or `~/.cache/crowdrag-peers`, and are
reused. The tables of docs/explanation/peers.md are printed at the end.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench._system import system

if TYPE_CHECKING:
    from bench.peers.measurements import Export, Killed, Load, Opened, Race
    from bench.peers.tool import Project, Site, Stores, Tool


@dataclass(frozen=True)
class Figures:
    """All figures of one tool."""

    loads: dict[int, Load]
    race: Race
    killed: Killed
    export: Export
    page: Opened


def tools() -> tuple[Tool, ...]:
    """Return the compared tools, ourselves first."""
    from bench.peers.crowdrag import CROWDRAG
    from bench.peers.doccano import DOCCANO
    from bench.peers.label_studio import LABEL_STUDIO
    from bench.peers.potato import POTATO

    return (CROWDRAG, POTATO, LABEL_STUDIO, DOCCANO)


def run() -> Iterator[dict]:
    """Install what is missing, measure all tools in turn, print the table."""
    from bench.peers import table

    compared = tools()
    for tool in compared:
        tool.install()
    with system() as folder, tempfile.TemporaryDirectory(prefix="crowdrag-peers-") as home:
        from bench.peers.tool import Stores

        try:
            figures = _measured(compared, Stores(folder, Path(home)))
        finally:
            for tool in compared:
                tool.close()
    yield from table.rows(compared, figures)
    print()
    print(table.table(compared, figures), table.setups(compared), sep="\n\n", flush=True)


def _measured(compared: tuple[Tool, ...], stores: Stores) -> dict[str, Figures]:
    from bench.peers import measurements as m

    clients = sum(m.CLIENTS)
    sites = _opened(compared, m.project("judging", m.TOPICS, clients, clients), stores)
    _say("judging load")
    loads, acknowledged = m.loads(sites)
    for clients, of in loads.items():
        _say(f"{clients} clients: " + ", ".join(f"{name} {load.rate:.1f} a second" for name, load in of.items()))
    _say("exports")
    exports = {name: m.export(site, acknowledged[name]) for name, site in sites.items()}
    _say("pages")
    pages = m.pages(sites)
    for site in sites.values():
        site.close()
    races = {}
    project = m.project("race", m.RACE_TOPICS, m.K, m.RACERS, m.EACH)
    for tool in compared:
        _say(f"race, {tool.title}")
        site = tool.open(project, stores)
        races[tool.title] = m.race(site, has_quota=tool.has_quota)
        _say(str(races[tool.title]))
        site.close()
    kills = {}
    project = m.project("kill", m.KILL_TOPICS, m.KILLERS, m.KILLERS)
    for tool in compared:
        _say(f"kills, {tool.title}")
        site = tool.open(project, stores)
        kills[tool.title] = m.kill(site)
        _say(str(kills[tool.title]))
        site.close()
    return {
        tool.title: Figures(
            {clients: of[tool.title] for clients, of in loads.items()},
            races[tool.title], kills[tool.title], exports[tool.title], pages[tool.title],
        )
        for tool in compared
    }  # fmt: skip


def _opened(compared: tuple[Tool, ...], project: Project, stores: Stores) -> dict[str, Site]:
    sites = {}
    for tool in compared:
        _say(f"starting {tool.title}")
        sites[tool.title] = tool.open(project, stores)
    return sites


def _say(what: str) -> None:
    print(f"  {time.strftime('%H:%M:%S')} {what}, load average {os.getloadavg()[0]:.1f}", flush=True)
