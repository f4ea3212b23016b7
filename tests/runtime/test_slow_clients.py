"""Clients that send or read slowly take no thread from others; what they send is taken in whole, or refused in time."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gunicorn.config import Config

from crowdrag.runtime import request_buffer, web_worker
from crowdrag.runtime.data_folder import REPOSITORY
from crowdrag.runtime.request_buffer import LARGEST_BUFFERED, RequestBuffer, RequestProgress
from tests.runtime.conftest import eventually

CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def post(length: int, *headers: str, path: str = "/") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@pytest.mark.parametrize(
    ("data", "progress"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", RequestProgress.WHOLE),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", RequestProgress.HEAD),
        (post(3) + b"ab", RequestProgress.BODY),
        (post(3) + b"abc", RequestProgress.WHOLE),
        (post(3) + b"abcGET", RequestProgress.WHOLE),
        (post(LARGEST_BUFFERED), RequestProgress.BODY),
        (post(LARGEST_BUFFERED + 1), RequestProgress.LARGE),
        (post(10**30), RequestProgress.LARGE),
        (CHUNKED + b"3\r\nabc\r\n", RequestProgress.BODY),
        (CHUNKED + b"3\r\nabc\r\n0\r\n", RequestProgress.BODY),
        (CHUNKED + b"3;a=b\r\nabc\r\n0\r\n\r\n", RequestProgress.WHOLE),
        (CHUNKED + b"0\r\nTrailer: x\r\n\r\n", RequestProgress.WHOLE),
        (CHUNKED + b"fffffff\r\n", RequestProgress.LARGE),
        (CHUNKED + b"no number\r\n", RequestProgress.WHOLE),
        (CHUNKED + b"1" * 2000, RequestProgress.WHOLE),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * request_buffer.LARGEST_HEAD, RequestProgress.TOO_LONG),
    ],
)
def test_a_request_is_whole_when_its_last_byte_is_there(data: bytes, progress: RequestProgress) -> None:
    at_once, bit_by_bit = RequestBuffer(), RequestBuffer()
    at_once.feed(data)
    for i in range(len(data)):
        bit_by_bit.feed(data[i : i + 1])
    assert at_once.progress is bit_by_bit.progress is progress
    assert at_once.data == bit_by_bit.data == data


def test_an_expectation_is_taken_out_once_it_is_answered() -> None:
    buffer = RequestBuffer()
    buffer.feed(post(3, "Expect: 100-continue") + b"a")
    assert buffer.expects_continue
    buffer.drop_expectation()
    assert b"expect" not in buffer.data.lower()
    assert buffer.feed(b"b") is RequestProgress.BODY
    assert buffer.feed(b"c") is RequestProgress.WHOLE


class Web:
    """One gunicorn process with four threads before an application of a few lines."""

    def __init__(self, root: Path, **limits: float) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.log = root / "web.log"
        config = root / "config.py"
        lines = ["from crowdrag.runtime import web_worker", *(f"web_worker.{name} = {limits[name]}" for name in limits)]
        config.write_text("\n".join(lines))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "tests.runtime.echo_app", "--no-control-socket", "--no-sendfile",
             "--worker-class", "crowdrag.runtime.web_worker.BufferingWorker", "--workers", "1", "--threads", "4",
             "--keep-alive", "5", "--bind", f"fd://{self.listener.fileno()}", "--config", str(config)],
            cwd=REPOSITORY, pass_fds=(self.listener.fileno(),), stdout=self.log.open("wb"), stderr=subprocess.STDOUT,
            env={**os.environ, "CROWDRAG_PROXIES": "0"},
        )  # fmt: skip
        eventually(lambda: self.ask("/")[0] == 200)

    def ask(self, path: str = "/", body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request("POST" if body is not None else "GET", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def open(self, data: bytes = b"", receive: int | None = None) -> socket.socket:
        client = socket.socket()
        client.settimeout(20)
        if receive is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        client.connect(("127.0.0.1", self.port))
        client.sendall(data)
        return client

    def end(self) -> float:
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.listener.close()
        return time.monotonic() - began


@pytest.fixture
def web(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Web]:
    """A server of a test's own, with limits of its own."""
    made = Web(tmp_path, **getattr(request, "param", {}))
    yield made
    made.end()


@pytest.fixture(scope="module")
def shared_web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """One server for all tests that leave nothing behind in it."""
    made = Web(tmp_path_factory.mktemp("web"), PER_ADDRESS=1000)
    yield made
    made.end()


def limits(**values: float) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("web", [values], indirect=True, ids=[""])


def answer_of(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(65536), b""))


# What a slow client has sent of its request.
BEGINNINGS = {
    "nothing": b"",
    "half a head": b"GET / HT",
    "no body": post(1000),
    "half a body": post(1000) + b"x" * 500,
    "half a chunk": CHUNKED + b"ff\r\nab",
    "an upload": post(9_000_000, path="/unread"),
}


def test_slow_clients_leave_the_threads_to_others(shared_web: Web) -> None:
    """Twenty-five times as many as there are threads, of one address with everybody else."""
    late = []
    for name, start in BEGINNINGS.items():
        slow = [shared_web.open(start) for _ in range(100)]
        began = time.monotonic()
        for _ in range(5):
            assert shared_web.ask("/", b"abc") == (200, b"3"), name
        if time.monotonic() - began >= 1:
            late.append(name)
        for client in slow:
            client.close()
        assert shared_web.ask("/") == (200, b"0"), name
    assert late == []


def test_slow_readers_leave_the_threads_to_others(shared_web: Web) -> None:
    """Each asks for 2 MB and reads nothing."""
    slow = [shared_web.open(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", receive=4096) for _ in range(20)]
    began = time.monotonic()
    assert shared_web.ask("/", b"abc") == (200, b"3")
    assert time.monotonic() - began < 1
    # Whoever reads on gets all of it.
    slow[0].sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer_of(slow[0]).count(b"x" * 1024) == 2 * 1024
    for client in slow:
        client.close()


@limits(HEAD_WITHIN=0.5, BODY_WITHIN=0.5)
def test_what_does_not_come_in_time_is_refused(web: Web) -> None:
    head, body, nothing = web.open(b"GET / HT"), web.open(post(1000) + b"x"), web.open()
    for client in (head, body):
        assert answer_of(client).startswith(b"HTTP/1.1 408 ")
    assert answer_of(nothing) == b"", "nothing was asked, so nothing is answered"


@limits(BODY_WITHIN=0.5, LOWEST_SPEED=1_000_000)
def test_uploads_below_the_lowest_speed_end(web: Web) -> None:
    slow = [web.open(post(5_000_000) + b"x") for _ in range(2)]
    assert web.ask("/", b"abc") == (200, b"3")
    assert all(answer_of(client) == b"" for client in slow)
    assert web.ask("/", b"x" * 5_000_000) == (200, b"5000000")


@limits(PER_ADDRESS=20)
def test_an_address_with_too_many_connections_loses_its_oldest(web: Web) -> None:
    slow = [web.open(post(1000) + b"x") for _ in range(30)]
    assert web.ask("/") == (200, b"0")
    for client in slow[:10]:
        assert answer_of(client).startswith(b"HTTP/1.1 408 ")
    slow[-1].sendall(b"x" * 999)
    assert slow[-1].recv(100).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        (("203.0.113.7", 1), "203.0.113.7"),
        (("::ffff:203.0.113.7", 1, 0, 0), "203.0.113.7"),
        (("2001:db8:1:2:a:b:c:d", 1, 0, 0), "2001:db8:1:2::"),
        (("fe80::a%2", 1, 0, 2), "fe80::"),
        ("", ""),
    ],
)
def test_connections_of_one_network_count_together(address: tuple[str, int] | str, counted_as: str) -> None:
    """One subscriber has 2 ** 64 addresses of IPv6."""
    ours, theirs = socket.socketpair()
    with theirs:
        client = web_worker.ClientSocket(ours.family, ours.type, ours.proto, fileno=ours.detach())
        connection = web_worker.Connection(Config(), client, address, "", lambda _connection: None)
        assert connection.address == counted_as
        connection.close()


@limits(MOST_HELD=5_000_000)
def test_what_is_held_for_slow_clients_is_bounded(web: Web) -> None:
    slow = [web.open(post(2_000_000) + b"x" * 1_500_000) for _ in range(8)]
    assert web.ask("/") == (200, b"0")
    closed = 0
    for client in slow:
        client.settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            closed += client.recv(100) == b"" or True
    assert 4 <= closed <= 7


def test_requests_that_come_together_are_answered_in_turn(shared_web: Web) -> None:
    first = post(3) + b"abc" + CHUNKED + b"5\r\nabcde\r\n0\r\n\r\n" + post(2, "Connection: close") + b"a"
    client = shared_web.open(first)
    time.sleep(0.3)
    client.sendall(b"b")
    said = answer_of(client)
    assert [part[:1] for part in said.split(b"\r\n\r\n")[1:]] == [b"3", b"5", b"2"]


def test_a_client_that_asks_first_is_told_to_go_on(shared_web: Web) -> None:
    client = shared_web.open(post(3, "Expect: 100-continue", "Connection: close"))
    assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.sendall(b"abc")
    assert answer_of(client).endswith(b"\r\n\r\n3")


def test_an_upload_that_is_refused_unread_still_hears_why(shared_web: Web) -> None:
    client = shared_web.open(post(50_000_000, path="/unread"))
    with contextlib.suppress(OSError):
        for _ in range(20):
            client.sendall(b"x" * 100_000)
    client.shutdown(socket.SHUT_WR)
    said = answer_of(client)
    assert b"Connection: close" in said
    assert said.endswith(b"refused")


def test_a_server_with_slow_clients_stops_and_ends_what_it_began(web: Web) -> None:
    slow = [web.open() for _ in range(20)]
    working = web.open(post(3, "X-Sleep: 0.6", "Connection: close") + b"abc")
    time.sleep(0.3)
    assert web.end() < 10
    assert answer_of(working).endswith(b"\r\n\r\n3")
    assert all(client.recv(1) == b"" for client in slow)


def test_the_limits_leave_room_for_people() -> None:
    """A slow phone's request, at 16 kB a second, with the largest body that is held."""
    assert LARGEST_BUFFERED / 16_384 < web_worker.BODY_WITHIN + LARGEST_BUFFERED / web_worker.LOWEST_SPEED
