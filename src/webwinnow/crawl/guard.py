"""`AddressGuard`: which IP addresses a connection may go to. It can be used without the crawler.

A name is resolved once, the addresses are checked, and the connection goes to a checked address: a name that resolves
differently the second time (DNS rebinding) gains nothing. The same applies to redirects, to robots.txt, and to
numeric hosts in any notation.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from webwinnow.errors import InputError, SettingsError
from webwinnow.settings import CRAWL, Settings, setting

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

BAD_PORTS: Final = frozenset(
    map(
        int,
        """
        0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123
        135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993
        995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
        """.split(),
    )
)
"""Ports of other services, which browsers block too (WHATWG Fetch, port blocking)."""
NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv4 addresses embedded in IPv6 (RFC 6052): equivalent to the address inside."""
SPECIAL_NETWORKS: Final = {
    "loopback": "127.0.0.0/8 ::1/128",
    "link-local": "169.254.0.0/16 fe80::/10",
    "multicast": "224.0.0.0/4 ff00::/8",
    "private": "10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
    "documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    "relay": "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.175.48.0/24 2620:4f:8000::/48",
    "cloud metadata": "168.63.129.16/32",
    "reserved": "0.0.0.0/8 192.0.0.0/24 198.18.0.0/15 240.0.0.0/4 2001::/23",
}
"""Networks without public web servers, from the IANA registries of special-purpose IPv4 and IPv6 addresses: whole
blocks, also where a few addresses inside are global. Also the host agent of Azure.

The table of `ipaddress` depends on the version of Python: `192.0.0.192`, the metadata of a
cloud, is public for Python 3.11."""
_SPECIAL: Final = [
    (ipaddress.ip_network(network), kind) for kind, networks in SPECIAL_NETWORKS.items() for network in networks.split()
]
_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
"""The IPv6 addresses that IANA assigns; the others are reserved."""
MOST_ADDRESSES: Final = 4
"""Addresses of one name to try."""
_ROUTE: Final = re.compile(r"(\*\.)?([^\s=:/*]+)=(?:\[([^\]]+)\]|([^\[\]:]+))(?::([0-9]{1,5}))?")


class AddressRefused(InputError):
    """A connection that is not allowed, and why."""


class Peer(NamedTuple):
    """The target of a connection: a checked numeric address, and a port."""

    address: str
    port: int


class Route(NamedTuple):
    """Where to connect for a host instead of resolving its name; `port` None means the port of the URL.

    `host` may begin with "*." for all names below.
    """

    host: str
    address: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Route:
        """Read HOST=ADDRESS, HOST=ADDRESS:PORT or HOST=[IPV6]:PORT, where HOST may begin with "*."."""
        found = _ROUTE.fullmatch(text.strip())
        try:
            if found is None:
                raise ValueError
            address = str(ipaddress.ip_address(found[3] or found[4]))
            port = None if found[5] is None else int(found[5])
            if port is not None and not 0 < port < 1 << 16:
                raise ValueError
        except ValueError:
            raise SettingsError(
                f"{text!r} does not say where to connect; expected HOST=ADDRESS[:PORT], as in docs.test=127.0.0.1:8080"
            ) from None
        return cls((found[1] or "") + found[2].lower(), address, port)

    def serves(self, host: str) -> bool:
        return host.endswith(self.host[1:]) if self.host.startswith("*.") else host == self.host


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressGuard(Settings):
    """Resolves hosts and refuses addresses that are not on the public Internet.

    `allow_private` allows everything; `allow` adds networks ("10.1.0.0/16", "127.0.0.1"). `routes` override where to
    connect for some hosts, like curl's --resolve and --connect-to; their addresses are checked like any other.
    """

    PANEL = CRAWL

    allow_private: Annotated[
        bool, setting("Allow private, loopback and link-local IP addresses: your own network.", "--allow-private")
    ] = False
    allow: Annotated[
        tuple[str, ...],
        setting("Allow the IP addresses of this network only; repeatable.", "--allow", metavar="NETWORK"),
    ] = ()
    routes: Annotated[
        tuple[Route, ...],
        setting(
            "Connect there for this host, instead of what its name resolves to; HOST may begin with '*.'. Repeatable.",
            "--resolve",
            metavar="HOST=ADDRESS[:PORT]",
            read=lambda text: (Route.parse(text),),
        ),
    ] = ()

    def validate(self) -> None:
        """Raise `SettingsError` for what is no network."""
        for network in self.allow:
            try:
                ipaddress.ip_network(network)
            except ValueError as error:
                raise SettingsError(f"{network!r} is no network ({error}); expected one such as 10.1.0.0/16") from None

    def peers(self, host: str, port: int) -> tuple[Peer, ...]:
        """Return the checked addresses of a host, in the order to try them; `AddressRefused` if none is allowed.

        Blocks while the name is resolved. `OSError` if the name has no address.
        """
        route = next((route for route in self.routes if route.serves(host.lower())), None)
        if route is not None:
            addresses, port = [route.address], route.port or port
        else:
            addresses = resolved(host, port)
        if port in BAD_PORTS:
            raise AddressRefused(f"port {port} is not for web pages")
        allowed = [address for address in addresses if self.permits(address)]
        if not allowed:
            named = addresses[0] if _is_number(host) else f"{host} ({addresses[0]})"
            raise AddressRefused(f"{named} is {why_refused(addresses[0])}")
        return tuple(Peer(address, port) for address in allowed[:MOST_ADDRESSES])

    def permits(self, address: str) -> bool:
        """Whether a connection to a numeric address is allowed."""
        return self.allow_private or why_refused(address) is None or self._is_allowed(address)

    def _is_allowed(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in ipaddress.ip_network(network) for network in self.allow)


def resolved(host: str, port: int) -> list[str]:
    """Return the distinct numeric addresses of a host; numeric hosts are normalised."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except UnicodeError as error:  # a label that is empty or too long
        raise OSError(f"{host} is no host name ({error})") from None
    return list(dict.fromkeys(str(where[0]) for *_, where in found))


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def why_refused(address: str) -> str | None:
    """Return why an address is not on the public Internet; None if it is."""
    try:
        found: Address = ipaddress.ip_address(address)
    except ValueError:
        return "no address"
    if isinstance(found, ipaddress.IPv6Address):
        inside = _embedded(found)
        if inside is not None:
            return _why_not_public(inside)
    return _why_not_public(found)


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address embedded in an IPv6 address: mapped, 6to4 or NAT64."""
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _why_not_public(address: Address) -> str | None:
    kind = next((kind for network, kind in _SPECIAL if address in network), None)
    if kind is None and address.version == 6 and address not in _GLOBAL_UNICAST:
        kind = "reserved"
    return None if kind is None else f"a {kind} address"
