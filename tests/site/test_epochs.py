"""A site over time: epochs are added and expire, and a redesign is detected; models in one table."""

from __future__ import annotations

import io
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from webwinnow.errors import ModelError, SettingsError
from webwinnow.methods.method_template import TemplateSettings
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.parsing import parse
from webwinnow.site import modelstore
from webwinnow.site.epochs import EPOCHS, familiarity, join_epoch
from webwinnow.site.learned import LearnedSite
from webwinnow.site.modelstore import ModelFolder
from webwinnow.site.pagelets import PageletSettings
from webwinnow.site.sums import SiteSums


def page(number: int, design: str = "old"):
    menu = "".join(f"<li class={design}-item><a href=/{k}>Section {k}</a>" for k in range(5))
    story = " ".join(f"word{number}x{k}" for k in range(30))
    html = f"<body class={design}><ul class={design}-menu>{menu}</ul><div class={design}-main><p>{story}</p></div>"
    return parse(html, url=f"http://a.example/{number}")


def sums_of(numbers, design="old"):
    sums = SiteSums("a.example")
    for number in numbers:
        sums.add(page(number, design))
    return sums


def crawl(numbers, design="old"):
    return lambda: (page(number, design) for number in numbers)


def test_a_new_epoch_joins_the_last_ones_exactly():
    epoch = join_epoch([sums_of(range(10)), sums_of(range(10, 15))], crawl(range(15, 20)))
    assert not epoch.redesigned
    assert epoch.familiar == 1.0
    assert epoch.model.to_bytes() == LearnedSite.of(sums_of(range(20))).to_bytes()
    assert epoch.sums.to_bytes() == sums_of(range(15, 20)).to_bytes()


def test_a_page_that_is_known_word_for_word_is_not_learned_again():
    epoch = join_epoch([sums_of(range(10))], crawl(range(5, 12)))
    assert epoch.sums.pages == 2
    assert epoch.model.pages == 12
    assert join_epoch([sums_of(range(10))], crawl(range(10))).model is None


def test_epochs_fall_out():
    earlier = [sums_of(range(at, at + 5)) for at in range(0, 25, 5)]
    epoch = join_epoch(earlier, crawl(range(25, 30)), epochs=2)
    assert epoch.model.to_bytes() == LearnedSite.of(sums_of(range(20, 30))).to_bytes()
    assert join_epoch(earlier, crawl(range(25, 30)), epochs=1).model.pages == 5


def test_a_redesigned_site_is_noticed_and_learned_anew_even_if_it_says_the_same():
    epoch = join_epoch([sums_of(range(10))], crawl(range(10), "new"))
    assert epoch.redesigned
    assert epoch.familiar < 0.1
    assert epoch.model.to_bytes() == LearnedSite.of(sums_of(range(10), "new")).to_bytes()


def test_familiarity_is_the_share_of_blocks_at_known_places():
    mixed = SiteSums.merge([sums_of(range(4)), sums_of(range(4, 8), "new")])
    assert familiarity(sums_of(range(20, 22)).blocks.sums(), mixed.blocks.sums()) == pytest.approx(0.5, abs=0.01)


def test_a_folder_keeps_the_newest_epochs(tmp_path):
    folder = ModelFolder(tmp_path / "models", make=True)
    model = LearnedSite.of(sums_of(range(3))).to_bytes()
    folder.save("a.example", model, b"1")
    for epoch in range(2, 7):
        folder.save_epoch("a.example", model, str(epoch).encode(), EPOCHS)
    assert [path.read_bytes() for path in folder.epochs(folder.model_path("a.example"))] == [b"4", b"5", b"6"]
    folder.save("a.example", model, b"7")
    assert [path.read_bytes() for path in folder.epochs(folder.model_path("a.example"))] == [b"7"]


def test_a_crawl_that_the_model_has_joined_changes_nothing():
    # An update that was killed after some of its sites is repeated: those that are done stay as they are.
    earlier = [sums_of(range(at, at + 10)) for at in (0, 10, 20)]
    again = (*range(5), *range(20, 30))  # the update was of these pages
    assert join_epoch(earlier, crawl(again)).model is None
    assert join_epoch([sums_of(range(50, 60)), *earlier], crawl((*again, 50))).sums.pages == 6


def tree_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("epochs", [1, 2, 3])
@pytest.mark.parametrize("step", range(5))
def test_an_update_killed_at_any_step_is_finished_by_the_same_update(tmp_path, monkeypatch, epochs, step):
    months = [range(at, at + 12) for at in range(0, 50, 10)]

    def update(path, numbers):
        folder = ModelFolder(path, make=True)
        known = [SiteSums.load(epoch) for epoch in folder.epochs(folder.model_path("a.example"))]
        found = join_epoch(known, crawl(numbers), epochs=epochs)
        if found.model is not None:
            folder.save_epoch("a.example", found.model.to_bytes(), found.sums.to_bytes(), epochs)

    before = ModelFolder(tmp_path / "before", make=True)
    first = sums_of(months[0])
    before.save("a.example", LearnedSite.of(first).to_bytes(), first.to_bytes())
    for month in months[1:-1]:
        update(before.path, month)
    for name in ("whole", "killed"):
        shutil.copytree(before.path, tmp_path / name)
    update(tmp_path / "whole", months[-1])
    steps = iter(range(9))

    def killing(work):
        def done(path, *given, **named):
            if "killed" in path.parts and not path.name.endswith(".unfinished") and next(steps) == step:
                raise KeyboardInterrupt
            return work(path, *given, **named)

        return done

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(modelstore, "write_file", killing(modelstore.write_file))
        for name in ("replace", "unlink", "mkdir"):
            patched.setattr(Path, name, killing(getattr(Path, name)))
        update(tmp_path / "killed", months[-1])
    update(tmp_path / "killed", months[-1])
    assert tree_of(tmp_path / "killed") == tree_of(tmp_path / "whole")


def test_a_folder_of_models_has_one_writer(tmp_path):
    folder = ModelFolder(tmp_path / "models", make=True)
    with folder.writing(), pytest.raises(SettingsError, match="another process writes models"), folder.writing():
        pass
    with folder.writing():
        pass


def test_a_table_of_models_finds_what_its_folder_finds(tmp_path):
    pytest.importorskip("pyarrow")
    from webwinnow.site.modelstore import ModelTable, open_models

    folder = ModelFolder(tmp_path / "models", make=True)
    for n in range(40):
        sums = SiteSums(f"s{n}.example")
        sums.add(page(n))
        folder.save(sums.site, LearnedSite.of(sums).to_bytes())
    table = tmp_path / "models.parquet"
    assert ModelTable.pack(folder, table) == 40
    found = open_models(table)
    for n in range(40):
        assert found.find(f"s{n}.example").to_bytes() == folder.find(f"s{n}.example").to_bytes()
    assert found.find("nobody.example") is None
    assert found.find("") is None
    assert [model.site for model in found.models()] == sorted(f"s{n}.example" for n in range(40))
    table.write_bytes(table.read_bytes()[:-100])
    with pytest.raises(ModelError, match="not a table"):
        open_models(table)


def test_one_strange_page_is_no_redesign():
    epoch = join_epoch([sums_of(range(10))], crawl(range(1), "blocked"))
    assert (epoch.model, epoch.sums, epoch.redesigned) == (None, None, False)
    assert epoch.familiar < 0.1


@pytest.mark.parametrize(
    "columns",
    [
        {"site": [None, "b"], "model": [b"", b""]},
        {"site": [1, 2], "model": [b"", b""]},
        {"site": ["a", "b"]},
        {"site": ["a", "b"], "model": [1, 2]},
    ],
)
def test_a_table_of_something_else_is_reported(tmp_path, columns):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    from webwinnow.site.modelstore import open_models

    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(ModelError, match="not a table of models"):
        open_models(tmp_path / "t.parquet")


@pytest.mark.parametrize("header", [b"{[]:1}", b"{'descr': (", b"PK"])
def test_arrays_that_are_none_are_a_model_error(header):
    entry = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header if header != b"PK" else zipped({})
    for read in (LearnedSite.from_bytes, SiteSums.from_bytes):
        with pytest.raises(ModelError):
            read(zipped({"page_keys.npy": entry}))


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_a_new_epoch_has_the_pagelets_of_the_last_one():
    settings = CleaningSettings(template=TemplateSettings(links=2))
    earlier, both = (SiteSums("a.example", settings=settings) for _ in range(2))
    for number in range(20):
        both.add(page(number))
        if number < 10:
            earlier.add(page(number))
    epoch = join_epoch([earlier], crawl(range(10, 20)))
    assert epoch.model.to_bytes() == LearnedSite.of(both).to_bytes()
    assert join_epoch([earlier], crawl(range(10), "new")).sums.learned["pagelets"].how == PageletSettings(links=2)
