"""Thesauri: SKOS in its syntaxes, plain lists, broken and hostile files."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("rdflib")
pytest.importorskip("ahocorasick_rs")

from webwinnow.errors import InputError, SettingsError
from webwinnow.papers.sites.denoising import CHOICES, Denoiser
from webwinnow.topics.denoising import DenoisingSettings
from webwinnow.topics.thesaurus import LARGEST_THESAURUS, SpelledText, Thesaurus

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://t.example/1> a skos:Concept ; skos:prefLabel "Magnetic field"@en, "Magnetfeld"@de ; skos:altLabel "B-field"@en .
<http://t.example/2> a skos:Concept ; skos:prefLabel "quark" ; skos:hiddenLabel "qark"@en ; skos:note "no term" .
"""
START = '<?xml version="1.0"?>\n'
RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:skos="http://www.w3.org/2004/02/skos/core#">'
    '<skos:Concept rdf:about="http://t.example/1"><skos:prefLabel>%s</skos:prefLabel></skos:Concept></rdf:RDF>'
)
LAUGHS = (
    START
    + '<!DOCTYPE r [<!ENTITY a0 "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 10))
    + "]>"
    + RDF % "&a9;"
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_of_all_kinds_and_languages_are_terms(tmp_path):
    found = Thesaurus.read(written(tmp_path, "physics.ttl", TURTLE))
    assert found.terms == ("b field", "magnetfeld", "magnetic field", "qark", "quark")


def test_languages_can_be_chosen_and_labels_without_one_stay(tmp_path):
    assert Thesaurus.read(written(tmp_path, "physics.ttl", TURTLE), ["de"]).terms == ("magnetfeld", "quark")


def test_rdf_xml_and_n_triples_are_read_too(tmp_path):
    assert Thesaurus.read(written(tmp_path, "a.rdf", START + RDF % "Dark matter")).terms == ("dark matter",)
    line = '<http://t.example/1> <http://www.w3.org/2004/02/skos/core#prefLabel> "Dark \\u006Datter" .\n'
    assert Thesaurus.read(written(tmp_path, "a.nt", line)).terms == ("dark matter",)


def test_entities_for_the_urls_of_vocabularies_are_as_good_as_ever(tmp_path):
    text = START + '<!DOCTYPE rdf:RDF [<!ENTITY t "http://t.example/">]>' + RDF.replace("http://t.example/", "&t;")
    assert Thesaurus.read(written(tmp_path, "a.xml", text % "quark")).terms == ("quark",)


def test_a_plain_list_has_a_term_a_line(tmp_path):
    found = Thesaurus.read(written(tmp_path, "terms.txt", "\ufeffQuark\n\nDark  Matter\nquark\n!?\n"))
    assert found.terms == ("dark matter", "quark")
    assert len(found) == 2


def test_a_list_has_the_terms_of_each_topic(tmp_path):
    found = Thesaurus.read(written(tmp_path, "terms.txt", "[ physics ]\nQuark\nDark  Matter\n\n[life]\ngene\nquark\n"))
    assert found.by_topic == {"life": ("gene", "quark"), "physics": ("dark matter", "quark")}
    assert found.terms == ("dark matter", "gene", "quark")
    # of a text only the terms of one topic count: here two words of physics, not three
    assert found.covered(SpelledText.of(["gene of dark matter", "gene quark"])).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n!?\n", "no terms; expected one term per line"),
        ("quark\n[life]\ngene", "'quark' is before the first topic; expected a line"),
        ("[physics]\nquark\n[life]\n", r"no terms of \[life\]"),
        ("[physics]\nquark\n[life]\ngene\n[ physics ]\nmuon", "expected each topic once"),
        ("[ ]\nquark", "is no new topic"),
    ],
)
def test_lists_that_say_nothing_of_a_topic_are_refused(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        Thesaurus.read(written(tmp_path, "terms.txt", text))


def test_the_topics_of_lists_are_those_of_the_sites_or_levels_above():
    found = Thesaurus({"science": ["quark"], "arts/music": ["sonata"]})
    found.check_topics(["arts/music", "science/physics", "science/life"])
    with pytest.raises(InputError, match="terms of 'science', which no site has; no terms of 'arts'"):
        found.check_topics(["arts", "arts/music", "sciences"])
    Thesaurus(["quark"]).check_topics(["anything"])


def test_labels_that_are_stop_words_are_left_out(tmp_path):
    text = TURTLE + '<http://t.example/3> skos:prefLabel "the"@en .'
    assert "the" not in Thesaurus.read(written(tmp_path, "a.ttl", text)).terms


BOMBS = {
    "laughs": (LAUGHS, "made of others"),
    "long entity": (
        START + f'<!DOCTYPE r [<!ENTITY a "{"a" * 9999}">]>' + RDF % ("&a;" * 999),
        "made of others",
    ),
    "file": (START + '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + RDF % "&a;", "outside"),
    "parameter": (
        START + '<!DOCTYPE r [<!ENTITY % a SYSTEM "http://127.0.0.1:9/">%a;]>' + RDF.replace("%s", "q"),
        "outside",
    ),
    "not xml": ("magnetic field", "cannot be read as RDF/XML"),
    "nothing": ("", "cannot be read as RDF/XML"),
    "html": ("<!doctype html><p>x", "cannot be read as RDF/XML"),
    "no rdf": ("<a/>", "no terms"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_xml_that_is_hostile_or_wrong_is_refused_at_once(name, tmp_path):
    text, message = BOMBS[name]
    began = time.process_time()
    with pytest.raises(InputError, match=message):
        Thesaurus.read(written(tmp_path, "a.rdf", text))
    assert time.process_time() - began < 2


TURTLES = {
    "prefixes": "".join(f"@prefix p{k}: <http://t/{k}#> .\n" for k in range(2000)),
    "deep": "<http://a/> <http://b/> " + "[" * 99999,
    "lists": "<http://a/> <http://b/> " + "(" * 99999,
    "cut": TURTLE[:200],
    "number": f"<http://a/> <http://b/> {'9' * 9999} .",
    "bytes": "\x00\x01",
    "no labels": "<http://a/> <http://b/> <http://c/> .",
    "nothing": "",
}


@pytest.mark.parametrize("name", TURTLES)
def test_turtle_that_is_hostile_or_wrong_is_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"a\.ttl"):
        Thesaurus.read(written(tmp_path, "a.ttl", TURTLES[name]))


def test_json_ld_is_not_read_because_it_would_fetch(tmp_path):
    with pytest.raises(InputError, match="Turtle or RDF/XML"):
        Thesaurus.read(written(tmp_path, "a.jsonld", '{"@context": "http://127.0.0.1:9/"}'))


def test_a_list_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "terms.txt"
    path.write_bytes(b"\xff\xfe\x00caf\xe9")
    with pytest.raises(InputError, match="UTF-8"):
        Thesaurus.read(path)
    with pytest.raises(InputError, match="no terms"):
        Thesaurus.read(written(tmp_path, "terms.txt", "\n \n--\n"))


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "terms.txt"
    with path.open("wb") as file:
        file.truncate(LARGEST_THESAURUS + 1)
    with pytest.raises(InputError, match="bytes"):
        Thesaurus.read(path)


def test_nothing_that_rdflib_says_of_a_damaged_file_reaches_stderr(tmp_path):
    path = written(
        tmp_path,
        "a.ttl",
        TURTLE + '<http://t/a b{> skos:prefLabel "x y", "9-9T"^^<http://www.w3.org/2001/XMLSchema#dateTime> .',
    )
    script = "import sys; from pathlib import Path; from webwinnow.topics.thesaurus import Thesaurus; "
    script += "Thesaurus.read(Path(sys.argv[1]))"
    found = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert found.stderr == found.stdout == ""


def test_a_missing_extra_is_named():
    script = (
        "import sys; sys.modules['{0}'] = None\n"
        "from webwinnow.errors import MissingExtra\n"
        "from webwinnow.topics import thesaurus\n"
        "try:\n    {1}\nexcept MissingExtra as error:\n    print(error)\n"
    )
    for module, call in (
        ("rdflib", "list(thesaurus.read_labels(b'', 'a', xml=False))"),
        ("ahocorasick_rs", "thesaurus.Thesaurus(['a'])"),
    ):
        found = subprocess.run(
            [sys.executable, "-c", script.format(module, call)], capture_output=True, text=True, check=True
        )
        assert "webwinnow[thesaurus]" in found.stdout


def test_terms_in_scripts_without_blanks_match_whole(tmp_path):
    texts = SpelledText.of(["暗物质研究", "物质"])
    assert Thesaurus(["暗物质"]).covered(texts).tolist() == [2, 0]  # two bigrams
    assert texts.words(0, 2)[:2] == ["暗物", "物质"]


def test_settings_without_meaning_are_refused():
    with pytest.raises(SettingsError, match="majority"):
        DenoisingSettings(majority=2)
    for choice in CHOICES:
        if "thesaurus" in choice or choice == "centroid":
            with pytest.raises(SettingsError, match="needs"):
                Denoiser(choice)
    with pytest.raises(InputError, match="without terms"):
        Thesaurus(["!"])
