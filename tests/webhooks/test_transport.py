"""Nothing is sent into a network of ours: whatever the address looks like, and wherever it leads a moment later."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from crowdrag.webhooks import transport
from tests.webhooks.receiver import Receiver

REFUSED = [
    "http://example.org/hook",
    "ftp://example.org/hook",
    "//example.org/hook",
    "example.org",
    "https://",
    "https://user@example.org/",
    "https://user:word@example.org/",
    "https://example.org/#part",
    "https://example.org/a b",
    "https://example.org\\@127.0.0.1/",
    "https://example.org:99999/",
    "https://127.0.0.1/",
    "https://10.1.2.3/",
    "https://192.168.0.1/",
    "https://172.16.0.1/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://0.0.0.0/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[fe80::1]/",
    "https://[fc00::1]/",
    "https://[fd00:ec2::254]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[fe80::1%25eth0]/",
    "https://" + "a" * 1000 + ".org/",
    "https://localhost/hook",
    "https://hooks.localhost/",
    "https://printer.local/",
    "https://db.internal:8443/",
]
# Names and spellings that only a look-up tells to lead here.
LEADING_HERE = ["localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0"]


def alone(work: Any) -> Any:
    """Run it in a thread of its own: a browser's test may have left an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_nothing_is_sent_to_is_refused_when_it_is_entered(address: str) -> None:
    with pytest.raises(transport.AddressError):
        transport.parse_address(address)


def test_https_addresses_of_public_hosts_are_taken() -> None:
    assert transport.parse_address("https://hooks.example.org/a/b?key=1") == transport.Target(
        "hooks.example.org", 443, is_tls=True, is_local=False
    )
    assert transport.parse_address("https://93.184.216.34:8443/").port == 8443


def test_only_hosts_that_the_operator_names_may_be_in_a_private_network_or_without_tls(settings: Any) -> None:
    settings.WEBHOOK_LOCAL_HOSTS = ["Lab.internal", "10.0.0.5"]
    assert transport.parse_address("http://lab.internal/").is_local
    assert transport.parse_address("http://10.0.0.5/").resolved() == ["10.0.0.5"]
    for address in ("http://other.internal/", "https://10.0.0.6/", "http://93.184.216.34/"):
        with pytest.raises(transport.AddressError):
            transport.parse_address(address)


def test_not_even_the_operator_lets_messages_go_to_a_clouds_metadata(settings: Any) -> None:
    settings.WEBHOOK_LOCAL_HOSTS = ["169.254.169.254", "lab.internal"]
    with pytest.raises(transport.AddressError):
        transport.parse_address("http://169.254.169.254/")
    with pytest.raises(transport.AddressError):
        transport.parse_address("http://lab.internal/").resolved(lambda _host, _port: ["169.254.169.254"])


@pytest.mark.parametrize("host", LEADING_HERE)
def test_a_name_that_leads_here_is_never_connected_to(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        port = listener.getsockname()[1]
        answer = transport.post(address=f"https://{host}:{port}/", headers={}, body="{}")
        assert answer.status is None
        assert answer.problem
        with pytest.raises(TimeoutError):
            listener.accept()


def test_where_one_of_several_addresses_is_forbidden_none_is_tried() -> None:
    asked: list[str] = []

    def resolver(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["93.184.216.34", "127.0.0.1"]

    answer = transport.post(address="https://example.org/", headers={}, body="{}", resolver=resolver)
    assert answer.problem
    assert "127.0.0.1" not in answer.problem
    assert asked == ["example.org"]


def test_a_name_is_looked_up_once_and_what_was_checked_is_what_is_connected_to(there: Receiver) -> None:
    answers = [["127.0.0.1"], ["169.254.169.254"]]
    answer = transport.post(address=there.url, headers={}, body="{}", resolver=lambda _host, _port: answers.pop(0))
    assert answer.is_taken
    assert len(there.came) == 1
    assert answers == [["169.254.169.254"]]


def test_a_redirect_is_not_followed(there: Receiver) -> None:
    there.will(302, location=f"http://localhost:{there.port}/elsewhere")
    answer = transport.post(address=there.url, headers={}, body="{}")
    assert (answer.status, answer.is_taken) == (302, False)
    assert [came.path for came in there.came] == ["/hook?tenant=7"]


def test_no_proxy_of_the_environment_is_used(there: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert transport.post(address=there.url, headers={}, body="{}").is_taken


def test_nobody_learns_from_a_problem_what_a_name_leads_to() -> None:
    """What is there and private, and what is not there, look the same."""

    def private(_host: str, _port: int) -> list[str]:
        return ["10.1.2.3"]

    def nowhere(_host: str, _port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    said = set()
    for resolver in (private, nowhere):
        with pytest.raises(transport.AddressError) as caught:
            transport.parse_address("https://db.example.org/").resolved(resolver)
        said.add(str(caught.value))
    assert len(said) == 1
    assert "10.1.2.3" not in str(said)
