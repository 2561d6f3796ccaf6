"""Processes in which a module of webwinnow is changed after its import, to hold a run or to make a page hang."""

from __future__ import annotations

import os
from pathlib import Path

SITECUSTOMIZE = """
import importlib.abc, importlib.util, sys

codes = {codes!r}

class Changing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        code = codes.pop(name, None)
        if code is None:
            return None
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            exec(code, vars(module))

        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Changing())
"""

HOLD = """
import functools, os, pathlib

def _holding(original):
    @functools.wraps(original)
    def held(*given, **options):
        for item in original(*given, **options):
            mine = pathlib.Path({folder!r}, str(os.getpid()))
            mine.write_text(str(os.getpid()))
            try:
                os.link(mine, mine.with_name("held"))
                mine.with_name("gate").read_bytes()  # a FIFO: waits until the test opens it
            except FileExistsError:
                pass  # another process was held before
            yield item
    return held

{name} = _holding({name})
"""


def changed(folder: Path, module: str, code: str, **further: str) -> dict[str, str]:
    """Variables with which every new Python process runs `code` in a module when it has imported it.

    `further` has the code of other modules of `webwinnow.collection`.
    """
    codes = {module: code} | {f"webwinnow.collection.{name}": more for name, more in further.items()}
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE.format(codes=codes), encoding="utf-8")
    return {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


def holding(folder: Path, generator: str) -> dict[str, str]:
    """Variables with which the first process in which a generator has an item writes its pid to `held` and waits.

    It waits until the FIFO `gate` is opened.
    """
    os.mkfifo(folder / "gate")
    module, _, name = generator.rpartition(".")
    return changed(folder, module, HOLD.format(folder=str(folder), name=name))
