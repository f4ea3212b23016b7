import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from decimal import Decimal

import pytest
from django.utils import timezone

from crowdrag.llm import gateway
from crowdrag.llm.models import Endpoint
from crowdrag.llm.retry_policy import RetryPolicy
from crowdrag.studies.models import Study
from tests.llm.faulty_server import MisbehavingServer


@pytest.fixture
def server():
    """A model server that does what the messages say."""
    with MisbehavingServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield running
        running.shutdown()


@pytest.fixture
def endpoint(db, server):
    return Endpoint.objects.create(
        name="odd", base_url=server.url, model="m", is_local=True, is_allowed=True, timeout=5, max_tokens=50,
        supports_json_schema=True, supports_logprobs=True,
    )  # fmt: skip


@pytest.fixture
def paid(endpoint):
    """The same endpoint, for money: 1,000 minor units per million tokens in, 2,000 out."""
    endpoint.input_price, endpoint.output_price = Decimal(1000), Decimal(2000)
    endpoint.save()
    return endpoint


@pytest.fixture
def study(db):
    return Study.objects.create(slug="s", title="S", llm_budget=1_000_000, created_at=timezone.now())


@pytest.fixture
def slept():
    """The seconds that the gateway would have waited."""
    return []


@pytest.fixture
def policy(slept):
    class Recorded(RetryPolicy):
        def delay(self, **failure):
            slept.append(super().delay(**failure))
            return 0.0

    return Recorded(lease=2.0, poll=0.02)


@pytest.fixture
def ask(endpoint, study, policy):
    """Ask the odd server something in one line."""

    def _ask(*texts, schema=None, endpoint=endpoint, study=study, sample=0, on_answer=None, policy=policy, **given):
        requests = [
            gateway.Request([{"role": "user", "content": text}], parameters=given, schema=schema, sample=sample)
            for text in texts
        ]
        return gateway.complete_many(
            endpoint=endpoint, requests=requests, study=study, purpose="test", on_answer=on_answer, policy=policy
        )  # fmt: skip

    return _ask


@pytest.fixture(scope="session")
def local_model_url():
    """The real local model: SmolLM2 behind llama.cpp."""
    from crowdrag.runtime import local_model

    if reason := local_model.what_is_missing():
        pytest.fail(f"The local language model is part of every install: {reason}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "crowdrag.runtime.local_model", "--port", str(port)],
        env=os.environ.copy(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _try in range(300):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except OSError:
                assert process.poll() is None, "the server of the local model ended"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()
