"""The deployment that docs/serve.md describes: the systemd unit is valid, and its command and the container's start."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docnames import ROOT

TEXT = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
PROGRAM = "/opt/webwinnow/bin/webwinnow"
TOKEN = "0123456789abcdef0123456789abcdef"


def unit() -> str:
    block = re.search(r"^    \[Unit\]\n(?:(?:    .*)?\n)+?(?=\S)", TEXT, re.MULTILINE)
    assert block is not None
    return re.sub(r"^    ", "", block[0], flags=re.MULTILINE)


def unit_command() -> list[str]:
    (line,) = re.findall(r"^ExecStart=(.*)$", unit(), re.MULTILINE)
    return shlex.split(line)


def container_command() -> list[str]:
    (line,) = re.findall(r"^CMD (\[.*\])$", (ROOT / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE)
    return list(json.loads(line))


def test_the_unit_is_valid(tmp_path: Path) -> None:
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd is not installed")
    program = tmp_path / "webwinnow"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    file = tmp_path / "webwinnow.service"
    file.write_text(unit().replace(PROGRAM, str(program)), encoding="utf-8")
    done = subprocess.run([verify, "verify", "--man=no", str(file)], capture_output=True, text=True, check=False)
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if "webwinnow" in line]
    assert complaints == []
    file.write_text(file.read_text(encoding="utf-8").replace("ExecStart=", "ExecStrat="), encoding="utf-8")
    wrong = subprocess.run([verify, "verify", "--man=no", str(file)], capture_output=True, text=True, check=False)
    assert "ExecStrat" in wrong.stdout + wrong.stderr


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(unit_command(), id="systemd"),
        pytest.param(container_command(), id="container", marks=pytest.mark.slow),
    ],
)
def test_the_command_starts_a_server_that_wants_the_token(command: list[str], make_server: Callable[..., Any]) -> None:
    assert command[0] in (PROGRAM, "webwinnow")
    assert command[1:3] == ["serve", "--folder"]
    server = make_server(*command[4:], token=TOKEN)
    assert server.client.get("/health").status_code == 200
    assert server.client.get("/jobs").status_code == 200
    assert server.client.get("/jobs", headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_the_token_of_the_recipe_is_one_that_the_server_takes(tmp_path: Path) -> None:
    (line,) = re.findall(r"\(umask 077; (.*) > /etc/webwinnow.env\)", TEXT)
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    written = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert re.fullmatch(r"WEBWINNOW_TOKEN=[0-9a-f]{48}\n", written)
    assert "EnvironmentFile=/etc/webwinnow.env" in unit()
