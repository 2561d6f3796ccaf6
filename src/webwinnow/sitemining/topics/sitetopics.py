"""`SiteTopics`: a trained method with the names of its topics and the sites it knows, and the methods by name."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.arrays import NOT_ARRAYS, packed_arrays, read_array
from webwinnow.errors import InputError, ModelError, SettingsError
from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.nearestsites import Superpage, TopicVector
from webwinnow.sitemining.topics.topicmethod import Arrays, TopicMethod, TopicPrediction, Training
from webwinnow.sitemining.topics.treemethods import HmtMethod, MarkovTree, Multiscale, TwoPhase
from webwinnow.storage import write_file
from webwinnow.urls import SiteKey

METHODS: dict[str, type[TopicMethod]] = {
    method.name: method for method in (Superpage, TopicVector, MarkovTree, HmtMethod, TwoPhase, Multiscale)
}
DEFAULT_METHOD = Multiscale.name


def topic_method(name: str) -> type[TopicMethod]:
    """A method by name; `SettingsError` where there is none."""
    if name not in METHODS:
        raise SettingsError(f"there is no method {name!r} of classifying sites; there are: {', '.join(METHODS)}")
    return METHODS[name]


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


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SiteTopic:
    """What was found of one site: the likeliest `topic`, how likely each is (`posterior`, by name), and what the method
    knows of pages and blocks (`prediction`).
    """

    site: str
    topic: str
    posterior: Mapping[str, float]
    prediction: TopicPrediction
    number: int

    @property
    def probability(self) -> float:
        """How likely the topic is."""
        return self.posterior[self.topic]

    def deciding_pages(self, most: int) -> list[int]:
        """The pages whose own text speaks most clearly for the topic, clearest first."""
        return _clearest(self.prediction.texts, self.number, most)

    def deciding_blocks(self, most: int) -> list[int]:
        """The nodes of the trees of blocks that do."""
        return _clearest(self.prediction.blocks, self.number, most)


class SiteTopics:
    """The topic of whole sites: `fit` on sites with labels, then `classify` others. `site_by` is told in the file.

    After `fit`: `names_`, the topics in order; `method_`, what was learned; `hosts_`, the topic of each known host.
    """

    def __init__(self, method: str = DEFAULT_METHOD, *, site_by: str = "host") -> None:
        topic_method(method)
        self.method = method
        self.site_by = site_by
        self.names_: tuple[str, ...] = ()
        self.method_: TopicMethod | None = None
        self.hosts_: dict[str, int] = {}
        self.linking_: dict[str, tuple[int, ...]] = {}

    def fit(self, sites: Sequence[SitePages], labels: Sequence[str]) -> Self:
        """Learn from sites and the topic of each."""
        return self.learn(Training(sites, labels))

    def learn(self, training: Training) -> Self:
        """As `fit`, from a `Training` that several methods may share."""
        self.method_ = training.learned(topic_method(self.method))
        self.names_ = training.names
        topic = training.topic.tolist()
        self.hosts_ = {host: topic[s] for s, site in enumerate(training.sites) for host in sorted(site.hosts)}
        linking: dict[str, list[int]] = {}
        for s, site in enumerate(training.sites):
            for host in sorted(site.linked - self.hosts_.keys()):
                linking.setdefault(host, []).append(topic[s])
        self.linking_ = {host: tuple(found) for host, found in linking.items()}
        return self

    def classify(self, site: SitePages, neighbours: Neighbours | None = None) -> SiteTopic:
        """The topic of a site; `neighbours` by default the training sites that it is linked with."""
        if self.method_ is None:
            raise InputError("nothing has been learned: call fit first")
        if not len(site):
            told = TopicPrediction(np.full(len(self.names_), 1 / len(self.names_)))
        else:
            told = self.method_.predict(site, self.neighbours(site) if neighbours is None else neighbours)
        number = int(told.site.argmax())
        posterior = dict(zip(self.names_, told.site.tolist(), strict=True))
        return SiteTopic(site.site, self.names_[number], posterior, told, number)

    def neighbours(self, site: SitePages) -> Neighbours:
        """The training sites that link to a site, and those that it links to."""
        linking = tuple(topic for host in sorted(site.hosts) for topic in self.linking_.get(host, ()))
        linked = tuple(self.hosts_[host] for host in sorted(site.linked) if host in self.hosts_)
        return Neighbours(linking, linked, len(linking) + len(site.linked))

    def to_bytes(self) -> bytes:
        """What was learned as a `.npz` archive; the same gives the same bytes."""
        if self.method_ is None:
            raise InputError("nothing has been learned: call fit first")
        arrays = self.method_.to_arrays()
        return to_bytes((self.method, self.site_by, self.names_, self.hosts_, self.linking_, arrays))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        """Read what `to_bytes` wrote; everything in it is checked. Raises `ModelError`."""
        method, site_by, names, hosts, linking, arrays = from_bytes(data, name)
        try:
            SiteKey.parse(site_by)
            model = cls(method, site_by=site_by)
            model.method_ = topic_method(method).from_arrays(arrays, len(names))
        except (ValueError, KeyError, TypeError, SettingsError) as error:
            raise ModelError(f"{name} is damaged ({error}); train it again") from None
        model.names_, model.hosts_, model.linking_ = names, hosts, linking
        return model

    def save(self, path: Path) -> None:
        """Write the model to a file, whole or not at all."""
        write_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model from a file."""
        return cls.from_bytes(path.read_bytes(), str(path))


def _clearest(posteriors: Floats | None, topic: int, most: int) -> list[int]:
    """The rows in which the topic is likeliest, if it is the likeliest there."""
    if posteriors is None or not len(posteriors):
        return []
    share = np.where(posteriors.argmax(axis=1) == topic, posteriors[:, topic], np.nan)
    order = np.argsort(-np.nan_to_num(share, nan=-1.0), kind="stable")[:most]
    return [int(row) for row in order if not np.isnan(share[row])]
