"""Bytes to `PageTree`: the one module that knows the HTML parser.

A page is decoded (BOM, transport header, meta, detection; unknown labels fall through to the next), parsed once by
turbohtml's WHATWG tree builder, written back as plain markup, and laid out in arrays from there by a compiled scan
(`_kernels.lay_out`). Writing back and scanning costs less than half of asking the parser's tree node by node, and no
parser object outlives the call.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import numpy as np
import turbohtml
from turbohtml.detect import detect, detect_language

from webwinnow import urls
from webwinnow._kernels import lay_out
from webwinnow.errors import PageRefused
from webwinnow.pagetree import Head, PageTree

__all__ = ["DEFAULT_LIMITS", "ParseLimits", "decode", "language_of", "parse"]

MAX_JSON_LD = 262_144
"""Characters of JSON-LD that a tree keeps; the largest of 1,237 modern pages holds 110,000."""
MAX_METAS = 500
_EMPTIED = ("style", "template", "noembed", "noframes", "iframe", "svg")
_UNESCAPED = ("xmp", "plaintext")
_LOOKED_AT = ("title", "meta", "link", "base", "script", *_EMPTIED, *_UNESCAPED)

META_PRESCAN = 16_384
"""Bytes searched for a meta charset. The standard says 1,024; pages with long scripts first are common."""
DETECTION_SAMPLE = 262_144
LANGUAGE_SAMPLE = 2_000
LANGUAGE_NEEDS = 200
SURE_OF_LANGUAGE = 0.5
"""Characters and confidence that the language detector needs: below, it calls German Danish and menus French."""
_TWO_LETTERS = dict(
    pair.split(":")
    for pair in (
        "afr:af amh:am ara:ar arb:ar aze:az bel:be ben:bn bul:bg cat:ca ces:cs cmn:zh cym:cy dan:da deu:de ell:el "
        "eng:en epo:eo est:et eus:eu fas:fa pes:fa fin:fi fra:fr gle:ga glg:gl guj:gu heb:he hin:hi hrv:hr hun:hu "
        "hye:hy ind:id isl:is ita:it jpn:ja kan:kn kat:ka kaz:kk khm:km kor:ko lao:lo lat:la lav:lv lit:lt mal:ml "
        "mar:mr mkd:mk msa:ms zsm:ms mya:my nep:ne nld:nl nob:nb nno:nn nor:no pan:pa pol:pl por:pt ron:ro rus:ru "
        "sin:si slk:sk slv:sl som:so spa:es sqi:sq srp:sr swe:sv swa:sw swh:sw tam:ta tel:te tgl:tl tha:th tur:tr "
        "ukr:uk urd:ur uzb:uz vie:vi yid:yi zho:zh zul:zu"
    ).split()
)

_META_CHARSET = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([^\s\"'/>]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"',;]+)", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LATIN = frozenset(("windows-1252", "iso-8859-1", "latin1", "latin-1", "l1", "us-ascii", "ascii", "cp1252"))
_READ_AS = {
    "gb2312": "gb18030",  # the standard's decoder for both is gb18030, which contains them
    "gb_2312-80": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "utf8": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
    "utf-16": "utf-8",  # declared inside a page that we can read byte-wise: it is not UTF-16 (HTML standard)
    "utf-16le": "utf-8",
    "utf-16be": "utf-8",
    "x-user-defined": "windows-1252",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """How much one page may ask for. Over bytes or nodes: refused; over depth or attributes: clipped, and the tree
    says so.
    """

    max_bytes: int = 20_000_000
    max_nodes: int = 1_000_000
    max_depth: int = 1_000
    max_attributes: int = 1_000


DEFAULT_LIMITS = ParseLimits()


def parse(
    body: bytes | str,
    *,
    url: str = "",
    content_type: str | None = None,
    limits: ParseLimits = DEFAULT_LIMITS,
) -> PageTree:
    """The tree of one page.

    `content_type` is the transport header, where a charset may stand. Raises `PageRefused` for a page over the
    limits.
    """
    if len(body) > limits.max_bytes:
        raise PageRefused(
            f"the page is {len(body):,} bytes long, the limit is {limits.max_bytes:,}; raise the limit to read it"
        )
    text, encoding = decode(body, content_type)
    markup, head = _parsed(text, url)
    columns = lay_out(markup, limits.max_nodes, limits.max_depth, limits.max_attributes)
    frameset = columns.pop("frameset")
    clipped = tuple(name for name in ("depth", "attributes") if columns.pop(f"clipped_{name}"))
    for column in columns.values():
        if isinstance(column, np.ndarray):
            column.setflags(write=False)
    bare = len(columns["tag"]) <= 2 and not columns["text"].strip()
    return PageTree(
        url=url,
        head=head,
        encoding=encoding,
        reason="frameset" if frameset and bare else "empty" if bare else None,
        clipped=clipped,
        **columns,
    )


def _parsed(text: str, url: str) -> tuple[str, Head]:
    """The page as the parser writes it back, ready for `lay_out`, and what its head says.

    What is written back is plain to read: each element closed, five escapes. Raw-text elements are emptied or
    renamed first, because their text is written unescaped.
    """
    document = turbohtml.parse(text, positions=False, allow_declarative_shadow_roots=False)
    reader = _HeadReader()
    for element in list(document.iter_elements(_LOOKED_AT)):
        tag = element.tag
        if tag == "script":
            if "ld+json" in (element.attr("type") or "").lower():
                reader.json_ld(element.text)
            element.clear()
        elif tag in _EMPTIED:
            if tag != "template" or element.attr("shadowrootmode") is None:
                element.clear()
        elif tag in _UNESCAPED:
            element.tag = "pre"
        else:
            reader.note(tag, element)
    root = document.root
    language = "" if root is None else root.attr("lang") or root.attr("xml:lang") or ""
    return document.serialize(), reader.head(url, language)


class _HeadReader:
    """Gathers what the head's elements say: first title, first base and first canonical link win, as in browsers."""

    def __init__(self) -> None:
        self.title = self.base = ""
        self.canonical: str | None = None
        self.metas: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self.script_room = MAX_JSON_LD

    def json_ld(self, script: str) -> None:
        if len(script) <= self.script_room:
            self.scripts.append(script)
            self.script_room -= len(script)

    def note(self, tag: str, element: turbohtml.Element) -> None:
        if tag == "meta":
            content = (element.attr("content") or "").strip()
            if content and len(self.metas) < MAX_METAS:
                for key in ("name", "property", "itemprop", "http-equiv"):
                    name = element.attr(key)
                    if name:
                        self.metas.append((name.strip().lower(), content))
        elif tag == "link":
            if self.canonical is None and "canonical" in (element.attr("rel") or "").lower().split():
                self.canonical = (element.attr("href") or "").strip() or None
        elif tag == "base":
            self.base = self.base or (element.attr("href") or "").strip()
        elif not self.title and element.namespace is turbohtml.Namespace.HTML:
            self.title = " ".join(element.text.split())

    def head(self, url: str, language: str) -> Head:
        if not language:
            language = next((value for key, value in self.metas if key in ("content-language", "language")), "")
        base = (urls.resolve(url, self.base) or url) if self.base else url
        return Head(
            title=self.title,
            language=language.strip(),
            base=base,
            canonical=None if self.canonical is None else urls.resolve(base, self.canonical),
            metas=tuple(self.metas),
            json_ld=tuple(self.scripts),
        )


def decode(body: bytes | str, content_type: str | None = None) -> tuple[str, str]:
    """The page's text and the encoding it was read in. Undecodable bytes and lone surrogates become U+FFFD."""
    if isinstance(body, str):
        return _without_surrogates(body).removeprefix("\ufeff"), "unicode"
    for bom, name in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(name, "replace"), name
    label = _header_label(content_type) or _meta_label(body)
    if label is None or label in _LATIN or label == "utf-8":
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            label = label or _detected(body)
        else:
            # Bytes that are valid UTF-8 with multi-byte characters are not Latin text, whatever the server says.
            return text, "utf-8"
    return body.decode(label, "replace"), label


def _without_surrogates(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _header_label(content_type: str | None) -> str | None:
    match = _HEADER_CHARSET.search(content_type or "")
    return _known(match[1]) if match else None


def _meta_label(body: bytes) -> str | None:
    head = _COMMENT.sub(b"", body[:META_PRESCAN])
    for match in _META_CHARSET.finditer(head):
        known = _known(match[1].decode("latin-1"))
        if known is not None:
            return known
    return None


def _known(label: str) -> str | None:
    """The decoder for a label; None for one that no decoder bears (`none`, `utf8;`)."""
    label = label.strip().lower()
    label = _READ_AS.get(label, label)
    if label in _LATIN:
        return "windows-1252"
    for name in (f"whatwg-{label}", label):
        try:
            info = codecs.lookup(name)
        except (LookupError, ValueError):
            continue
        if getattr(info, "_is_text_encoding", True):
            return label if label in ("utf-8", "gb18030", "windows-1252") else name
    return None


def _detected(body: bytes) -> str:
    sample = body if len(body) <= DETECTION_SAMPLE else body[:DETECTION_SAMPLE]
    found = detect(sample).encoding
    return (_known(found) if found else None) or "windows-1252"


def language_of(text: str) -> str | None:
    """The language that a text is written in (`en`; `ceb` where two letters do not suffice), None when unsure."""
    if len(text) < LANGUAGE_NEEDS:
        return None
    found = detect_language(text[:LANGUAGE_SAMPLE])
    if found.language is None or found.confidence < SURE_OF_LANGUAGE:
        return None
    return _TWO_LETTERS.get(found.language, found.language)
