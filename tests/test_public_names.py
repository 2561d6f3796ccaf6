"""The public names of webwinnow: each is documented, and the import is light."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import webwinnow

EXTRAS = """
pyarrow sklearn scipy matplotlib tantivy scrapy playwright fastapi uvicorn jinja2 ray pyspark rjieba rdflib
ahocorasick_rs
""".split()
COMMAND_LINE = "typer rich".split()


def test_the_public_names_are_exactly_those_that_the_package_brings_in() -> None:
    estimators = {"SiteFeatureWeighter", "SiteTextCleaner"}  # they need an extra
    assert webwinnow._MODULE_OF.keys() | {"__version__"} == set(webwinnow.__all__) | estimators


def test_the_package_itself_imports_nothing_but_its_version() -> None:
    asked = "import sys, webwinnow; print([name for name in sys.modules if name.startswith(('webwinnow.', 'numpy'))])"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["['webwinnow._version',", "'webwinnow.page']"]


@pytest.mark.parametrize(
    "name",
    "CleaningSettings PageSettings RunSettings SiteFeatureWeighter SiteKey SiteTextCleaner open_pages run".split(),
)
def test_what_a_program_needs_is_in_the_package_and_listed(name: str) -> None:
    assert getattr(webwinnow, name).__name__.removeprefix("webwinnow.") == name
    assert name in dir(webwinnow)


@pytest.mark.parametrize(
    "function", [webwinnow.extract, webwinnow.clean_page, webwinnow.SiteModel.clean, webwinnow.SiteCleaner.__init__]
)
def test_a_method_and_its_settings_have_the_same_names_everywhere(function: Callable[..., object]) -> None:
    assert {"method", "settings"} <= inspect.signature(function).parameters.keys()


def test_pages_are_parsed_like_they_are_extracted() -> None:
    assert webwinnow.parse(b"<p>a", "http://a.example/").url == "http://a.example/"
    assert webwinnow.parse("<p>a").url == ""


def test_every_public_name_can_be_imported() -> None:
    namespace: dict[str, object] = {}
    exec("from webwinnow import *", namespace)
    assert set(webwinnow.__all__) <= set(namespace)


def test_the_public_names_are_sorted_and_distinct() -> None:
    assert list(webwinnow.__all__) == sorted(set(webwinnow.__all__))


@pytest.mark.parametrize("name", [name for name in webwinnow.__all__ if name not in ("__version__", "Outcome")])
def test_every_public_name_is_documented(name: str) -> None:
    thing = getattr(webwinnow, name)
    words = vars(thing)["__doc__"] if inspect.isclass(thing) else thing.__doc__
    assert words
    assert not words.startswith(f"{name}(")  # what a dataclass writes for itself


@pytest.mark.parametrize("name", [name for name in webwinnow.__all__ if inspect.isclass(getattr(webwinnow, name))])
def test_public_methods_and_properties_are_documented(name: str) -> None:
    for member, thing in vars(getattr(webwinnow, name)).items():
        if not member.startswith("_") and (inspect.isfunction(thing) or isinstance(thing, property)):
            assert thing.__doc__, f"{name}.{member}"


def loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_the_package_loads_no_extra_and_no_command_line() -> None:
    assert loaded_by("import webwinnow").isdisjoint([*EXTRAS, *COMMAND_LINE])


def test_extracting_a_page_loads_no_extra() -> None:
    assert loaded_by("import webwinnow; webwinnow.extract('<p>a')").isdisjoint([*EXTRAS, *COMMAND_LINE])


def test_the_command_line_loads_no_extra() -> None:
    every_command = "from webwinnow.cli import app; import typer; [*typer.main.get_command(app).commands.values()]"
    assert loaded_by(every_command).isdisjoint(EXTRAS)


def test_a_command_loads_no_other_command() -> None:
    program = "import sys; sys.argv[1:] = ['page', '--help']\nfrom webwinnow.cli import main\n"
    program += "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr.split()
    assert "webwinnow.cli.command_page" in loaded
    assert {f"webwinnow.cli.{name}" for name in ("clean", "learn", "mine", "experiment")}.isdisjoint(loaded)
    assert {f"webwinnow.{name}" for name in ("experiments", "sitemining", "service", "search")}.isdisjoint(loaded)


def test_cleaning_one_page_loads_no_crawler_no_workers_no_database_and_no_second_parser(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>One</title><p>A page of one paragraph.", encoding="utf-8")
    program = f"import sys; sys.argv[1:] = ['page', {str(page)!r}]\nfrom webwinnow.cli import main\n"
    program += "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "A page of one paragraph." in done.stdout
    loaded = set(done.stderr.split())
    assert "webwinnow.record.cleaner" in loaded
    assert loaded.isdisjoint(("sqlite3", "turbohtml", "fastwarc", "rich.progress"))
    assert loaded.isdisjoint(f"webwinnow.{name}" for name in ("collection.workerpool", "crawl.crawling", "io.inputs"))


def test_the_package_of_runs_is_called_as_the_function_of_its_name() -> None:
    program = "import webwinnow; webwinnow.open_pages; webwinnow.run()"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert "run() missing" in done.stderr


def test_a_name_that_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        webwinnow.nothing_of_this_name  # noqa: B018
