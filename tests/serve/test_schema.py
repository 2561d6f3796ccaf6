"""The OpenAPI document against the server itself: schemathesis makes requests, right and wrong, and checks answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def test_the_document_names_every_route(server: Any) -> None:
    paths = server.client.get("/openapi.json").json()["paths"]
    assert {"/page", "/sites", "/jobs", "/jobs/{job}", "/search", "/inspect", "/health", "/metrics"} <= paths.keys()


@pytest.mark.slow
def test_schemathesis_finds_no_failure(make_server: Callable[..., Any]) -> None:
    pytest.importorskip("schemathesis")
    server = make_server("--queue", "1000", "--max-bytes", "100000", "--upload-bytes", "100000")
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.base}/openapi.json", "--checks", CHECKS]
    done = subprocess.run(
        [*command, "--max-examples", "60", "--seed", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]
