"""An S3-compatible server on this machine, and a bucket of the test's own in it."""

from collections.abc import Iterator
from uuid import uuid4

import boto3
import pytest
from django.core.files.storage import storages

from crowdrag import storage
from crowdrag.storage.s3 import S3Storage


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    from moto.server import ThreadedMotoServer  # every process that collects tests would wait for it

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_address(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket, as it stands in STORAGE_URL."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    bucket = f"files-{uuid4().hex}"
    boto3.client("s3", endpoint_url=s3_server, region_name="us-east-1").create_bucket(Bucket=bucket)
    return f"s3://{bucket}/kept?endpoint={s3_server}&region=us-east-1"


@pytest.fixture
def s3(s3_address: str, settings) -> S3Storage:
    """The default storage of this test, on that server."""
    settings.STORAGES = settings.STORAGES | {"default": storage.storage_settings(s3_address)}
    return storages["default"]
