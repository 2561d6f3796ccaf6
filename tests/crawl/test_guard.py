"""IP addresses that connections may use."""

from __future__ import annotations

import ipaddress
import socket

import pytest

from webwinnow.crawl.guard import AddressGuard, AddressRefused, Peer, Route, why_refused
from webwinnow.errors import SettingsError

PUBLIC = ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2a00:1450::1"]
PUBLIC += ["11.0.0.1", "172.32.0.1", "192.0.1.1", "192.88.98.1", "223.255.255.1", "2001:200::1", "3ffe::1"]
NOT_PUBLIC = """
127.0.0.1 127.8.9.10 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 0.0.0.0 100.64.0.1 192.0.2.1 224.0.0.1
255.255.255.255 240.0.0.1 198.18.0.1
::1 :: fe80::1 fe80::1%lo fc00::1 fd12::1 fec0::1 ff02::1 2001:db8::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::7f00:1 2002:7f00:1::1 2002:a00:1::1
2001:0:53aa:64c::1 rubbish 192.0.0.192 192.88.99.1 192.0.0.9 168.63.129.16 198.51.100.1 203.0.113.1 192.175.48.1
3fff::1 5f00::1 100::1 4000::1 2001:20::1 2620:4f:8000::1 ::ffff:192.0.0.192 2002:c000:c0::1
""".split()


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_permitted(address: str) -> None:
    assert why_refused(address) is None
    assert AddressGuard().permits(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_what_is_not_public_is_refused_however_it_is_written(address: str) -> None:
    assert why_refused(address) is not None
    assert not AddressGuard().permits(address)


@pytest.mark.parametrize("address", [address for address in NOT_PUBLIC if address != "rubbish"])
def test_the_guard_does_not_depend_on_the_tables_of_the_interpreter(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    for version in (ipaddress.IPv4Address, ipaddress.IPv6Address):
        for name in ("is_global", "is_private", "is_reserved", "is_loopback", "is_link_local", "is_multicast"):
            monkeypatch.setattr(version, name, name == "is_global")
    assert why_refused(address) is not None


@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "2130706433", "127.1", "017700000001", "[::1]", "localhost"])
def test_a_host_that_means_this_machine_is_refused(host: str) -> None:
    with pytest.raises(AddressRefused, match="loopback"):
        AddressGuard().peers(host, 80)


def test_a_flag_allows_private_addresses() -> None:
    assert AddressGuard(allow_private=True).peers("127.0.0.1", 8080) == (Peer("127.0.0.1", 8080),)


def test_one_network_can_be_allowed_and_no_other() -> None:
    guard = AddressGuard(allow=("127.0.0.1/32", "10.1.0.0/16"))
    assert guard.permits("127.0.0.1")
    assert guard.permits("10.1.2.3")
    assert not guard.permits("127.0.0.2")
    assert not guard.permits("169.254.169.254")


def test_a_name_with_a_public_and_a_private_address_goes_to_the_public_one(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, ["10.0.0.1", "8.8.8.8"])
    assert AddressGuard().peers("both.example", 80) == (Peer("8.8.8.8", 80),)


def test_a_name_is_resolved_once_and_gives_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answer_with(monkeypatch, ["8.8.8.8"])
    assert AddressGuard().peers("a.example", 443) == (Peer("8.8.8.8", 443),)
    assert asked == ["a.example"]


def test_ports_of_other_services_are_refused() -> None:
    with pytest.raises(AddressRefused, match="port 25"):
        AddressGuard(allow_private=True).peers("127.0.0.1", 25)


def test_a_route_says_where_to_connect() -> None:
    guard = AddressGuard(allow_private=True, routes=(Route.parse("*.docs.test=127.0.0.1:8080"),))
    assert guard.peers("python.docs.test", 80) == (Peer("127.0.0.1", 8080),)


def test_a_route_is_guarded_as_any_address() -> None:
    guard = AddressGuard(routes=(Route.parse("a.test=[::ffff:10.0.0.1]:80"),))
    with pytest.raises(AddressRefused, match=r"a\.test \(::ffff:.*private"):
        guard.peers("a.test", 80)


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("a.test=1.2.3.4", Route("a.test", "1.2.3.4")),
        ("A.test=1.2.3.4:81", Route("a.test", "1.2.3.4", 81)),
        ("*.test=[::1]:81", Route("*.test", "::1", 81)),
    ],
)
def test_routes_are_read(text: str, route: Route) -> None:
    assert Route.parse(text) == route


@pytest.mark.parametrize(
    "text", ["", "a.test", "a.test=", "a.test=b.test", "a.test=1.2.3.4:0", "=1.2.3.4", "a=1.2.3.4:99999"]
)
def test_an_invalid_route_is_reported(text: str) -> None:
    with pytest.raises(SettingsError, match="where to connect"):
        Route.parse(text)


def test_an_invalid_network_is_reported() -> None:
    with pytest.raises(SettingsError, match="network"):
        AddressGuard(allow=("10.0.0.1/8",))


def answer_with(monkeypatch: pytest.MonkeyPatch, addresses: list[str]) -> list[str]:
    asked: list[str] = []

    def resolve(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked
