from __future__ import annotations

import gzip
import io
import random
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from fastwarc.warc import WarcRecordType

from webwinnow.errors import InputError
from webwinnow.page.records import PageRecord
from webwinnow.run.reader_warc import MOST_CUT_OFF, MOST_HEADER_BYTES, read_warc
from webwinnow.run.unpacking import ReadLimits, UnpackedStream

HTML = b"<!doctype html><html><body><p>Hello</p></body></html>"
LONG = b"<!doctype html><html><body>" + bytes(random.Random(7).choices(b"abcdefgh <>", k=200_000))

MakeRecord = Callable[..., bytes]
ReadAll = Callable[..., list[PageRecord]]


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def chunked(data: bytes, size: int = 7) -> bytes:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x;note=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nTrailer: x\r\n\r\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
def test_pages_come_with_what_the_archive_knows(
    pack: Callable[[bytes], bytes], tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(b"".join(pack(make_record(f"http://a.test/{i}", LONG + b"%d" % i)) for i in range(3)))
    pages = read_all(file)
    assert [page.url for page in pages] == ["http://a.test/0", "http://a.test/1", "http://a.test/2"]
    assert [page.ordinal for page in pages] == [0, 1, 2]
    assert pages[1] == PageRecord(
        url="http://a.test/1",
        body=LONG + b"1",
        content_type="text/html",
        fetched_at="2024-05-06T07:08:09Z",
        ordinal=1,
    )
    assert problems == []


def test_a_warc_in_one_gzip_member_is_read(tmp_path: Path, make_record: MakeRecord, read_all: ReadAll) -> None:
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(gzip.compress(b"".join(make_record() for _ in range(3))))
    assert [page.body for page in read_all(file)] == [HTML] * 3


def test_a_warc_zst_with_its_dictionary_is_read(tmp_path: Path, make_record: MakeRecord, read_all: ReadAll) -> None:
    dictionary = zstandard.train_dictionary(4096, [make_record(f"http://a.test/{i}") for i in range(500)])
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    packed = zstandard.compress(dictionary.as_bytes())
    file = tmp_path / "crawl.warc.zst"
    with file.open("wb") as out:
        out.write(b"\x5d\x2a\x4d\x18" + len(packed).to_bytes(4, "little") + packed)
        for i in range(3):
            out.write(packer.compress(make_record(f"http://a.test/{i}")))
    assert [page.url for page in read_all(file)] == ["http://a.test/0", "http://a.test/1", "http://a.test/2"]


def test_a_damaged_zstd_dictionary_costs_its_file_only(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    dictionary = b"\x37\xa4\x30\xec" + b"\xff" * 36  # the magic number of a trained one, and no tables
    frame = b"\x5d\x2a\x4d\x18" + len(dictionary).to_bytes(4, "little") + dictionary
    (tmp_path / "a.warc.zst").write_bytes(frame + zstandard.compress(make_record()))
    (tmp_path / "b.warc").write_bytes(make_record("http://b.test/"))
    assert [page.url for page in read_all(tmp_path)] == ["http://b.test/"]
    assert len(problems) == 1
    assert "a.warc.zst: the zstd dictionary is damaged" in problems[0]


def test_what_is_no_page_is_passed_over(tmp_path: Path, make_record: MakeRecord, read_all: ReadAll) -> None:
    file = tmp_path / "crawl.warc"
    records = [
        make_record("http://a.test/", kind=WarcRecordType.warcinfo, content_type="application/warc-fields"),
        make_record("http://a.test/request", kind=WarcRecordType.request),
        make_record("http://a.test/gone", status="404 Not Found"),
        make_record("http://a.test/moved", status="301 Moved"),
        make_record("http://a.test/image", b"\x89PNG\r\n", headers="Content-Type: image/png\r\n"),
        make_record("http://a.test/bytes", b"\x00\x01\x02", headers=""),
        make_record("http://a.test/text", kind=WarcRecordType.resource, content_type="text/plain"),
        make_record("<http://a.test/resource>", kind=WarcRecordType.resource),
        make_record("http://a.test/xhtml", headers="content-type: Application/XHTML+XML; charset=x\r\n"),
        make_record("http://a.test/untyped", headers=""),
    ]
    file.write_bytes(b"".join(records))
    pages = read_all(file)
    assert [page.url for page in pages] == ["http://a.test/resource", "http://a.test/xhtml", "http://a.test/untyped"]
    assert [page.content_type for page in pages] == ["text/html", "Application/XHTML+XML; charset=x", None]


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Content-Encoding: gzip", gzip.compress(HTML)),
        ("Content-Encoding: X-GZIP", gzip.compress(HTML)),
        ("Content-Encoding: gzip", gzip.compress(HTML[:9]) + gzip.compress(HTML[9:])),
        ("Content-Encoding: gzip", gzip.compress(HTML) + b"junk"),
        ("Content-Encoding: deflate", zlib.compress(HTML)),
        ("Content-Encoding: deflate", raw_deflate(HTML)),
        ("Content-Encoding: br", brotli.compress(HTML)),
        ("Content-Encoding: zstd", zstandard.compress(HTML)),
        ("Content-Encoding: gzip, br", brotli.compress(gzip.compress(HTML))),
        ("Content-Encoding: gzip\r\nContent-Encoding: br", brotli.compress(gzip.compress(HTML))),
        ("Transfer-Encoding: chunked", chunked(HTML)),
        ("Transfer-Encoding: chunked", chunked(HTML)[:-20]),
        ("Transfer-Encoding: chunked\r\nContent-Encoding: br", chunked(brotli.compress(HTML))),
        ("Transfer-Encoding: gzip, chunked", chunked(gzip.compress(HTML))),
        ("Content-Encoding: identity", HTML),
        ("X-None: x", gzip.compress(HTML)),
        ("Content-Encoding: gzip", HTML),  # from here on: decoded by the crawler, which kept the header
        ("Content-Encoding: br", HTML),
        ("Content-Encoding: unheard-of", HTML),
        ("Transfer-Encoding: chunked\r\nContent-Encoding: gzip", HTML),
        ("Transfer-Encoding: chunked", HTML),
    ],
)
def test_every_http_compression_is_undone(
    headers: str, body: bytes, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll
) -> None:
    file = tmp_path / "crawl.warc"
    file.write_bytes(make_record(body=body, headers=f"Content-Type: text/html\r\n{headers}\r\n"))
    [page] = read_all(file)
    assert page.refused is None
    assert HTML.startswith(page.body)
    assert len(page.body) > len(HTML) - 20


BOMB = b"\0" * 8_000_000


@pytest.mark.parametrize(
    ("headers", "body", "reason"),
    [
        ("Content-Encoding: gzip", gzip.compress(BOMB), "unpacks to more than"),
        ("Content-Encoding: deflate", zlib.compress(BOMB), "unpacks to more than"),
        ("Content-Encoding: deflate", raw_deflate(BOMB), "unpacks to more than"),
        ("Content-Encoding: br", brotli.compress(BOMB), "unpacks to more than"),
        ("Content-Encoding: zstd", zstandard.compress(BOMB), "unpacks to more than"),
        ("Content-Encoding: gzip, gzip", gzip.compress(gzip.compress(BOMB)), "unpacks to more than"),
        ("Content-Encoding: gzip", gzip.compress(LONG * 11, 1), "more than 2000000 bytes"),
        ("X-None: x", LONG * 11, "more than 2000000"),
        ("Content-Encoding: gzip", gzip.compress(LONG)[:-1000], "ends early"),
        ("Content-Encoding: gzip", gzip.compress(LONG)[:-4] + b"\0\0\0\1", "damaged"),
        ("Content-Encoding: br", brotli.compress(LONG)[:-1000], "ends early"),
        ("Content-Encoding: zstd", zstandard.compress(LONG)[:-1000], "ends early"),
        ("Content-Encoding: deflate", b"\x78\x9c\xff\xff\xff", "damaged"),
        ("Content-Encoding: br", b"\xff\xff\xff\xff\xff", "damaged"),
        ("Content-Encoding: compress", b"\x1f\x9d\x90", "unknown coding 'compress'"),
        ("Content-Encoding: gzip, gzip, gzip, gzip, gzip", gzip.compress(HTML), "5 codings"),
        ("Transfer-Encoding: chunked", b"5\r\nhello\r\nrubbish\r\n", "damaged"),
        ("Transfer-Encoding: chunked", b"5\r\nhello rubbish\r\n", "damaged"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_a_refused_page(
    headers: str, body: bytes, reason: str, *, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll
) -> None:
    file = tmp_path / "crawl.warc.gz"
    bad = make_record("http://a.test/bad", body, headers=f"Content-Type: text/html\r\n{headers}\r\n")
    file.write_bytes(gzip.compress(bad) + gzip.compress(make_record("http://a.test/good")))
    refused, good = read_all(file, max_page_bytes=2_000_000)
    assert (refused.url, refused.body) == ("http://a.test/bad", b"")
    assert refused.refused is not None
    assert reason in refused.refused
    assert (good.url, good.body, good.refused) == ("http://a.test/good", HTML, None)


def test_a_small_bomb_is_known_by_its_ratio(tmp_path: Path, make_record: MakeRecord, read_all: ReadAll) -> None:
    file = tmp_path / "crawl.warc"
    file.write_bytes(make_record(body=gzip.compress(BOMB), headers="Content-Encoding: gzip\r\n"))
    [page] = read_all(file)
    assert page.refused == "the gzip body unpacks to more than 1000 times its size"


@pytest.mark.parametrize("line", ["X: " + "a" * 997, "A:"], ids=["long lines", "many lines"])
def test_a_header_as_long_as_the_crawler_keeps_is_read(
    line: str, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    lines = f"{line}\r\n" * (MOST_HEADER_BYTES // (len(line) + 2) - 20)
    file = tmp_path / "crawl.warc"
    file.write_bytes(make_record(headers=f"Content-Type: text/html\r\n{lines}") + make_record("http://a.test/good"))
    assert [page.body for page in read_all(file)] == [HTML, HTML]
    assert problems == []


@pytest.mark.parametrize("size", [280_000, 3_000_000])
@pytest.mark.parametrize("line", ["X: " + "a" * 9_000, "A:", " a"], ids=["long lines", "many lines", "folded lines"])
def test_a_header_that_is_too_long_refuses_its_page_alone(
    line: str, size: int, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    file = tmp_path / "crawl.warc"
    long = make_record("http://a.test/long", headers="A: b\r\n" + f"{line}\r\n" * (size // (len(line) + 2)))
    file.write_bytes(2 * long + make_record("http://a.test/good"))
    *refused, good = read_all(file)
    assert [page.refused for page in refused] == ["the HTTP header has more than 262,144 bytes"] * 2
    assert good.body == HTML
    assert problems == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
def test_records_before_a_break_are_read_and_the_break_is_reported(
    pack: Callable[[bytes], bytes], tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    whole = b"".join(pack(make_record(f"http://a.test/{i}", LONG)) for i in range(3))
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(whole[:-1000])
    good = tmp_path / "good.warc"
    good.write_bytes(make_record("http://a.test/other"))
    pages = read_all(cut, good)
    assert [page.url for page in pages if page.refused is None] == [
        "http://a.test/0",
        "http://a.test/1",
        "http://a.test/other",
    ]
    assert [page.refused for page in pages if page.refused] == ["the WARC record ends early"]
    assert len(problems) == 1
    assert problems[0].startswith(f"{cut}: ")
    assert "after 3 pages" in problems[0]


@pytest.mark.parametrize("place", range(1, 1000, 37))
def test_wherever_a_warc_is_cut_pages_are_whole_or_refused(
    place: int, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    first = make_record("http://a.test/first")
    file = tmp_path / "crawl.warc"
    file.write_bytes(first + make_record("http://a.test/last")[: -min(place, len(first) - 20)])
    pages = read_all(file)
    assert all(page.body == HTML for page in pages if page.refused is None)
    assert pages[0].refused is None
    assert problems or place <= len(b"\r\n\r\n")  # the line ends after the last record may be missing


def test_a_record_cut_off_that_is_no_page_is_reported(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    file = tmp_path / "crawl.warc"
    image = make_record("http://a.test/i", b"\x89PNG" * 100, headers="Content-Type: image/png\r\n")
    file.write_bytes(make_record() + image[:-100])
    assert len(read_all(file)) == 1
    assert problems == [f"{file}: ends in the middle of a record, after 1 page"]


def test_junk_between_records_is_reported(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    file = tmp_path / "crawl.warc"
    file.write_bytes(make_record() + b"junk\r\n\r\n" + make_record())
    assert len(read_all(file)) == 2
    assert len(problems) == 1
    assert problems[0].endswith("after 1 page; reading continues at the next record")


def test_a_damaged_gzip_member_is_reported(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    packed = gzip.compress(make_record(body=LONG))
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(packed + packed[:5000] + b"\xff" * 50 + packed[5050:] + packed)
    pages = read_all(file)
    assert [page.body for page in pages if page.refused is None] == [LONG, LONG]
    assert len(problems) == 1
    assert "gzip data is damaged" in problems[0]


# Damage costs the record that it hits, not those after it


class PipeOf(io.BytesIO):
    """Bytes that come through a pipe."""

    def seekable(self) -> bool:
        return False


def damaged_records(make_record: MakeRecord) -> dict[str, bytes]:
    good = make_record("http://a.test/bad")
    size = re.search(rb"Content-Length: ([0-9]+)", good)[1]
    return {
        "a header that is too long": good.replace(b"WARC-Date", b"X: " + b"y" * 200_000 + b"\r\nWARC-Date", 1),
        "no length": good.replace(b"Content-Length", b"Content-Lemgth", 1),
        "no record": b"\0" * 300,
        "a length that is too short": good.replace(b"Length: " + size, b"Length: 20", 1),
        "a length that is too long": good.replace(b"Length: " + size, b"Length: 99999", 1),
        "a length that is negative": good.replace(b"Length: " + size, b"Length: -20", 1),
        "a header that is cut": good[:100],
    }


DAMAGES = (
    "a header that is too long|no length|no record|a length that is too short|a length that is too long|"
    "a length that is negative|a header that is cut"
).split("|")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_the_records_after_a_damaged_one_are_read_in_a_packed_file(
    damage: str,
    pack: Callable[[bytes], bytes],
    tmp_path: Path,
    make_record: MakeRecord,
    read_all: ReadAll,
    problems: list[str],
) -> None:
    records = [make_record(f"http://a.test/{number}") for number in range(6)]
    records.insert(3, damaged_records(make_record)[damage])
    file = tmp_path / "crawl.warc"
    file.write_bytes(b"".join(map(pack, records)))
    urls = [page.url for page in read_all(file) if not page.url.endswith("bad")]
    assert urls == [f"http://a.test/{number}" for number in range(6)]
    assert len(problems) == 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_the_records_after_a_damaged_one_are_read_in_a_file_of_one_piece(
    damage: str,
    pack: Callable[[bytes], bytes],
    tmp_path: Path,
    make_record: MakeRecord,
    read_all: ReadAll,
    problems: list[str],
) -> None:
    records = [make_record(f"http://a.test/{number}") for number in range(6)]
    records.insert(3, damaged_records(make_record)[damage] + b"\r\n")
    file = tmp_path / "crawl.warc"
    file.write_bytes(pack(b"".join(records)))
    urls = [page.url for page in read_all(file) if not page.url.endswith("bad")]
    assert urls == [f"http://a.test/{number}" for number in range(6)]
    assert len(problems) == 1


@pytest.mark.parametrize("damaged", [(3,), (1, 3), (2, 3, 4), (5,)])
@pytest.mark.parametrize("fault", ["cut", "zeros", "other bytes"])
@pytest.mark.parametrize("has_dictionary", [False, True])
def test_the_zstd_frames_after_damaged_ones_are_read(
    has_dictionary: bool,
    fault: str,
    damaged: tuple[int, ...],
    tmp_path: Path,
    make_record: MakeRecord,
    read_all: ReadAll,
    problems: list[str],
) -> None:
    dictionary, head = None, b""
    if has_dictionary:
        dictionary = zstandard.train_dictionary(4096, [make_record(f"http://a.test/{i}") for i in range(500)])
        packed = zstandard.compress(dictionary.as_bytes())
        head = b"\x5d\x2a\x4d\x18" + len(packed).to_bytes(4, "little") + packed
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    frames = [packer.compress(make_record(f"http://a.test/{number}", LONG)) for number in range(6)]
    for number in damaged:
        middle = len(frames[number]) // 2
        faults = {"cut": b"", "zeros": b"\0" * 1000, "other bytes": b"\xff" * 200 + frames[number][middle + 200 :]}
        frames[number] = frames[number][:middle] + faults[fault]
    file = tmp_path / "crawl.warc.zst"
    file.write_bytes(head + b"".join(frames))
    whole = [page.url for page in read_all(file) if page.refused is None]
    assert whole == [f"http://a.test/{number}" for number in range(6) if number not in damaged]
    assert problems


def test_the_records_after_a_damaged_one_are_read_in_gzip_members_of_many_records(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    records = [make_record(f"http://a.test/{number}") for number in range(6)]
    records.insert(3, damaged_records(make_record)["no length"])
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(gzip.compress(b"".join(records[:5])) + gzip.compress(b"".join(records[5:])))
    assert [page.url for page in read_all(file)] == [f"http://a.test/{number}" for number in range(6)]
    assert len(problems) == 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
def test_the_records_after_lengths_that_reach_beyond_the_end_are_read(
    pack: Callable[[bytes], bytes], tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    records = [make_record(f"http://a.test/{number}", LONG) for number in range(60)]
    bad = damaged_records(make_record)["a length that is too long"].replace(b"99999", b"9" * 9)
    for at in (50, 20, 0):
        records.insert(at, bad)
    file = tmp_path / "crawl.warc"
    file.write_bytes(pack(b"".join(records[:30])) + pack(b"".join(records[30:])))
    pages = read_all(file)
    assert [page.url for page in pages if page.refused is None] == [f"http://a.test/{number}" for number in range(60)]
    assert [page.url for page in pages if page.refused] == ["http://a.test/bad"] * 3
    assert len(problems) == 3


def test_a_file_of_lengths_that_reach_beyond_the_end_is_read_a_few_times(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    bad = damaged_records(make_record)["a length that is too long"].replace(b"99999", b"9" * 9)
    file = tmp_path / "crawl.warc"
    file.write_bytes(bad * 50 + make_record("http://a.test/"))
    assert len(read_all(file)) == MOST_CUT_OFF + 1
    assert len(problems) == MOST_CUT_OFF + 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_damage_is_reported_once_for_each_record_that_it_hits(
    pack: Callable[[bytes], bytes], tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    bad = damaged_records(make_record)["a header that is too long"]
    good = make_record()
    file = tmp_path / "crawl.warc"
    file.write_bytes(b"".join(map(pack, (good, bad, bad, good, bad))))
    assert len(read_all(file)) == 2
    fault = f"{file}: cannot be read on (Maximum header length exceeded.), after"
    further = "; reading continues at the next record"
    assert problems == [f"{fault} 1 page{further}", f"{fault} 1 page{further}", f"{fault} 2 pages"]


def test_a_damaged_record_in_a_pipe_costs_itself_only(make_record: MakeRecord) -> None:
    records = [make_record(f"http://a.test/{number}", LONG) for number in range(60)]
    records.insert(3, b"\0" * 100_000 + b"\r\n")
    problems: list[str] = []
    stream = UnpackedStream(PipeOf(b"".join(records)), ReadLimits())
    pages = list(read_warc(stream, name="pipe", limits=ReadLimits(), on_problem=problems.append))
    assert [page.url for page in pages] == [f"http://a.test/{number}" for number in range(60)]
    assert len(problems) == 1


@pytest.mark.parametrize("length", [b"", b"99999"], ids=["whole", "of a wrong length"])
def test_a_page_that_contains_records_is_not_taken_apart_when_the_file_is_cut(
    length: bytes, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll
) -> None:
    record = make_record("http://victim.test/")
    record = re.sub(rb"(?<=Content-Length: )[0-9]+", length, record, count=1) if length else record
    page = b"<p>x</p>\r\n\r\n" + record * 20 + b"y" * 5000
    file = tmp_path / "crawl.warc"
    file.write_bytes(make_record("http://a.test/") + make_record("http://attacker.test/", page)[:-1000])
    assert [page.url for page in read_all(file)] == ["http://a.test/", "http://attacker.test/"]


def test_a_file_of_nothing_but_damage_ends(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    member = gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\n\r\n")
    file = tmp_path / "crawl.warc.gz"
    file.write_bytes(gzip.compress(make_record()) + member * 5_000)
    assert len(read_all(file)) == 1
    assert problems[-1] == f"{file}: is damaged in more than 100 places, after 1 page"


@pytest.mark.parametrize(
    ("pack", "alike"),
    [(gzip.compress, b"\x1f\x8b\x08\0\xff"), (zstandard.compress, b"\x28\xb5\x2f\xfd\x80\xfc\xff\xff\xff")],
    ids=["gzip", "zstd"],
)
def test_bytes_that_look_like_members_do_not_stop_the_search(
    pack: Callable[[bytes], bytes], alike: bytes, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll
) -> None:
    broken = pack(make_record("http://a.test/bad", LONG))[:300] + alike * 50_000
    file = tmp_path / "crawl.warc"
    file.write_bytes(pack(make_record("http://a.test/0")) + broken + pack(make_record("http://a.test/1")))
    assert [page.url for page in read_all(file) if not page.refused] == ["http://a.test/0", "http://a.test/1"]


def test_a_record_that_is_a_bomb_stops_its_file_alone(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    bomb = zstandard.compress(make_record("http://a.test/bomb", b"\0" * 90_000_000))
    file = tmp_path / "bomb.warc.zst"
    file.write_bytes(zstandard.compress(make_record()) + bomb)
    good = tmp_path / "good.warc"
    good.write_bytes(make_record("http://a.test/good"))
    pages = read_all(file, good, max_page_bytes=1_000_000)
    assert [page.url for page in pages] == ["http://a.test/", "http://a.test/bomb", "http://a.test/good"]
    assert [page.refused is None for page in pages] == [True, False, True]
    assert "one record unpacks to more than 1000 times" in problems[0]


def test_a_warc_without_pages_is_an_input_error(tmp_path: Path, make_record: MakeRecord, read_all: ReadAll) -> None:
    file = tmp_path / "crawl.warc"
    file.write_bytes(make_record(status="404 Not Found"))
    with pytest.raises(InputError, match="holds no pages"):
        read_all(file)


def test_a_warc_cut_in_its_first_header_is_an_input_error(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll
) -> None:
    file = tmp_path / "crawl.warc"
    file.write_bytes(make_record()[:40])
    with pytest.raises(InputError, match="nothing could be read"):
        read_all(file)


def test_rubbish_in_a_warc_never_raises_anything_else(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll
) -> None:
    whole = b"".join(make_record(f"http://a.test/{i}") for i in range(3))
    file = tmp_path / "crawl.warc"
    for seed in range(300):
        dice = random.Random(seed)
        broken = bytearray(whole)
        for _ in range(dice.randint(1, 5)):
            place = dice.randrange(5, len(broken))
            broken[place : place + dice.randint(0, 3)] = dice.choice([b"\r\n", b"\0", b":", b"9" * 20, b"\xff", b""])
        file.write_bytes(broken)
        try:
            read_all(file)
        except InputError:
            continue
