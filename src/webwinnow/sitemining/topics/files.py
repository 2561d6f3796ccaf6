"""`SiteTopics` as a file: arrays and JSON in one `.npz`, never code; all of it is looked at before it is believed."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.arrays import NOT_ARRAYS, packed_arrays, read_array
from webwinnow.errors import ModelError
from webwinnow.sitemining.topics.method import Arrays

__all__ = ["LearnedTopics", "from_bytes", "to_bytes"]

KIND = "model of site topics"
FORMAT_VERSION = 1
LARGEST_COLUMN = 400_000_000
"""Bytes of one array."""
MOST_TOPICS = 10_000

LearnedTopics = tuple[str, str, tuple[str, ...], dict[str, int], dict[str, tuple[int, ...]], Arrays]
"""Method, what makes pages one site, topics, the topic of each known host, topics that link to a host, arrays."""


def to_bytes(learned: LearnedTopics) -> bytes:
    """What was learned as bytes; the same gives the same bytes."""
    method, site_by, names, hosts, linking, arrays = learned
    about = {
        "kind": KIND,
        "format_version": FORMAT_VERSION,
        "method": method,
        "site_by": site_by,
        "names": names,
        "hosts": hosts,
        "linking": linking,
    }
    told = np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8)
    return packed_arrays({"about": told} | arrays)


def from_bytes(data: bytes, name: str) -> LearnedTopics:
    """Read what `to_bytes` wrote; the arrays are for the method to check. Raises `ModelError`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            about = json.loads(bytes(read_array(archive, "about", LARGEST_COLUMN)))
            if not isinstance(about, dict) or about.get("kind") != KIND:
                raise ValueError("it holds something else")
            if about.get("format_version") != FORMAT_VERSION:
                raise ModelError(
                    f"{name} has format {about.get('format_version')}, this webwinnow reads {FORMAT_VERSION}; "
                    "train it again"
                )
            entries = [entry.removesuffix(".npy") for entry in archive.namelist()]
            arrays = {entry: _finite(read_array(archive, entry, LARGEST_COLUMN), entry) for entry in entries}
            del arrays["about"]
        names = _texts(about["names"])
        if not 2 <= len(names) <= MOST_TOPICS or len(set(names)) != len(names):
            raise ValueError("its topics are no two or more distinct names")
        topics = len(names)
        hosts = {host: _topic(found, topics) for host, found in dict(about["hosts"]).items()}
        linking = {host: tuple(_topic(one, topics) for one in found) for host, found in dict(about["linking"]).items()}
        method, site_by = _texts([about["method"], about["site_by"]])
    except (*NOT_ARRAYS, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{name} is no {KIND} or is damaged ({error}); train it again") from None
    return method, site_by, names, hosts, linking, arrays


def _texts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ValueError(f"{str(given)[:40]} is no list of texts")
    return tuple(given)


def _topic(given: Any, topics: int) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < topics:
        raise ValueError(f"{str(given)[:40]} is the number of no topic")
    return given


def _finite(column: NDArray[Any], name: str) -> NDArray[Any]:
    if column.dtype.kind not in "fiu" or not np.isfinite(column).all():
        raise ValueError(f"{name} holds {column.dtype}, or numbers that are not finite")
    return column
