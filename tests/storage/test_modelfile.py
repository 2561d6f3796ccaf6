"""Tests of `webwinnow.storage.modelfile`: the format of model files, and that no hostile file gets past its reader."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from modelfiles import archive_of, members, npy

from webwinnow.errors import ModelError
from webwinnow.storage import modelfile
from webwinnow.storage.modelfile import ModelFormat, is_within, pack_arrays, read_arrays

FORMAT = ModelFormat("test model", 3, "train it again")
ARRAYS = {"a": np.arange(5, dtype=np.uint64), "b": np.ones((2, 3), np.float32), "names": np.array(["x", "yz"])}


def rewritten(changes: dict[str, bytes | None]) -> bytes:
    found = members(FORMAT.pack({"x": 1}, ARRAYS)) | changes
    return archive_of({name: content for name, content in found.items() if content is not None})


def read(data: bytes) -> tuple[dict[str, object], dict[str, np.ndarray]]:
    with FORMAT.reading(data, "m.npz") as file:
        return file.about, file.arrays


def raw_npy(header: str, body: bytes = b"") -> bytes:
    padded = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + body


def test_arrays_and_metadata_come_back() -> None:
    about, arrays = read(FORMAT.pack({"x": [1, "é"]}, ARRAYS))
    assert about == {"x": [1, "é"]}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array)


def test_equal_models_are_equal_bytes() -> None:
    assert FORMAT.pack({"x": 1, "y": 2}, ARRAYS) == FORMAT.pack({"y": 2, "x": 1}, ARRAYS)


def test_characters_beyond_16_bits_come_back() -> None:
    assert read(FORMAT.pack({"x": "\U0001f600"}, {}))[0] == {"x": "\U0001f600"}


def test_arrays_are_read_only() -> None:
    assert not any(array.flags.writeable for array in read(FORMAT.pack({}, ARRAYS))[1].values())


def test_fortran_order_and_empty_arrays_come_back() -> None:
    given = {"f": np.asfortranarray(np.arange(6).reshape(2, 3)), "e": np.zeros((0, 4), np.int8), "s": np.array(7)}
    found = read(FORMAT.pack({}, given))[1]
    assert all(np.array_equal(found[name], array) for name, array in given.items())


def test_numpy_reads_the_file() -> None:
    with np.load(io.BytesIO(FORMAT.pack({}, ARRAYS)), allow_pickle=False) as found:
        assert np.array_equal(found["a"], ARRAYS["a"])


@pytest.mark.parametrize(
    ("kind", "version", "message"),
    [
        ("test model", 4, "m.npz has format 4, this webwinnow reads up to 3; upgrade webwinnow"),
        ("test model", 2, "m.npz has the old format 2, this webwinnow reads 3; train it again"),
        ("test model", 0, "no format version"),
        ("test model", True, "no format version"),
        ("test model", "3", "no format version"),
        (
            "other model",
            3,
            "m.npz is not a webwinnow test model or is damaged .it is of kind .other model..; train it again",
        ),
    ],
)
def test_other_kinds_and_versions_are_refused(kind: str, version: object, message: str) -> None:
    header = json.dumps({"kind": kind, "version": version, "about": {}}).encode()
    with pytest.raises(ModelError, match=message):
        read(rewritten({"header.json": header}))


OF_TEXT = b'{"kind": "test model", "version": 3, "about": {"x": "%s"}}'


@pytest.mark.parametrize(
    "header",
    [
        *(b"", b"{", b"[]", b"null", b'{"kind": "test model", "version": 3}', b"\xff", b"[" * 100_000, None),
        *(OF_TEXT % text for text in (rb"\ud800", rb"\uDBFFx", b"\xed\xa0\x80")),
    ],
)
def test_damaged_headers_are_refused(header: bytes | None) -> None:
    with pytest.raises(ModelError, match="not a webwinnow test model or is damaged"):
        read(rewritten({"header.json": header}))


HOSTILE = {
    "no array": b"hello",
    "nothing": b"",
    "objects": npy(np.array([{"a": 1}], object)),
    "pickle": pickle.dumps(ARRAYS),
    "huge shape": raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,)}", b"\0" * 8),
    "negative shape": raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}", b"\0" * 8),
    "too short": raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", b"\0" * 8),
    "too long": raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", b"\0" * 16),
    "empty elements": raw_npy("{'descr': '<U0', 'fortran_order': False, 'shape': (1099511627776,)}"),
    "no characters": raw_npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", b"\xff" * 4),
    "no characters of another byte order": raw_npy(
        "{'descr': '>U1', 'fortran_order': False, 'shape': (1,)}", b"\0\x11\0\0"
    ),
    "half a character": raw_npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", b"\0\xd8\0\0"),
    "records": raw_npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", b"\0" * 8),
    "code in the header": raw_npy("{'descr': print(1), 'fortran_order': False, 'shape': (1,)}", b"\0" * 8),
    "unfinished header": raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (("),
    "unknown version": b"\x93NUMPY\x09\x00" + b"\0" * 100,
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_damaged_arrays_are_refused(content: bytes) -> None:
    with pytest.raises(ModelError, match="not a webwinnow test model or is damaged"):
        read(rewritten({"a.npy": content}))


def test_no_file_cut_short_is_read() -> None:
    whole = FORMAT.pack({"x": 1}, ARRAYS)
    for size in range(0, len(whole), 7):
        with pytest.raises(ModelError):
            read(whole[:size])


def test_changed_bytes_are_an_error_or_the_same_model() -> None:
    whole = FORMAT.pack({"x": 1}, ARRAYS)
    for at in range(len(whole)):
        try:
            about, arrays = read(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        except ModelError:
            continue
        assert about == {"x": 1}
        assert all(np.array_equal(arrays[name], ARRAYS[name]) for name in arrays)


def test_arrays_over_the_limit_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    data = FORMAT.pack({}, {"zeros": np.zeros(1_000_000)})
    monkeypatch.setattr(modelfile, "LARGEST_ARRAY", 1_000_000)
    monkeypatch.setattr(modelfile, "_array", pytest.fail)
    with pytest.raises(ModelError, match=r"zeros.npy has 8,000,128 bytes"):
        read(data)


def test_many_arrays_together_over_the_limit_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    data = FORMAT.pack({}, {f"zeros{k}": np.zeros(100_000) for k in range(10)})
    monkeypatch.setattr(modelfile, "LARGEST_MODEL", 1_000_000)
    with pytest.raises(ModelError, match="more than 1,000,000 bytes"):
        read(data)


def test_entries_of_one_name_are_refused() -> None:
    out = io.BytesIO(FORMAT.pack({}, ARRAYS))
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.npy", npy(np.arange(3)))
    with pytest.raises(ModelError, match="5 entries with 4 names"):
        read(out.getvalue())


def test_other_compressions_are_refused() -> None:
    data = archive_of(members(FORMAT.pack({}, ARRAYS)), zipfile.ZIP_LZMA)
    with pytest.raises(ModelError, match="compressed by method 14"):
        read(data)


@pytest.mark.parametrize("error", [ValueError("odd"), KeyError("odd"), TypeError("odd"), IndexError("odd")])
def test_checks_of_the_reader_are_model_errors(error: Exception) -> None:
    def check() -> None:
        with FORMAT.reading(FORMAT.pack({}, ARRAYS), "m.npz"):
            raise error

    with pytest.raises(
        ModelError, match=r"m\.npz is not a webwinnow test model or is damaged \('?odd'?\); train it again"
    ):
        check()


def test_typed_arrays_have_their_dtype_and_one_dimension() -> None:
    with FORMAT.reading(FORMAT.pack({}, {"p_a": np.arange(3)}), "m") as file:
        assert file.typed({"a": np.int64}, "p_")["a"].tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match="p_a is a 1-dimensional array of int64"):
            file.typed({"a": np.int32}, "p_")
        with pytest.raises(KeyError):
            file.typed({"b": np.int32})


def test_missing_and_unreadable_files_are_model_errors(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file; expected a webwinnow test model"):
        FORMAT.load(tmp_path / "none.npz")
    with pytest.raises(ModelError, match="cannot be read as a webwinnow test model"):
        FORMAT.load(tmp_path)


def test_files_over_the_limit_are_not_read_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.npz"
    path.write_bytes(FORMAT.pack({}, ARRAYS))
    monkeypatch.setattr(modelfile, "LARGEST_MODEL", 100)
    with pytest.raises(ModelError, match="more than 100 bytes"):
        FORMAT.load(path)


def test_read_arrays_reads_what_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(pack_arrays(ARRAYS | {"odd": np.zeros(9)}))
    assert read_arrays(path, ["b"]).keys() == {"b"}
    for names, largest in ((["c"], 1000), (["odd"], 100)):
        with pytest.raises(ValueError, match=r"c\.npy|more than 100 bytes"):
            read_arrays(path, names, largest=largest)
    with pytest.raises(ValueError, match=r"."):
        read_arrays(tmp_path / "none", ["a"])


def test_is_within() -> None:
    assert is_within(np.array([0, 4]), 5)
    assert is_within(np.array([], np.int64), 0)
    assert is_within(np.array([-1]), 5, lowest=-1)
    assert not is_within(np.array([5]), 5)
    assert not is_within(np.array([-1]), 5)


def test_a_model_that_unpacks_to_a_hundred_times_its_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # 21 MB with 20 arrays of zeros, each below the limit of one array, once made 19 GB.
    monkeypatch.setattr(modelfile, "RATIO_FLOOR", 1_000_000)
    arrays = {f"array{number}": np.zeros(100_000) for number in range(20)}
    data = FORMAT.pack({}, arrays)
    with pytest.raises(ModelError, match="100 times the bytes of the file"), FORMAT.reading(data, "a model"):
        pass


def test_arrays_of_a_file_have_a_limit_together(tmp_path: Path) -> None:
    path = tmp_path / "arrays.npz"
    path.write_bytes(modelfile.pack_arrays({name: np.arange(1_000) for name in "abcd"}))
    assert read_arrays(path, "abcd", largest=33_000).keys() == set("abcd")
    with pytest.raises(ValueError, match="more than 20,000 bytes"):
        read_arrays(path, "abcd", largest=20_000)


def packed_header(about: bytes) -> bytes:
    header = b'{"kind": "test model", "version": 3, "about": {"x": %b}}' % about
    return archive_of({"header.json": header}, zipfile.ZIP_DEFLATED)


def test_metadata_of_many_values_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    # 39 KB of empty lists once took 1 GB.
    monkeypatch.setattr(json, "loads", pytest.fail)
    with pytest.raises(ModelError, match="its metadata has 600,006 values"):
        read(packed_header(b"[" + b"[]," * 300_000 + b"[]]"))


def test_metadata_of_a_hundred_times_the_bytes_of_the_file_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelfile, "_checked_header", pytest.fail)
    with pytest.raises(ModelError, match="its metadata has more than 100 times the bytes of the file"):
        read(packed_header(b'"' + b"a" * 2_000_000 + b'"'))


def test_metadata_of_many_names_is_read() -> None:
    names = [f"word {number}" for number in range(200_000)]
    assert read(FORMAT.pack({"names": names}, {}))[0] == {"names": names}
