"""Two web machines with one database and one storage: sessions and files of one are those of the other at once."""

import http.client
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

import boto3
import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from moto.server import ThreadedMotoServer

from annotation.models import Judgment
from crowdrag.jobs.models import Upload
from tests.annotation.judging.judging_page import JudgingPage
from tests.annotation.shared import signed_in
from tests.runtime.conftest import eventually, free_port
from tests.writing.editor.served_editor import CSRF, Server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.extended, pytest.mark.timeout(300)]
CONTENT = b'{"id": "1", "query": "why"}\n'
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
PROXY = """
daemon off; pid {folder}/pid; error_log {folder}/log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    upstream crowdrag {{ server 127.0.0.1:{first}; server 127.0.0.1:{second}; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://crowdrag;
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $remote_addr;
            add_header X-Answered-By $upstream_addr always;
        }}
    }}
}}
"""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket that both machines use; its endpoint."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket="files")
    monkeypatch.setenv("STORAGE_URL", f"s3://files?endpoint={endpoint}&region=us-east-1")
    yield endpoint
    server.stop()


@pytest.fixture
def machines(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Server]]:
    for name in ("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WEB_WORKERS", "1")
    monkeypatch.setenv("CROWDRAG_PROXIES", "1")
    database = str(connection.settings_dict["NAME"])
    made = [Server(tmp_path / name, database, CROWDRAG_DATA_DIR=str(tmp_path / name)) for name in ("one", "two")]
    try:
        for server in made:
            server.start()
            server.await_answer()
        # By name, their cookies are those of one system, although their folders differ.
        assert len({server.cookies("") for server in made}) == 1
        yield made
    finally:
        for server in made:
            server.close()


@pytest.fixture
def proxy(machines: list[Server], tmp_path: Path) -> Iterator[int]:
    """The port of nginx before both."""
    folder, port = tmp_path / "nginx", free_port()
    folder.mkdir()
    first, second = (server.port for server in machines)
    (folder / "conf").write_text(PROXY.format(folder=folder, first=first, second=second, port=port))
    command = [str(NGINX), "-c", str(folder / "conf"), "-e", str(folder / "log"), "-p", str(folder)]
    process = subprocess.Popen(command)
    try:
        eventually(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
        yield port
    finally:
        process.terminate()
        process.wait(10)


Ask = Callable[..., tuple[int, str, bytes]]


def asking(ports: Iterator[int], place: Server, client: Client) -> Ask:
    """Return a function that sends a browser's requests to one port after the other.

    It returns the status, the machine that answered if a proxy says so, and the body.
    """
    cookies = place.cookies(str(client.session.session_key))

    def ask(
        method: str, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> tuple[int, str, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", next(ports), timeout=30)
        headers = {"Host": "localhost", "Cookie": cookies, "X-CSRFToken": CSRF, "Content-Type": kind}
        line.request(method, path, body, headers)
        answer = line.getresponse()
        content = answer.read()
        line.close()
        return answer.status, answer.headers.get("X-Answered-By", ""), content

    return ask


def work(ports: Callable[[], Iterator[int]], place: Server) -> set[str]:
    """Let a judge and a researcher use all machines in turn; return those that a proxy named."""
    sheet = JudgingPage(per_questionnaire=3)
    ask = asking(ports(), place, sheet.client)
    seen = set()
    for revision in range(1, 7):
        body = json.dumps(sheet.answer(value=(-1) ** revision, revision=revision)).encode()
        status, machine, content = ask("POST", sheet.address("answer"), body)
        assert (status, json.loads(content)["revision"]) == (200, revision)
        seen.add(machine)
    assert Judgment.objects.get().revision == 6
    # Both machines remember the judge's session by now. It ends for both at once.
    withdraw = reverse("participant_withdraw", args=[sheet.world.study.slug])
    form = urlencode({"choice": "erase", "is_sure": "on", "csrfmiddlewaretoken": CSRF}).encode()
    assert ask("POST", withdraw, form, "application/x-www-form-urlencoded")[0] == 302
    body = json.dumps(sheet.answer(value=1, revision=7)).encode()
    assert [ask("POST", sheet.address("answer"), body)[0] for _ in range(4)] == [403] * 4

    researcher = asking(ports(), place, signed_in(sheet.world.study))
    uploads = reverse("api_uploads", args=[sheet.world.study.slug])
    part = (
        b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n'
        + CONTENT
        + b"\r\n--edge--\r\n"
    )
    for number in range(1, 5):
        assert researcher("POST", uploads, part, "multipart/form-data; boundary=edge")[0] == 201
        listed = [json.loads(researcher("GET", uploads)[2]) for _ in range(2)]
        assert [len(page["results"]) for page in listed] == [number] * 2
    return seen


def stored_files(endpoint: str) -> list[bytes]:
    """Return all uploaded files, as a worker on a third machine reads them."""
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    names = Upload.objects.values_list("file", flat=True)
    keys = [each["Key"] for each in client.list_objects_v2(Bucket="files").get("Contents", [])]
    return [
        client.get_object(Bucket="files", Key=key)["Body"].read() for key in keys if any(key.endswith(n) for n in names)
    ]


def test_two_machines_are_one_system(machines: list[Server], bucket: str) -> None:
    work(lambda: cycle(server.port for server in machines), machines[0])
    assert stored_files(bucket) == [CONTENT] * 4


@pytest.mark.skipif(NGINX is None, reason="nginx is not here")
def test_two_machines_behind_nginx_are_one_system(machines: list[Server], bucket: str, proxy: int) -> None:
    seen = work(lambda: cycle([proxy]), machines[0])
    assert seen == {f"127.0.0.1:{server.port}" for server in machines}
    assert stored_files(bucket) == [CONTENT] * 4
