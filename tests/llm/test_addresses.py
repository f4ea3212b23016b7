"""No connection leaves for an address that is not allowed, whatever the URL says and however the name changes."""

import asyncio
from asyncio import selector_events
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from django.core.exceptions import ValidationError
from django.forms import modelform_factory

from crowdrag.llm import addresses, gateway
from crowdrag.llm import client as llm_client
from crowdrag.llm.enums import Fault
from crowdrag.llm.models import Endpoint
from crowdrag.llm.retry_policy import RetryPolicy

NEVER = [
    "0.0.0.0", "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    "fd00:ec2::254", "fd20:ce::254", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254",
    "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::808:808",
    "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "no-address",
]  # fmt: skip
LOCAL = [
    "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
    "100.127.255.254", "198.18.0.1", "::1", "fc00::1", "fd12:3456::1",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "2a00:1450:4001:800::200e"]


def test_only_public_addresses_are_allowed_and_private_ones_by_the_operators_word():
    for group, far, local in ((NEVER, True, True), (LOCAL, True, False), (PUBLIC, False, False)):
        for address in group:
            blocked = [bool(addresses.why_forbidden(address, is_local=is_local)) for is_local in (False, True)]
            assert blocked == [far, local], address


# Spellings that the system's resolver turns into 127.0.0.1 or 169.254.169.254.
def test_odd_spellings_are_seen_through():
    for host in (
        "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "2852039166", "0xa9fea9fe", "localhost",
    ):  # fmt: skip
        checked_host, port = addresses.check_url(f"https://{host}/v1", is_local=False)
        with pytest.raises((addresses.BlockedAddressError, ConnectionError)):
            addresses.resolve(checked_host, port, is_local=False)


def test_urls_that_no_endpoint_may_have():
    for url in (
        "ftp://example.org/v1", "file:///etc/passwd", "gopher://example.org", "//example.org/v1", "https://", "https:///v1",
        "http://example.org/v1", "https://user@example.org/v1", "https://user:secret@example.org/v1",
        "https://example.org/v1?x=1", "https://example.org/v1#x", "https://[fe80::1%25eth0]/v1",
        "https://exa mple.org/v1", "https://example.org\\@127.0.0.1/v1", "https://example.org:99999/v1", "https://[::1/v1",
    ):  # fmt: skip
        with pytest.raises(addresses.BlockedAddressError):
            addresses.check_url(url, is_local=False)


def test_one_bad_address_among_good_ones_is_enough():
    with pytest.raises(addresses.BlockedAddressError, match=r"10\.0\.0\.1"):
        addresses.resolve("x", 443, is_local=False, resolver=lambda host, port: ["8.8.8.8", "10.0.0.1"])


def test_the_operator_can_name_the_only_hosts(settings):
    settings.LLM_HOSTS = ["api.example.org"]
    assert addresses.check_url("https://API.example.org/v1", is_local=False) == ("api.example.org", 443)
    with pytest.raises(addresses.BlockedAddressError, match="CROWDRAG_LLM_HOSTS"):
        addresses.check_url("https://api.example.com/v1", is_local=False)


@pytest.fixture
def connections(monkeypatch):
    """Every address that a socket was asked to connect to."""
    tried = []
    real = selector_events.BaseSelectorEventLoop.sock_connect

    async def sock_connect(self, sock, address):
        tried.append(address[0])
        return await real(self, sock, address)

    monkeypatch.setattr(selector_events.BaseSelectorEventLoop, "sock_connect", sock_connect)
    return tried


class Rebinding:
    """A name server that says something good first and something bad ever after."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host, port):
        self.asked += 1
        return [self.answers[min(self.asked, len(self.answers)) - 1]]


def _ask(endpoint, study, resolver, *texts):
    return gateway.complete_many(
        endpoint=endpoint,
        requests=[gateway.Request(messages=[{"role": "user", "content": text}]) for text in texts],
        study=study,
        purpose="test",
        policy=RetryPolicy(tries=1, poll=0.02),
        resolver=resolver,
    )


@pytest.mark.django_db
def test_no_socket_is_opened_to_a_blocked_address(endpoint, study, server, connections):
    Endpoint.objects.update(base_url="https://model.example.org/v1", is_local=False)
    endpoint.refresh_from_db()
    for address in [*NEVER, *LOCAL]:
        [answer] = _ask(endpoint, study, lambda host, port, address=address: [address], f"ok {address}")
        assert answer.fault == Fault.BLOCKED, address
    assert connections == []


@pytest.mark.django_db
def test_a_name_that_changes_after_the_check_changes_nothing(endpoint, study, server, connections):
    """The checked address is the one that is connected to: the name is not looked up again in between."""
    port = server.server_address[1]
    Endpoint.objects.update(base_url=f"http://model.example.org:{port}/v1")
    endpoint.refresh_from_db()
    resolver = Rebinding("127.0.0.1", "169.254.169.254")
    answers = _ask(endpoint, study, resolver, "ok:1", "ok:2", "drop", "ok:3")
    assert [answer.text for answer in answers] == ["1", "2", None, "3"]
    assert set(connections) == {"127.0.0.1"}
    assert resolver.asked == 1
    assert {headers["host"] for headers, _body in server.seen} == {f"model.example.org:{port}"}


@pytest.mark.django_db
def test_when_it_is_looked_up_again_it_is_checked_again(endpoint, study, server, connections, monkeypatch):
    monkeypatch.setattr(llm_client, "FRESH_SECONDS", -1.0)
    Endpoint.objects.update(base_url=f"http://model.example.org:{server.server_address[1]}/v1", concurrency=1)
    endpoint.refresh_from_db()
    answers = _ask(endpoint, study, Rebinding("127.0.0.1", "169.254.169.254"), "ok:1", "ok:2")
    assert [answer.fault for answer in answers] == ["", Fault.BLOCKED]
    assert set(connections) == {"127.0.0.1"}


@pytest.mark.django_db
def test_a_redirect_is_not_followed(endpoint, study, server, connections):
    for target in ("http://169.254.169.254/latest/meta-data", f"{server.url}/elsewhere"):
        [answer] = _ask(endpoint, study, addresses.system_resolver, f"redirect:{target},ok")
        assert answer.fault == Fault.REDIRECTED
    assert set(connections) == {"127.0.0.1"}
    assert len(server.seen) == 2


@pytest.mark.django_db
def test_the_next_address_is_tried_where_one_takes_no_connection(endpoint, study, server, connections):
    Endpoint.objects.update(base_url=f"http://model.example.org:{server.server_address[1]}/v1")
    endpoint.refresh_from_db()
    [answer] = _ask(endpoint, study, lambda host, port: ["127.0.0.2", "127.0.0.1"], "ok")
    assert answer.text == "yes"


def test_tls_checks_the_name_and_not_the_address(tmp_path):
    """The certificate's name must be the endpoint's although the connection goes to an address."""
    seen = {}
    endpoint = Endpoint(name="t", base_url="https://model.example.org/v1", model="m", is_local=False)

    async def run():
        checked = llm_client.CheckedTransport(endpoint=endpoint, resolver=lambda host, port: ["8.8.8.8"])

        async def inner(request):
            seen.update(url=str(request.url), host=request.headers["host"], **request.extensions)
            raise llm_client.httpx2.ConnectError("far enough")

        checked._idle.append(SimpleNamespace(handle_async_request=inner))
        request = llm_client.httpx2.Request("POST", "https://model.example.org/v1/chat/completions", content=b"{}")
        with pytest.raises(llm_client.httpx2.ConnectError):
            await checked.handle_async_request(request)
        stray = llm_client.httpx2.Request("POST", "https://elsewhere.example.org/v1", content=b"{}")
        with pytest.raises(addresses.BlockedAddressError):
            await checked.handle_async_request(stray)

    # In a thread of its own: a browser test of the same session may have left a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, run()).result()
    assert seen["url"] == "https://8.8.8.8/v1/chat/completions"
    assert (seen["host"], seen["sni_hostname"]) == ("model.example.org", "model.example.org")


def test_a_key_goes_only_to_the_host_that_it_was_entered_for(monkeypatch):
    monkeypatch.setenv("CROWDRAG_LLM_KEY_A", "k")
    endpoint = Endpoint(
        name="t", base_url="https://evil.example.com/v1", key_variable="CROWDRAG_LLM_KEY_A", key_host="api.example.org"
    )
    with pytest.raises(llm_client.KeyMissingError):
        llm_client.read_key(endpoint)
    endpoint.base_url = "https://API.example.org/v1"
    assert llm_client.read_key(endpoint) == "k"
    monkeypatch.delenv("CROWDRAG_LLM_KEY_A")
    with pytest.raises(llm_client.KeyMissingError):
        llm_client.read_key(endpoint)


@pytest.mark.django_db
def test_no_other_secret_of_the_system_can_be_named_as_a_key():
    endpoint = Endpoint(name="t", base_url="https://x.example.org", key_variable="SECRET_KEY", key_host="x.example.org")
    with pytest.raises(llm_client.KeyMissingError):
        llm_client.read_key(endpoint)
    with pytest.raises(ValidationError):
        endpoint.full_clean()


@pytest.mark.django_db
def test_the_admin_refuses_what_a_call_would_refuse(endpoint):
    endpoint_form = modelform_factory(Endpoint, fields="__all__")
    data = {name: getattr(endpoint, name) for name in endpoint_form(instance=endpoint).fields}

    def form(**changes):
        return endpoint_form({**data, **changes}, instance=Endpoint.objects.get())

    assert form().is_valid(), form().errors
    assert "base_url" in form(base_url="ftp://x").errors
    assert "base_url" in form(is_local=False).errors
    assert "key_host" in form(key_variable="CROWDRAG_LLM_KEY_A", key_host="else.example.org").errors
    assert form(key_variable="CROWDRAG_LLM_KEY_A", key_host="127.0.0.1").is_valid()
