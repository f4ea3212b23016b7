"""Which processes run CrowdRAG's code on one machine: a process for each part, or as few as possible."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from crowdrag.runtime import environment
from crowdrag.runtime.data_folder import DataFolder
from crowdrag.runtime.service_monitor import Service
from crowdrag.runtime.workers import QUEUES, Deliveries, Sweep, WaitingMessages, Worker

#: The parts that run CrowdRAG's code, each of which can be alone on a machine.
PARTS = ("web", "sweep", *(f"worker-{queue.name}" for queue in QUEUES))


@dataclass(frozen=True)
class Layout:
    """How the parts share processes."""

    # Whether workers of runs run only while there is work, with one process for deliveries and the sweep.
    is_small: bool = False
    # Defaults of variables, where the operator sets none.
    variables: Mapping[str, str] = field(default_factory=dict)
    # Settings of the embedded PostgreSQL.
    postgres: Mapping[str, str] = field(default_factory=dict)
    # Seconds after which the embedded PostgreSQL ends an idle session of the web or of deliveries, which check theirs
    # before use; 0: never. Not of workers: a computation may take longer between two queries.
    idle_session: int = 0

    def session_variables(self) -> dict[str, str]:
        """Return the variables of a process whose idle sessions may end."""
        if not self.idle_session or not environment.embeds_postgres():
            return {}
        return {"PGOPTIONS": f"-c idle_session_timeout={self.idle_session}s"}

    def background_services(self, folder: DataFolder, parts: tuple[str, ...], llm_url: str) -> list[Service]:
        """Return the services beside the web: of these parts, or of all of them on a small machine."""
        if self.is_small:
            messages = WaitingMessages(folder)
            return [
                Deliveries(folder, llm_url, self.session_variables()),
                *(Worker(folder, queue, llm_url, messages=messages) for queue in QUEUES),
            ]
        services: list[Service] = [
            Worker(folder, queue, llm_url) for queue in QUEUES if f"worker-{queue.name}" in parts
        ]
        return [*services, Sweep(folder, llm_url)] if "sweep" in parts else services

    def set_defaults(self) -> None:
        """Set the variables that the operator has not set, for this process and those that it starts."""
        for name, value in self.variables.items():
            os.environ[name] = os.environ.get(name) or value


SEPARATE = Layout()
SMALL = Layout(
    is_small=True,
    variables={
        "WEB_WORKERS": "1",
        "WORKERS_LLM": "1",
        "CROWDRAG_COMPRESS_STATIC": "false",
        "CROWDRAG_ON_DEMAND": ",".join(queue.name for queue in QUEUES),
    },
    postgres={
        "shared_buffers": "32MB",
        # As few processes as possible: none that read ahead, none for subscriptions.
        "io_method": "sync",
        "max_logical_replication_workers": "0",
    },
    idle_session=60,
)


def choose(*, is_demo: bool, is_whole: bool) -> Layout:
    """Return the layout: the small one for the whole demo, whose broker is ours."""
    return SMALL if is_demo and is_whole and environment.embeds_valkey() else SEPARATE
