"""`SiteTopics`: a trained method with the names of its topics and the sites it knows, and the methods by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, SettingsError
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList
from webwinnow.plugins import meant
from webwinnow.storage.modelfile import ModelFormat, SavedModel
from webwinnow.topics.denoising import DenoisingSettings, TermDenoiser, WordCounter
from webwinnow.topics.fusion import Neighbours
from webwinnow.topics.methods import HmtMethod, MarkovTree, Multiscale, Superpage, TopicVector, TwoPhase
from webwinnow.topics.pages import SitePages
from webwinnow.topics.thesaurus import Thesaurus
from webwinnow.topics.training import TopicMethod, TopicPrediction, TopicSettings, Training

METHODS: dict[str, type[TopicMethod]] = {
    method.name: method for method in (Superpage, TopicVector, MarkovTree, HmtMethod, TwoPhase, Multiscale)
}
DEFAULT_METHOD = Multiscale.name
LEAST_NONE = 2 / 3
"""Least probability of none of the topics for that answer (ours): twice as probable as one of them."""
NO_WORDS = "none of the site's words is known"
NONE_OF_THESE = "none of these topics"


def topic_method(name: str) -> type[TopicMethod]:
    """A method by name; `SettingsError` if there is none."""
    if name not in METHODS:
        raise SettingsError(f"there is no method {name!r} of classifying sites; {meant(name, list(METHODS))}")
    return METHODS[name]


class SiteTopic(NamedTuple):
    """The classification of one site: the most probable `topic`, its `number`, the probability of each topic
    (`posterior`, by name), and the method's results for pages and blocks (`prediction`). `none` is the probability that
    the site has none of the topics, NaN if none of its words is known.
    """

    site: str
    topic: str
    posterior: Mapping[str, float]
    prediction: TopicPrediction
    number: int
    none: float = 0.0

    def why_none(self, least: float = LEAST_NONE) -> str | None:
        """Why the site has no topic, or None if it has one; `least` is the least probability of none of these."""
        if np.isnan(self.none):
            return NO_WORDS
        return NONE_OF_THESE if self.none >= least else None

    def levels(self) -> list[tuple[str, float]]:
        """The most probable topic of each level of names like computing/databases, from the top, with its probability:
        the sum of those below it.
        """
        found: list[tuple[str, float]] = []
        above = ""
        while True:
            shares: dict[str, float] = {}
            for name, share in self.posterior.items():
                if name.startswith(above) and name != above.removesuffix("/"):
                    part = above + name[len(above) :].partition("/")[0]
                    shares[part] = shares.get(part, 0.0) + share
            if not shares:
                return found
            best = max(shares, key=lambda part: shares[part])
            found.append((best, shares[best]))
            above = best + "/"

    @property
    def probability(self) -> float:
        return self.posterior[self.topic]

    def deciding_pages(self, most: int) -> list[int]:
        """The pages whose own text has the highest probability of the topic, the highest first."""
        return _clearest(self.prediction.texts, self.number, most)

    def deciding_blocks(self, most: int) -> list[int]:
        """The nodes of the block trees with the highest probability of the topic."""
        return _clearest(self.prediction.blocks, self.number, most)


class SiteTopics(SavedModel):
    """The topics of whole sites: `fit` on labelled sites, then `classify` others.

    `site_by`, `stop_list` and `denoiser` are those of the training sites, for the sites to classify; the file has them.
    `counter` counts the words of pages, without stop words and without what the denoiser removes. `settings` are those
    of learning; the file has what was learned with them.

    After `fit`: `names_`, the topics in order; `method_`, the trained method; `hosts_`, the topic of each known host;
    `linking_`, the topics of the training sites that link to other hosts.
    """

    file_format = ModelFormat("model of site topics", 4, "train it again")

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        *,
        site_by: str = "host",
        stop_list: StopList | None = None,
        settings: TopicSettings | None = None,
        denoiser: TermDenoiser | None = None,
    ) -> None:
        topic_method(method)
        if denoiser is not None:
            _check_denoised(method)
        self.settings = settings or TopicSettings()
        self.method = method
        self.site_by = site_by
        self.stop_list = stop_list or StopList()
        self.denoiser = denoiser
        self.names_: tuple[str, ...] = ()
        self.method_: TopicMethod | None = None
        self.hosts_: dict[str, int] = {}
        self.linking_: dict[str, tuple[int, ...]] = {}

    def fit(self, sites: Sequence[SitePages], labels: Sequence[str]) -> Self:
        """Learn from sites and the topic of each."""
        return self.learn(Training(sites, labels, self.settings))

    def learn(self, training: Training) -> Self:
        """As `fit`, from a `Training` that several methods may share."""
        if self.denoiser is not None:
            self.denoiser.thesaurus.check_topics(training.names)
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

    def denoise_by(self, thesaurus: Thesaurus) -> None:
        """Denoise sites that are classified by another thesaurus than the model was trained with, or by one at all."""
        self._learned()
        _check_denoised(self.method)
        thesaurus.check_topics(self.names_)
        settings = None if self.denoiser is None else self.denoiser.settings
        self.denoiser = TermDenoiser(thesaurus, settings or DenoisingSettings())

    @property
    def counter(self) -> WordCounter:
        """How the words of pages are counted."""
        return WordCounter(self.stop_list, self.denoiser)

    def classify(self, site: SitePages, neighbours: Neighbours | None = None) -> SiteTopic:
        """The topic of a site; `neighbours` are by default the training sites that it is linked with."""
        method = self._learned()
        if len(site):
            found = method.predict(site, self.neighbours(site) if neighbours is None else neighbours)
        else:
            found = TopicPrediction(np.full(len(self.names_), 1 / len(self.names_)))
        number = int(found.site.argmax())
        posterior = dict(zip(self.names_, found.site.tolist(), strict=True))
        none = method.none_of_these(site) if len(site) else float("nan")
        return SiteTopic(site.site, self.names_[number], posterior, found, number, none)

    def neighbours(self, site: SitePages) -> Neighbours:
        """The training sites that link to a site, and those that it links to."""
        linking = tuple(topic for host in sorted(site.hosts) for topic in self.linking_.get(host, ()))
        linked = tuple(self.hosts_[host] for host in sorted(site.linked) if host in self.hosts_)
        return Neighbours(linking, linked, len(linking) + len(site.linked))

    def to_bytes(self) -> bytes:
        arrays = self._learned().to_arrays()
        about = {
            "method": self.method,
            "site_by": self.site_by,
            "stop_list": asdict(self.stop_list),
            "names": self.names_,
            "hosts": self.hosts_,
            "linking": self.linking_,
        }
        if self.denoiser is not None:
            about |= {"denoising": self.denoiser.to_plain()}
        return self.file_format.pack(about, arrays)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        with cls.file_format.reading(data, name) as file:
            about = file.about
            names = msgspec.convert(about["names"], list[str])
            topics = len(names)
            if len(set(names)) < topics:
                raise ValueError("two of its topics have one name")
            stops = StopList.from_plain(about.get("stop_list", {"own": None}))  # older files have none
            denoising = about.get("denoising")
            denoiser = None if denoising is None else TermDenoiser.from_plain(denoising)
            model = cls(about["method"], site_by=about["site_by"], stop_list=stops, denoiser=denoiser)
            SiteKey.parse(model.site_by)
            model.names_ = tuple(names)
            model.method_ = topic_method(model.method).from_arrays(file.arrays, topics=topics)
            topic = Annotated[int, msgspec.Meta(ge=0, lt=topics)]
            model.hosts_ = msgspec.convert(about["hosts"], dict[str, topic])
            model.linking_ = msgspec.convert(about["linking"], dict[str, tuple[topic, ...]])
            return model

    def _learned(self) -> TopicMethod:
        if self.method_ is None:
            raise InputError("nothing has been learned: call fit first")
        return self.method_


def _check_denoised(method: str) -> None:
    if method == Superpage.name:
        raise SettingsError(f"method {method} uses all words of a site: a thesaurus has no effect on it")


def _clearest(posteriors: NDArray[np.float64] | None, topic: int, most: int) -> list[int]:
    """The rows with the highest probability of the topic, among those where it is the most probable one."""
    if posteriors is None or not len(posteriors):
        return []
    share = np.where(posteriors.argmax(axis=1) == topic, posteriors[:, topic], np.nan)
    order = np.argsort(-np.nan_to_num(share, nan=-1.0), kind="stable")[:most]
    return [int(row) for row in order if not np.isnan(share[row])]
