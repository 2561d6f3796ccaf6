"""Clusters of real pages by subject: the numbers of docs/cluster.md. Skipped, with a message, without the pages."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from webwinnow.cluster.clustering import agreement
from webwinnow.cluster.run import cluster_collection
from webwinnow.cluster.settings import ClusterSettings
from webwinnow.features.vectors import VectorSettings
from webwinnow.page.urls import SiteKey
from webwinnow.run.settings import CollectionSettings

DATA = Path(os.environ.get("WEBWINNOW_DATA") or "no-data")
SITE_NAMES = frozenset(("bbc", "cnn", "fox", "foxnews", "msnbc", "nation", "nymag", "thenation"))
"""Words that name the sites of sites-news."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="WEBWINNOW_DATA names no folder with pages"),
]


def clustered(path, settings, labels=None):
    by_column = CollectionSettings(site_by=SiteKey(by="column"))
    return cluster_collection([path], by_column, VectorSettings(weighting="topic"), settings, labels=labels)


def test_four_cuisines_make_four_clusters_without_a_given_number(tmp_path):
    pages = pq.read_table(DATA / "sites-swde.parquet", filters=pc.field("vertical") == "restaurant")
    path = tmp_path / "restaurants.parquet"
    pq.write_table(pages, path)
    labels = dict(zip(pages["page_id"].to_pylist(), pages["label"].to_pylist(), strict=True))
    found = clustered(path, ClusterSettings(map=False), labels)
    assert found.found.suggestion.stands_out
    assert len(found.found.clusters) == 4
    assert found.agreement.f > 0.93


def test_clusters_of_news_follow_subjects_and_not_sites():
    found = clustered(DATA / "sites-news.parquet", ClusterSettings(k=8, map=False))
    label = found.found.clustering.label
    assert agreement([page.site for page in found.pages], label).nmi < 0.15
    assert np.bincount(label[label >= 0]).max() <= 0.4 * len(label)
    assert (label < 0).mean() <= 0.2
    assert not SITE_NAMES & {word for name in found.found.names for word in re.findall(r"\w+", name.lower())}
