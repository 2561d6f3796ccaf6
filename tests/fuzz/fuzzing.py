"""Fuzzers: damaged pages, archives, model files and lists for the readers that users give them to.

    python tests/fuzz/fuzzing.py                         every target, 200 inputs each
    python tests/fuzz/fuzzing.py warc --inputs 20000 --seed 7

An input is made from seed files by a generator with a seed of its own, so that the number of an input is enough to make
it again. A reader may accept an input or raise `WebwinnowError`. Any other exception is a failure; so is a signal (a
crash), and more than `CPU_SECONDS` of processor time (a hang, whatever else the machine does). Inputs run in a child
process, one after the other. An input that fails is minimised and written to `tests/fuzz/corpus/TARGET`, whose files
`test_corpus.py` reads with every run of the tests.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
CPU_SECONDS = 20
MEMORY = 4 << 30
MOST_FAILURES = 5
"""Failing inputs of a target after which it is not tried further."""
MOST_CUTS = 300
"""Pieces that are cut from an input to minimise it, or from all entries of an archive."""
SCRIPT = Path(__file__)
"""What child processes run: `main` with these targets."""

# Seeds

SITE = "http://a.test"


def _limit_memory() -> None:
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # a sanitizer reserves terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def page(number: int) -> bytes:
    """A page with most of what readers look at: a menu, dates, tables, lists, forms, scripts, data, entities."""
    rows = "".join(f"<tr><th>Row {n}<td colspan=2>{n * number}<td>&euro;{n}.50</tr>" for n in range(4))
    menu = "".join(f"<li class='item-{n}'><a href='/s/{n}' rel=nofollow>Section {n}</a>" for n in range(5))
    data = json.dumps({"@type": "NewsArticle", "datePublished": "2024-05-06T07:08:09Z", "author": [{"name": "A. B."}]})
    return f"""<!doctype html><html lang=en><head><meta charset=utf-8><title>Story {number} – A Site</title>
<meta property=og:title content="Story {number}"><meta name=date content=2024-05-06><base href="{SITE}/">
<script type="application/ld+json">{data}</script><link rel=canonical href="/{number}"></head><body>
<nav><ul class=menu>{menu}</ul></nav><main><article><h1>Story {number}</h1><time datetime=2024-05-06>6 May</time>
<p>The river rose by {number} metres in the night, and the bridge at the mill was closed. “It held,” said one.</p>
<table border=1><caption>Levels</caption>{rows}</table><ol start=3><li>One<li>Two<ul><li>Deep</ul></ol>
<pre><code class=language-python>if x &lt; {number}:\n    y()</code></pre><figure><img src=/i.png alt=River><figcaption>
The river</figcaption></figure><blockquote>Said <b>bold <i>and</b> bent</i></blockquote></article>
<section id=comments><div class=comment>Reader {number}: I was there, on 7 May 2024 at 12:30.</div></section></main>
<svg><text>x</text></svg><math><mi>y</mi></math><template><p>t</template><noscript><img src=n.gif></noscript>
<form><input name=q><select><option>A</select></form><footer>© 2024 A Site. All rights reserved.</footer></body></html>
""".encode()


def warc_record(number: int, *, kind: str = "response") -> bytes:
    """A record of a WARC file."""
    body = page(number)
    if kind == "response":
        body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: identity\r\n\r\n" + body
    kinds = {"response": "application/http; msgtype=response", "resource": "text/html", "metadata": "text/plain"}
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:0-{number}>\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
        f"WARC-Target-URI: {SITE}/{number}\r\nContent-Type: {kinds[kind]}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as written:
        for name, content in members.items():
            written.writestr(zipfile.ZipInfo(name), content, compression)
    return out.getvalue()


def page_seeds() -> list[bytes]:
    return [page(1), page(2), b"<p>x", b"<table><tr><td>" * 20, "<p>漢字 \u202e".encode("utf-16")]


def warc_seeds() -> list[bytes]:
    records = [warc_record(1), warc_record(2, kind="resource"), warc_record(3, kind="metadata"), warc_record(4)]
    return [b"".join(records), b"".join(map(gzip.compress, records)), gzip.compress(b"".join(records))]


def wacz_seeds() -> list[bytes]:
    members = {"archive/a.warc.gz": warc_seeds()[1], "archive/b.warc": warc_seeds()[0], "datapackage.json": b"{}"}
    return [archive(members, zipfile.ZIP_STORED), archive(members)]


def jsonl_seeds() -> list[bytes]:
    rows = [{"url": f"{SITE}/{n}", "html": page(n).decode(), "page_id": n, "site": "a", "fetched_at": 5} for n in "12"]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return [lines, gzip.compress(lines)]


def parquet_seeds() -> list[bytes]:
    import datetime

    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"url": [f"{SITE}/{n}" for n in range(4)], "html": [page(n) for n in range(4)], "page_id": list(range(4))}
    columns["fetched_at"] = [datetime.datetime(2024, 5, 6, tzinfo=datetime.UTC)] * 4
    found = []
    for packing in ("none", "zstd", "snappy"):
        out = io.BytesIO()
        pq.write_table(pa.table(columns), out, row_group_size=2, compression=packing)
        found.append(out.getvalue())
    return found


@cache
def learned_sums() -> bytes:
    from webwinnow.page.parsing import parse
    from webwinnow.site.sums import SiteSums

    sums = SiteSums("a.test")
    for number in range(3):
        sums.add(parse(page(number), url=f"{SITE}/{number}"))
    return sums.to_bytes()


def model_seeds() -> list[bytes]:
    from webwinnow.site.learned import LearnedSite
    from webwinnow.site.sums import SiteSums

    return [LearnedSite.of(SiteSums.from_bytes(learned_sums())).to_bytes()]


def category_features(number: int) -> Any:
    from webwinnow import clean_page, parse
    from webwinnow.record.view import features_of

    clean = clean_page(parse(page(number)), "none")
    return features_of(clean.tree, clean.verdict, "en")


def category_seeds() -> list[bytes]:
    from webwinnow.classify.category import CategoryModel

    with tempfile.TemporaryDirectory() as folder:
        CategoryModel.train([category_features(n) for n in range(4)], ["a", "b", "a", "b"]).save(Path(folder) / "m")
        return [(Path(folder) / "m").read_bytes()]


def tree_seeds() -> list[bytes]:
    from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
    from webwinnow.site.hmt.treemodel import Forest

    trees = Forest([-1, 0, 0, -1, 3, 3], [0, 0, 1, 2, 2, 1])
    return [HiddenMarkovTree(2, symbols=3, passes=3).fit(trees).to_bytes()]


def tree_classifier_seeds() -> list[bytes]:
    from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree, HiddenMarkovTreeClassifier
    from webwinnow.site.hmt.treemodel import Forest

    trees = Forest([-1, 0, 0, -1, 3, 3], [0, 0, 1, 2, 2, 1])
    return [HiddenMarkovTreeClassifier(HiddenMarkovTree(2, symbols=3, passes=3)).fit(trees, ["a", "b"]).to_bytes()]


def class_seeds() -> list[bytes]:
    import numpy as np

    from webwinnow import parse
    from webwinnow.classify.classmodel import METHODS, ClassModel
    from webwinnow.features.vectors import VectorBuilder, VectorSettings

    settings = VectorSettings(weighting="tfidf")
    builder = VectorBuilder(settings)
    for number in range(4):
        builder.add(str(number), parse(page(number * 97)), None)
    matrix = builder.matrix()
    rows = matrix.rows()
    labels = np.array(["a", "b", "a", "b"], object)
    return [
        ClassModel.of(name, METHODS[name](folds=2).fit(rows, labels), matrix, settings).to_bytes() for name in METHODS
    ]


@cache
def site_pages(number: int) -> Any:
    from webwinnow import parse
    from webwinnow.topics.pages import SitePages

    trees = [parse(page(number * 3 + n), url=f"http://s{number}.test/{n}") for n in range(3)]
    return SitePages.of(trees, f"s{number}.test")


def topic_seeds() -> list[bytes]:
    from webwinnow.topics.sitetopics import METHODS, SiteTopics

    sites = [site_pages(number) for number in range(4)]
    return [SiteTopics(name).fit(sites, ["a", "b", "a", "b"]).to_bytes() for name in METHODS]


def layout_seeds() -> list[bytes]:
    from webwinnow.page.layout import PageLayout

    columns = {name: [number % 3 for number in range(9)] for name in PageLayout.dtypes()}
    return [PageLayout.of_columns(columns, [800, 600], [800, 2000]).to_bytes()]


def feature_seeds() -> list[bytes]:
    import numpy as np

    from webwinnow.storage.modelfile import pack_arrays

    columns = {"page_ids": np.array(["1", "2"]), "vocabulary": np.array(["river", "mill", "bridge"])}
    matrix = {"data": np.ones(3), "indices": np.array([0, 2, 1], "i4"), "indptr": np.array([0, 2, 3], "i4")}
    return [pack_arrays(matrix | {"shape": np.array([2, 3])} | columns)]


def record_seeds() -> list[bytes]:
    from webwinnow import clean_page, parse

    records = [clean_page(parse(page(number), url=f"{SITE}/{number}")).record() for number in range(2)]
    records += [{"url": SITE, "outcome": "failed", "reason": "x"}, {"page_id": "1", "text": "a\nb", "label": ["c"]}]
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    return [lines, gzip.compress(lines)]


def shipped(name: str) -> list[bytes]:
    import webwinnow

    return [(Path(webwinnow.__file__).parent / name).read_bytes()]


def models_table_seeds() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({"site": ["a.test"], "model": model_seeds()}), out, compression="zstd")
    return [out.getvalue()]


def template_seeds() -> list[bytes]:
    rows = [
        {"template": f"{n:016x}", "members": [f"{SITE}/{n}", f"{SITE}/x"], "pagelets": {"links": 3}} for n in (1, 9)
    ]
    return ["".join(json.dumps(row) + "\n" for row in rows).encode()]


def thesaurus_seeds() -> list[bytes]:
    turtle = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://t.test/1> a skos:Concept ; skos:prefLabel "river"@en, "Fluss"@de ; skos:altLabel "stream" .
<http://t.test/2> skos:prefLabel "mill" ; skos:broader <http://t.test/1> .
"""
    xml = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="http://t.test/1">
<skos:prefLabel xml:lang="en">river</skos:prefLabel></skos:Concept></rdf:RDF>"""
    return [turtle.encode(), xml.encode()]


# Readers


def read_page(data: bytes, _: Path) -> None:
    from webwinnow import clean_page, learn, metadata, parse
    from webwinnow.methods.registry import method_names

    tree = parse(data, url=f"{SITE}/x")
    metadata(tree)
    names = sorted(method_names())
    chosen = [names[len(data) % len(names)], "combined"]
    for method in chosen:
        clean = clean_page(tree, method)
        for output in ("text", "markdown", "html"):
            clean.render(output)
    clean.record(also=("markdown", "html"))
    clean.decisions(explain=True)
    if len(data) % 4 == 0:
        learn([data, page(1), page(2)]).clean(data).record()


def read_input(name: str) -> Callable[[bytes, Path], None]:
    def read(data: bytes, folder: Path) -> None:
        from webwinnow.run.inputs import open_pages

        file = folder / name
        file.write_bytes(data)
        for found in open_pages([file], on_problem=str):
            found.url.encode()

    return read


def read_model(data: bytes, _: Path) -> None:
    from webwinnow import Cleaner, parse
    from webwinnow.site.learned import LearnedSite

    model = LearnedSite.from_bytes(data)
    for method in ("combined", "sst", "cst", "template", "repeated"):
        Cleaner.of(method).clean(parse(page(1), url=f"{SITE}/1"), model).record()


def read_sums(data: bytes, _: Path) -> None:
    from webwinnow.site.learned import LearnedSite
    from webwinnow.site.sums import SiteSums

    LearnedSite.of(SiteSums.from_bytes(data))


def read_category(data: bytes, folder: Path) -> None:
    from webwinnow.classify.category import CategoryModel

    (folder / "model").write_bytes(data)
    CategoryModel.load(folder / "model").category_of(category_features(1))


def read_items(data: bytes, _: Path) -> None:
    from webwinnow.methods.method_items import ItemModel

    ItemModel.from_bytes(data)


def read_kinds(data: bytes, _: Path) -> None:
    from webwinnow.judge.kinds import KindModel

    KindModel.from_bytes(data)


def read_tree(data: bytes, _: Path) -> None:
    from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
    from webwinnow.site.hmt.treemodel import Forest

    HiddenMarkovTree.from_bytes(data).predict_proba(Forest([-1, 0, 0], [0, 1, 2]))


def read_tree_classifier(data: bytes, _: Path) -> None:
    from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTreeClassifier
    from webwinnow.site.hmt.treemodel import Forest

    HiddenMarkovTreeClassifier.from_bytes(data).predict_proba(Forest([-1, 0, 0], [0, 1, 2]))


def read_classes(data: bytes, _: Path) -> None:
    from webwinnow import clean_page, parse
    from webwinnow.classify.classmodel import ClassModel

    model = ClassModel.from_bytes(data)
    model.classify(clean_page(parse(page(1))))


def read_topics(data: bytes, _: Path) -> None:
    from webwinnow.topics.sitetopics import SiteTopics

    SiteTopics.from_bytes(data).classify(site_pages(9))


def read_layout(data: bytes, _: Path) -> None:
    from webwinnow import parse

    parse(b"<p ww-box=1>a<p ww-box=8>b", url=SITE, layout=data)


def read_features(data: bytes, folder: Path) -> None:
    from webwinnow.cluster.rows import PageRows

    (folder / "features.npz").write_bytes(data)
    PageRows.read(folder / "features.npz").matrix.sum(axis=0)


def read_records_of_clean(data: bytes, folder: Path) -> None:
    from webwinnow.run.recordpages import open_records

    (folder / "records.jsonl").write_bytes(data)
    for found in open_records([folder / "records.jsonl"], on_problem=str, label="label"):
        found.url.encode()


def read_models_table(data: bytes, folder: Path) -> None:
    from webwinnow.site.modelstore import open_models

    (folder / "models.parquet").write_bytes(data)
    found = open_models(folder / "models.parquet")
    list(found.models(on_damaged=str))
    found.find("a.test")


def read_templates(data: bytes, folder: Path) -> None:
    from webwinnow.site.templates import TemplateList

    (folder / "templates.jsonl").write_bytes(data)
    TemplateList.load(folder / "templates.jsonl")


def read_thesaurus(data: bytes, _: Path) -> None:
    from webwinnow.topics.thesaurus import read_labels

    list(read_labels(data, "a", xml=data.lstrip()[:1] == b"<" and b"<http" not in data[:200]))


def engine_batch(data: bytes, dice: random.Random) -> Any:
    """A batch of pages as a user of a cluster may give it: columns of any type, pieces of `data`, odd values."""
    import pyarrow as pa

    rows = dice.randint(0, 5)
    cuts = [data[at : at + 4096] for at in (dice.randrange(len(data) + 1) for _ in range(4))]
    texts = [cut.decode("utf-8", "replace") for cut in cuts] + ["", "a.test", f"{SITE}/1", "\0", "text/html; charset=x"]
    numbers = [0, 1, -1, (1 << 63) - 1, -(1 << 63)]
    pools: dict[Any, list[Any]] = {
        pa.string(): texts,
        pa.large_binary(): [*cuts, b"", b"\xff"],
        pa.int64(): numbers,
        pa.float64(): [0.5, float("nan"), float("inf")],
        pa.bool_(): [True, False],
        pa.timestamp("ms"): numbers,
        pa.timestamp("us", "UTC"): numbers,
        pa.date32(): [0, (1 << 31) - 1, -(1 << 31)],
        pa.list_(pa.string()): [[], texts],
        pa.struct([("a", pa.string())]): [{"a": "b"}],
    }
    columns = {"ordinal": pa.array(range(rows), pa.int64())}
    for name in ("url", "html", "site", "page_id", "content_type", "fetched_at"):
        if name == "html" or dice.random() < 0.8:
            kind = dice.choice(list(pools))
            columns[name] = pa.array([dice.choice([None, *pools[kind]]) for _ in range(rows)], kind)
    if rows and dice.random() < 0.3:  # text that is not UTF-8, which Arrow does not check
        broken = pa.array([b"\xff" + cuts[0]] * rows, pa.binary())
        columns["url"] = pa.Array.from_buffers(pa.string(), rows, broken.buffers())
    return pa.RecordBatch.from_pydict(columns)


def read_engine(data: bytes, _: Path) -> None:
    from webwinnow.run.engines.batches import TREES, batch_of, pages_of, rows_of
    from webwinnow.run.engines.batchjobs import with_parts
    from webwinnow.run.plan import PART_BYTES, PART_PAGES, Plan
    from webwinnow.run.unpacking import ReadLimits

    dice = random.Random(data)
    batch = engine_batch(data, dice)
    assert len(list(pages_of([batch], ReadLimits()))) == batch.num_rows
    places = []
    for site in range(dice.randint(0, 6)):
        pages = dice.choice((0, 1, 3, PART_PAGES, PART_PAGES + 1))
        places += [(f"s{site}.test", n, dice.choice((0, 900, PART_BYTES, PART_BYTES + 1))) for n in range(pages)]
    trees = batch_of(TREES, [(site, ordinal, "", "", "", 0, "", None, b"x") for site, ordinal, _ in places])
    assert [(row.site, row.ordinal) for row, _ in rows_of([trees])] == [place[:2] for place in places]
    plan = Plan.of(places)
    assert sum(plan.pages) == len(places)
    parts = [plan.part_of(site, ordinal) for site, ordinal, _ in places]
    assert parts == sorted(parts)
    assert all(parts.count(part) == pages for part, pages in enumerate(plan.pages))
    assert sum(part.num_rows for part in with_parts([trees], plan)) == len(places)


@dataclass(frozen=True, slots=True)
class Target:
    """Seeds and a reader. `inside`: the entries of an archive are mutated too, with right checksums."""

    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes, Path], None]
    inside: bool = False
    cost: int = 1
    """A target that is slow gets a part of the inputs."""


TARGETS: dict[str, Target] = {
    "page": Target(page_seeds, read_page, cost=4),
    "warc": Target(warc_seeds, read_input("crawl.warc.gz")),
    "wacz": Target(wacz_seeds, read_input("crawl.wacz"), inside=True),
    "jsonl": Target(jsonl_seeds, read_input("crawl.jsonl")),
    "parquet": Target(parquet_seeds, read_input("crawl.parquet"), cost=4),
    "model": Target(model_seeds, read_model, inside=True, cost=4),
    "sums": Target(lambda: [learned_sums()], read_sums, inside=True, cost=2),
    "category": Target(category_seeds, read_category, inside=True, cost=2),
    "items": Target(lambda: shipped("methods/itemtrees.npz"), read_items, inside=True),
    "kinds": Target(lambda: shipped("judge/kinds.npz"), read_kinds, inside=True, cost=20),
    "tree": Target(tree_seeds, read_tree, inside=True),
    "tree-classifier": Target(tree_classifier_seeds, read_tree_classifier, inside=True),
    "classes": Target(class_seeds, read_classes, inside=True, cost=4),
    "topics": Target(topic_seeds, read_topics, inside=True, cost=4),
    "layout": Target(layout_seeds, read_layout, inside=True),
    "features": Target(feature_seeds, read_features, inside=True),
    "records": Target(record_seeds, read_records_of_clean),
    "models-table": Target(models_table_seeds, read_models_table, cost=4),
    "templates": Target(template_seeds, read_templates),
    "thesaurus": Target(thesaurus_seeds, read_thesaurus, cost=2),
    "engine": Target(page_seeds, read_engine),
}


# Mutation

TOKENS = (
    b"\0 \xff \xff\xff\xff\xff\xff\xff\x7f -1 0 9999999999999999999 1e999 NaN null true [] {} \\ud800 <!-- -->"
    b" <![CDATA[ ]]> <table> </table> <svg> <template> <plaintext> <script> </script> &#x110000; &amp WARC/1.0"
    b" Content-Length: PK\x01\x02 PK\x03\x04 \x1f\x8b\x08 PAR1 \x93NUMPY <rdf: @prefix \" ' < > / = ; : ( )"
    b" \xf0\x9f\x98\x80 \xe2\x80\xae"
).split(b" ")


def mutated(data: bytes, other: bytes, dice: random.Random) -> bytes:
    """Some random changes of `data`; parts of `other` may get into it."""
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4, 16))):
        at = dice.randrange(len(changed) + 1)
        length = min(dice.choice((1, 2, 4, 8, 64, 1024)), len(changed) - at)
        match dice.randrange(9):
            case 0 if at < len(changed):
                changed[at] ^= 1 << dice.randrange(8)
            case 1 if at < len(changed):
                changed[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length] * dice.choice((1, 2, 50))
            case 4:
                changed[at : at + dice.choice((0, length))] = dice.choice(TOKENS)
            case 5:
                start = dice.randrange(len(other) + 1)
                changed[at:at] = other[start : start + 512]
            case 6:
                changed[at : at + length] = dice.randbytes(length)
            case 7 if dice.random() < 0.3:
                del changed[at:]
            case _:
                changed[at : at + 4] = dice.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 1 << 30)).to_bytes(4, "little")
    return bytes(changed)


def mutated_inside(data: bytes, dice: random.Random) -> bytes:
    """An archive with one entry changed; its checksums are right, so that readers see the change."""
    with zipfile.ZipFile(io.BytesIO(data)) as members:
        found = {name: members.read(name) for name in members.namelist()}
    name = dice.choice(sorted(found))
    found[name] = mutated(found[name], found[dice.choice(sorted(found))], dice)
    return archive(found, dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def input_of(target: Target, seeds: list[bytes], seed: int, number: int) -> bytes:
    """Make one input again from its number."""
    dice = random.Random(f"{seed}/{number}")
    data, other = dice.choice(seeds), dice.choice(seeds)
    return mutated_inside(data, dice) if target.inside and dice.random() < 0.7 else mutated(data, other, dice)


# Running


@dataclass(slots=True)
class Found:
    """What came of the inputs of a target: those that were read, refused, and failed with reasons."""

    inputs: int = 0
    refused: int = 0
    failures: list[tuple[str, bytes]] = field(default_factory=list)


def outcome(target: Target, data: bytes, folder: Path) -> str | None:
    """`None` for an input that is read, "refused" for one that is refused, else what went wrong."""
    from webwinnow.errors import WebwinnowError

    try:
        target.read(data, folder)
    except WebwinnowError:
        return "refused"
    except Exception as error:
        places = traceback.extract_tb(error.__traceback__)
        ours = [place for place in places if "webwinnow" in place.filename] or places
        return f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].name}: {str(error)[:200]}"
    return None


def child(name: str, seed: int, first: int, count: int, folder: Path) -> None:
    """Try some inputs; the number of the current one is in `folder/current`, results are lines on stdout."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    target = TARGETS[name]
    seeds = target.seeds()
    for number in range(first, first + count):
        (folder / "current").write_text(str(number))
        data = input_of(target, seeds, seed, number)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # its signal ends the process
        found = outcome(target, data, folder)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(json.dumps([number, found]) + "\n")
        sys.stdout.flush()


def one(name: str, folder: Path) -> None:
    """Try the input in `folder/input`."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    data = (folder / "input").read_bytes()
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    sys.stdout.write(json.dumps(outcome(TARGETS[name], data, folder)))


def fuzz(name: str, *, seed: int, inputs: int) -> Found:
    """Try inputs of one target; a child that dies is replaced, and the input that killed it is a failure."""
    found, target = Found(), TARGETS[name]
    seeds = target.seeds()
    at = 0
    with tempfile.TemporaryDirectory(prefix="webwinnow-fuzz-") as scratch:
        folder = Path(scratch)
        while at < inputs and len(found.failures) < MOST_FAILURES:
            command = [sys.executable, str(SCRIPT), name, "--child", f"{seed},{at},{inputs - at},{scratch}"]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
                assert running.stdout is not None
                for line in running.stdout:
                    number, result = json.loads(line)
                    found.inputs, at = found.inputs + 1, number + 1
                    found.refused += result == "refused"
                    if result not in (None, "refused"):
                        found.failures.append((result, input_of(target, seeds, seed, number)))
                    if len(found.failures) >= MOST_FAILURES:
                        running.kill()
                        break
            if running.returncode != 0 and len(found.failures) < MOST_FAILURES:
                number = int((folder / "current").read_text())
                how = _death(running.returncode)
                found.failures.append((how, input_of(target, seeds, seed, number)))
                found.inputs, at = found.inputs + 1, number + 1
    return found


def _death(status: int) -> str:
    if -status == signal.SIGPROF:
        return f"more than {CPU_SECONDS} s of processor time"
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def tried(name: str, data: bytes) -> str | None:
    """The outcome of one input, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="webwinnow-fuzz-") as folder:
        (Path(folder) / "input").write_bytes(data)
        done = subprocess.run([sys.executable, str(SCRIPT), name, "--one", folder], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else _death(done.returncode)


def minimised(name: str, data: bytes, failure: str) -> bytes:
    """The smallest input found that fails in the same way; an archive loses entries first, then pieces of entries."""
    kind = failure.partition(":")[0]

    def fails(shorter: bytes) -> bool:
        return (tried(name, shorter) or "").partition(":")[0] == kind

    found, compression = entries(data) if TARGETS[name].inside else ({}, 0)
    if not found or not fails(archive(found, compression)):
        return cut(data, fails, MOST_CUTS)
    for entry in list(found):
        fewer = {other: content for other, content in found.items() if other != entry}
        if fails(archive(fewer, compression)):
            found = fewer
    for entry, content in list(found.items()):
        found[entry] = cut(
            content,
            lambda shorter, at=entry: fails(archive(found | {at: shorter}, compression)),
            MOST_CUTS // len(found),
        )
    return archive(found, compression)


def entries(data: bytes) -> tuple[dict[str, bytes], int]:
    """The entries of an archive and their compression; no entries if one cannot be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            infos = members.infolist()
            return {info.filename: members.read(info) for info in infos}, infos[0].compress_type if infos else 0
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError):
        return {}, 0


def cut(data: bytes, fails: Callable[[bytes], bool], most: int) -> bytes:
    """Cut out pieces, large ones first, as long as the rest fails."""
    size = (len(data) + 1) // 2
    while size and most:
        at = 0
        while at < len(data) and most:
            most -= 1
            shorter = data[:at] + data[at + size :]
            if fails(shorter):
                data = shorter
            else:
                at += size
        size //= 2
    return data


def keep(name: str, data: bytes) -> Path:
    """Write an input to the corpus."""
    place = CORPUS / name / hashlib.sha256(data).hexdigest()[:16]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def corpus() -> Iterator[tuple[str, Path]]:
    """The inputs of the corpus with their targets."""
    for place in sorted(CORPUS.glob("*/*")):
        yield place.parent.name, place


def main() -> int:
    given = argparse.ArgumentParser(description="Fuzz the readers of webwinnow.")
    given.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    given.add_argument("--inputs", type=int, default=200, help="inputs of a target that is fast; others get fewer")
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--child", help=argparse.SUPPRESS)
    given.add_argument("--one", help=argparse.SUPPRESS)
    options = given.parse_args()
    if options.child:
        seed, first, count, folder = options.child.split(",", 3)
        child(options.targets[0], int(seed), int(first), int(count), Path(folder))
        return 0
    if options.one:
        one(options.targets[0], Path(options.one))
        return 0
    failed = total = refused = 0
    for name in options.targets or TARGETS:
        found = fuzz(name, seed=options.seed, inputs=max(options.inputs // TARGETS[name].cost, 1))
        total, refused, failed = total + found.inputs, refused + found.refused, failed + len(found.failures)
        print(f"{name}: {found.inputs:,} inputs, {found.refused:,} refused, {len(found.failures)} failures", flush=True)
        for failure, data in found.failures:
            print(f"  {failure}\n    {keep(name, minimised(name, data, failure))}", flush=True)
    print(f"{total:,} inputs, {refused:,} refused, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
