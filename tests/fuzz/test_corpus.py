"""Inputs that once failed, and one of each kind: each is read or refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fuzzing
import pytest
from fuzzing import TARGETS, corpus, entries, fuzz, input_of, outcome, tried

ROUNDS = int(os.environ.get("WEBWINNOW_FUZZ", "1"))
INPUTS = 160
"""Inputs of a target in `make test-all`: all together take about two minutes."""


@pytest.mark.parametrize(
    ("name", "place"), [pytest.param(*found, id="/".join(found[1].parts[-2:])) for found in corpus()]
)
def test_an_input_that_once_failed_is_read_or_refused(name: str, place: Path) -> None:
    assert tried(name, place.read_bytes()) in (None, "refused")


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "kinds"])
def test_the_seeds_of_a_target_are_read(name: str, tmp_path: Path) -> None:
    # Otherwise the mutated ones would be refused for the wrong reason.
    target = TARGETS[name]
    for number, seed in enumerate(target.seeds()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert outcome(target, seed, folder) is None


def test_an_input_is_made_again_from_its_number() -> None:
    target = TARGETS["warc"]
    seeds = target.seeds()
    made = [input_of(target, seeds, 1, number) for number in range(50)]
    assert made == [input_of(target, seeds, 1, number) for number in range(50)]
    assert len(set(made)) > 45


@pytest.mark.parametrize("name", ["text", "archive"])
def test_a_failure_is_found_minimised_and_read_with_the_corpus(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Path(fuzzing.__file__).with_name("failingreaders.py")
    done = subprocess.run(
        [sys.executable, script, name, "--inputs", "200"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "KeyError at failingreaders.py:read_text" in done.stdout) == (1, True), done
    monkeypatch.setattr(fuzzing, "CORPUS", tmp_path)
    monkeypatch.setattr(fuzzing, "SCRIPT", script)
    [(target, place)] = corpus()
    assert target == name
    data = place.read_bytes()
    assert sorted(data if name == "text" else b"".join(entries(data)[0].values())) == sorted(b"river\xff")
    assert name == "text" or list(entries(data)[0]) == ["b"]
    with pytest.raises(AssertionError, match="KeyError"):
        test_an_input_that_once_failed_is_read_or_refused(name, place)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_mutated_inputs_are_read_or_refused(name: str) -> None:
    for seed in range(1, ROUNDS + 1):
        found = fuzz(name, seed=seed, inputs=max(INPUTS // TARGETS[name].cost, 1))
        assert [failure for failure, _ in found.failures] == []
        assert found.inputs
