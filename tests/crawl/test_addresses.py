"""Connections use checked IP addresses: private ones are refused; DNS rebinding; TLS."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from certificates import certified
from webserver import Reply, WebServer

from webwinnow.crawl.crawling import crawl
from webwinnow.crawl.settings import CrawlSettings

PAGE = "<!doctype html><p>Page <a href=/b>b</a><a href=/c>c</a>"


def test_nothing_on_this_machine_is_asked_unless_allowed(tmp_path: Path) -> None:
    with WebServer({"/": PAGE}) as server:
        hosts = ["localhost", "127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"]
        starts = [f"http://{host}:{server.port}/" for host in hosts]
        found = crawl(starts, tmp_path / "a.warc.gz", CrawlSettings(delay=0, retries=0), log=tmp_path / "log.jsonl")
    assert server.log == []
    assert (found.stored, found.refused, found.known) == (0, len(starts), len(starts))
    reasons = [json.loads(line)["reason"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert all(reason.endswith(("is a loopback address", "is a reserved address")) for reason in reasons)


REBINDING = """
import socket

asked = {host: 0 for host in ("rebind.test",)}
resolve = socket.getaddrinfo


def answer(host, port, *more, **options):
    if host != "rebind.test":
        return resolve(host, port, *more, **options)
    asked[host] += 1
    address = "127.0.0.1" if asked[host] <= 2 else "127.0.0.2"
    with open(NOTES, "a") as notes:
        notes.write(address + "\\n")
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


socket.getaddrinfo = answer
"""


def test_a_name_that_turns_to_a_private_address_later_wins_nothing(
    tmp_path: Path, settings_for: Callable[..., CrawlSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    patched = tmp_path / "patched"
    patched.mkdir()
    (patched / "sitecustomize.py").write_text(f"NOTES = {str(tmp_path / 'notes')!r}\n{REBINDING}", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(patched), prepend=os.pathsep)
    with (
        WebServer({"/": PAGE, "/b": PAGE, "/c": PAGE}, keep_alive=False) as server,
        WebServer({"/b": PAGE, "/c": PAGE}, address="127.0.0.2", port=server.port) as inner,
    ):
        start = f"http://rebind.test:{server.port}/"
        found = crawl([start], tmp_path / "a.warc.gz", settings_for(retries=0), log=tmp_path / "log.jsonl")
    assert [line.asked.path for line in server.log] == ["/robots.txt", "/"]
    assert inner.log == []
    assert (found.stored, found.refused) == (1, 2)
    # One DNS query per connection: the address that was checked is the one that is used.
    assert (tmp_path / "notes").read_text().split() == ["127.0.0.1"] * 2 + ["127.0.0.2"] * 2
    reasons = {json.loads(line)["reason"] for line in (tmp_path / "log.jsonl").read_text().splitlines()}
    assert reasons == {None, "rebind.test (127.0.0.2) is a loopback address"}


def test_proxies_of_the_environment_are_not_used_and_certificates_are_checked(
    tmp_path: Path, settings_for: Callable[..., CrawlSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    context = certified(tmp_path, "good.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    pages = {"/": PAGE, "/b": PAGE, "/c": Reply(b"", status=404)}
    with WebServer(pages, secure=context) as server, WebServer() as proxy:
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        starts = ["https://good.test/", "https://other.test/"]
        found = crawl(starts, tmp_path / "a.warc.gz", settings_for(server, retries=0), log=tmp_path / "log.jsonl")
    fates = {line["url"]: line for line in map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())}
    assert fates["https://good.test/b"]["fate"] == "stored"
    assert fates["https://other.test/"]["fate"] == "failed"
    assert "certificate" in fates["https://other.test/"]["reason"]
    assert {line.asked.host for line in server.log} == {"good.test"}
    assert proxy.log == []
    assert found.stored == 2
